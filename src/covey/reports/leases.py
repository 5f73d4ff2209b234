"""What is held now and until when: tasks and mail. The tokens of the leases are not told."""

from __future__ import annotations

from typing import Literal, NamedTuple

from covey.store import Transaction, statement

LEASED_TASKS = statement(__package__, "leased_tasks")
LEASED_MAIL = statement(__package__, "leased_mail")

MOST = 10_000


class Lease(NamedTuple):
    """One task or message that somebody holds."""

    item: str
    kind: Literal["task", "message"]
    holder: str
    run: str | None
    attempt: int
    since: float | None
    ends: float | None


def leases(tx: Transaction, limit: int = MOST) -> list[Lease]:
    """All leases, those on tasks first, each by its end; of either kind so many at most."""
    tasks = [
        Lease(row.id, "task", row.holder, row.run_id, row.attempts, row.claimed_at, row.lease_ends)
        for row in tx.all(LEASED_TASKS, limit=limit)
    ]
    mail = [
        Lease(row.message_id, "message", row.receiver, row.run_id, row.attempts, row.seen_at, row.lease_ends)
        for row in tx.all(LEASED_MAIL, limit=limit)
    ]
    return tasks + mail
