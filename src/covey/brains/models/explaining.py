"""What went wrong with a model, as a failed outcome that says what to do. Whether its agent can't work at all decides its breaker (H6).

`not_started`: whatever the agent is given, its model can't be had. `permanent`: this work would fail again the same way.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pydantic_ai import exceptions as of

from covey.brains.answers import from_error
from covey.brains.model import Outcome, failure

SAID_CHARS = 1000
_TOOLS = re.compile(r"\btools?\b|function.?call|tool_choice|jinja", re.IGNORECASE)


def refuses_tools(error: Exception) -> bool:
    """Whether an endpoint says that it, or its model, takes no tools. Pure."""
    if not isinstance(error, of.ModelRequestRejectedError | of.ModelServerError):
        return False
    if isinstance(error, of.ModelAuthenticationError | of.ModelContextWindowExceededError):
        return False
    return _TOOLS.search(f"{error.message} {error.body}") is not None


class Fault(NamedTuple):
    """What a kind of error comes to, in words with `{model}`, `{said}` and `{wait}`."""

    kinds: tuple[type[Exception], ...]
    words: str
    permanent: bool = False
    not_started: bool = False


FAULTS = (
    Fault(
        (of.UsageLimitExceeded,),
        "the turn used {said} that it may use, and was ended; raise that option of its brain, or give it less.",
        permanent=True,
    ),
    Fault(
        (of.ModelAuthenticationError,),
        "{model} refuses the key, or the key lacks a right: {said} Correct the key where `covey up` is started.",
        permanent=True,
        not_started=True,
    ),
    Fault(
        (of.ModelNotFoundError,),
        "there is no {model} at its address: {said} Correct `target` or `base_url`.",
        permanent=True,
        not_started=True,
    ),
    Fault(
        (of.ModelQuotaExceededError,),
        "the account of {model} has nothing left: {said} Top it up, or give the agent another model.",
        not_started=True,
    ),
    Fault((of.ModelRateLimitError, of.ModelUnavailableError), "{model} takes no more requests for now{wait}: {said}", not_started=True),
    Fault((of.ModelConnectionError,), "{model} can't be reached: {said} Is its address right, and is it running?", not_started=True),
    Fault(
        (of.ModelContextWindowExceededError,),
        "the turn is longer than the context of {model}: {said} Lower the agent's max_context, or give it another model.",
        permanent=True,
    ),
    Fault((of.ModelRequestRejectedError, of.ContentFilterError), "{model} refuses the request: {said}", permanent=True),
    Fault((of.UserError,), "{model} can't be used as it is configured: {said}", permanent=True, not_started=True),
    Fault((of.ModelAPIError, of.UnexpectedModelBehavior), "{model} did not answer as a model should: {said}"),
)
"""The first that fits counts: an error of the library may be of several kinds, the general ones last."""


def explained(error: Exception, target: str) -> Outcome:
    """The failed outcome of a turn. Pure."""
    found = next((each for each in FAULTS if isinstance(error, each.kinds)), None)
    if found is None:
        return from_error(error)
    words = found.words.format(model=target, said=_said(error), wait=_asked_to_wait(error))
    return failure(words, permanent=found.permanent, not_started=found.not_started)


def _asked_to_wait(error: Exception) -> str:
    wait_s = error.retry_after if isinstance(error, of.ModelAPIError) else None
    return f", and asks to wait {wait_s:.0f} s" if wait_s is not None else ""


def _said(error: Exception) -> str:
    """The error's own words, on one line and bounded; they may come from the endpoint."""
    text = error.message if isinstance(error, of.AgentRunError | of.UserError) else str(error)
    cause = error.__cause__
    if isinstance(error, of.ModelConnectionError) and cause is not None and str(cause.__cause__ or cause) not in text:
        text = f"{text} ({cause.__cause__ or cause})"
    return " ".join(text.split())[:SAID_CHARS]
