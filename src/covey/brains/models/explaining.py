"""What went wrong with a model, as a failed outcome that says what to do. Whether its agent can't work at all decides its breaker (H6).

`not_started`: whatever the agent is given, its model can't be had. `permanent`: this work would fail again the same way.
"""

from __future__ import annotations

import re

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


def explained(error: Exception, target: str) -> Outcome:
    """The failed outcome of a turn. Pure."""
    said = _said(error)
    match error:
        case of.UsageLimitExceeded():
            return failure(
                f"the turn used {said} that it may use, and was ended; raise that option of its brain, or give it less.", permanent=True
            )
        case of.ModelAuthenticationError():
            return failure(
                f"{target} refuses the key, or the key lacks a right: {said} Correct the key where `covey up` is started.",
                permanent=True,
                not_started=True,
            )
        case of.ModelNotFoundError():
            return failure(f"there is no {target} at its address: {said} Correct `target` or `base_url`.", permanent=True, not_started=True)
        case of.ModelQuotaExceededError():
            return failure(
                f"the account of {target} has nothing left: {said} Top it up, or give the agent another model.", not_started=True
            )
        case of.ModelRateLimitError() | of.ModelUnavailableError():
            return failure(f"{target} takes no more requests for now{_asked_to_wait(error)}: {said}", not_started=True)
        case of.ModelConnectionError():
            return failure(f"{target} can't be reached: {said} Is its address right, and is it running?", not_started=True)
        case of.ModelContextWindowExceededError():
            return failure(
                f"the turn is longer than the context of {target}: {said} Lower the agent's max_context, or give it another model.",
                permanent=True,
            )
        case of.ModelRequestRejectedError() | of.ContentFilterError():
            return failure(f"{target} refuses the request: {said}", permanent=True)
        case of.ModelAPIError() | of.UnexpectedModelBehavior():
            return failure(f"{target} did not answer as a model should: {said}")
    return from_error(error)


def _asked_to_wait(error: of.ModelAPIError) -> str:
    return f", and asks to wait {error.retry_after:.0f} s" if error.retry_after is not None else ""


def _said(error: Exception) -> str:
    """The error's own words, on one line and bounded; they may come from the endpoint."""
    text = error.message if isinstance(error, of.AgentRunError) else str(error)
    cause = error.__cause__
    if isinstance(error, of.ModelConnectionError) and cause is not None and str(cause.__cause__ or cause) not in text:
        text = f"{text} ({cause.__cause__ or cause})"
    return " ".join(text.split())[:SAID_CHARS]
