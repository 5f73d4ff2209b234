"""How long exchanges are kept: as long as their tasks (DESIGN, Store)."""

from __future__ import annotations

from covey.store import Transaction, relaxed, statement
from covey.store.upkeep import Pruned

OLDEST = statement(__package__, "oldest")
PARTS = tuple(statement(__package__, name) for name in ("forget_messages", "forget_pushes", "forget"))


@relaxed
def prune(tx: Transaction, *, older_s: float, after: int = 0, limit: int = 500) -> Pruned:
    """Delete exchanges whose tasks have been deleted; one step over the oldest."""
    rows = tx.all(OLDEST, after=after, limit=limit)
    old = [row for row in rows if row.created_at < tx.now - older_s]
    gone = [row for row in old if not row.kept]
    for row in gone:
        for part in PARTS:
            tx.run(part, task_id=row.task_id)
    return Pruned(len(gone), old[-1].seq if len(old) == limit else None)
