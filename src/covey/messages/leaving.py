"""Mail of an agent that leaves the fleet: what waits for it is handed over to another, with its place in line and its answer due."""

from __future__ import annotations

from covey.agents import roster
from covey.base.errors import Conflict
from covey.base.rings import mail_of
from covey.messages import handling, sending
from covey.store import Transaction, statement

WAITING_OF = statement(__package__, "waiting_of")
HAND_OVER = statement(__package__, "hand_over")
TOKENS_OF = statement(__package__, "tokens_of")


def hand_over(tx: Transaction, leaver: str, heir: str) -> int:
    """How many messages that waited for one agent wait for another now. What the heir has already, or sent itself, is closed.

    Raises:
        Unknown, Gone: There is no such heir.
        Conflict: The leaver's brain is at mail right now; nothing was moved.
    """
    roster.find(tx, heir, field="tasks_to")
    if tx.all(TOKENS_OF, receiver=leaver):
        raise _at_work(leaver)
    moved = 0
    for row in tx.all(WAITING_OF, leaver=leaver, heir=heir):
        if row.known or row.sender == heir:
            _close(tx, leaver, heir, row.message_id, returned=row.sender == heir)
        elif tx.run(HAND_OVER, message_id=row.message_id, leaver=leaver, heir=heir):
            tx.happened("message.handed_over", agent=heir, subject=row.message_id, before=leaver)
            moved += 1
        else:
            raise _at_work(leaver)
    if moved:
        tx.ring(mail_of(heir))
    return moved


def _close(tx: Transaction, leaver: str, heir: str, ident: str, *, returned: bool) -> None:
    handling.acknowledge(tx, leaver, ident)
    if returned:
        text = f"{leaver} has left the fleet and did not read your message {ident}; its work is yours now."
        sending.notify(tx, heir, f"{leaver} has left the fleet", text, in_reply_to=ident)


def _at_work(leaver: str) -> Conflict:
    return Conflict(f"{leaver}'s brain is at mail right now; stop it first: `covey stop {leaver}`, then try again.")
