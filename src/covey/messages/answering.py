"""Answer a message by hand: the reply is sent, and what it answers is closed, in one commit."""

from __future__ import annotations

from covey.agents.model import Caller
from covey.messages import handling, seeing, sending
from covey.messages.model import Draft, Receipt
from covey.store import Transaction, locking

OPEN = frozenset({"delivered", "held"})


@locking(sending.locks_of)
def answer(tx: Transaction, draft: Draft, by: Caller, *, wait_s: float = sending.WAIT_S) -> Receipt:
    """The receipt of a reply; the caller's own copy of what it answers is closed if it waited. A reply that nobody got closes nothing.

    Raises:
        CoveyError: As `sending.send`.
        Forbidden: The caller neither sent nor got what it answers.
    """
    asked = seeing.show(tx, draft.in_reply_to or "", by)
    receipt = sending.send(tx, draft, by, wait_s=wait_s)
    mine = (copy for copy in asked if copy.receiver == by.name and copy.state in OPEN)
    if any(each.stored for each in receipt.outcomes.values()) and next(mine, None) is not None:
        handling.acknowledge(tx, by.name, asked[0].message_id)
    return receipt
