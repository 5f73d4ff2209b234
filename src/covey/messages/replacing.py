"""A newer digest or reminder stands for the unread older one (P3a)."""

from __future__ import annotations

from covey.store import Transaction, statement

REPLACE_OLDER = statement(__package__, "replace_older")


def replace_older(tx: Transaction, newer: str, *, sender: str, receiver: str, thread_id: str) -> list[str]:
    """The unread messages of the sender to the receiver in this thread that the newer one replaces: they are closed as expired.

    What was read, is being read, or wants an answer stays as it is. The thread must be one that is for such mail alone.
    """
    rows = tx.all(
        REPLACE_OLDER, newer=newer, sender=sender, receiver=receiver, thread_id=thread_id, now=tx.now, reason=f"replaced by {newer}"
    )
    for row in rows:
        tx.happened("message.replaced", agent=receiver, subject=row.message_id, by=newer)
    return [row.message_id for row in rows]
