"""`send_agent_message`: one message to one peer, as a brain's tool sends it. It is every door's `send`; a refusal is an answer."""

from __future__ import annotations

import msgspec

from covey.agents.model import Caller
from covey.base.errors import CoveyError
from covey.messages import sending
from covey.messages.letters import Prompt
from covey.messages.model import Draft, SendOutcome
from covey.store import Transaction


class Sent(msgspec.Struct, rename="camel", kw_only=True):
    """What became of it: a status of L13, a sentence to act on, what is left, and whether and when to try again."""

    status: str
    sentence: str
    remaining_credits: int | None
    retry_at: float | None
    retryable: bool
    message_id: str | None
    """None: nothing was stored."""
    thread_id: str | None


def send_agent_message(tx: Transaction, draft: Draft, by: Caller, prompt: Prompt | None = None) -> Sent:
    """What became of a message to one agent. It raises nothing that a brain could mend: that is a status too.

    Raises:
        Failed, StoreBusy: The store could not do it.
    """
    try:
        with tx.attempt():
            receipt = sending.send(tx, draft, by, prompt)
    except CoveyError as error:
        if error.face.http >= 500:
            raise
        return _sent(SendOutcome(_status(error), error.message, retry_at=error.retry_at), None, None)
    outcome = next(iter(receipt.outcomes.values())) if len(receipt.outcomes) == 1 else SendOutcome(receipt.status, receipt.sentence)
    stored = any(each.stored for each in receipt.outcomes.values())
    return _sent(outcome, receipt.message_id if stored else None, receipt.thread_id)


def _status(error: CoveyError) -> str:
    """The outcome of L13 that an error is."""
    return error.code if error.code in ("unknown", "gone", "cycle", "too-large") else "invalid"


def _sent(outcome: SendOutcome, message_id: str | None, thread_id: str | None) -> Sent:
    return Sent(
        status=outcome.status,
        sentence=outcome.sentence,
        remaining_credits=outcome.remaining_credits,
        retry_at=outcome.retry_at,
        retryable=bool(outcome.retryable),
        message_id=message_id,
        thread_id=thread_id,
    )
