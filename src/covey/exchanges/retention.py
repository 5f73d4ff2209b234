"""How long exchanges are kept: as long as their tasks (DESIGN, Store)."""

from __future__ import annotations

from covey.store import Row, Transaction, relaxed, statement
from covey.store.upkeep import Pruned, pruned

OLDEST = statement(__package__, "oldest")
PARTS = tuple(statement(__package__, name) for name in ("forget_messages", "forget_pushes", "forget"))


@relaxed
def prune(tx: Transaction, *, older_s: float, after: int = 0, limit: int = 500) -> Pruned:
    """Delete exchanges whose tasks have been deleted; one step over the oldest."""
    before = tx.now - older_s

    def forget(row: Row) -> None:
        for part in PARTS:
            tx.run(part, task_id=row.task_id)

    return pruned(tx.all(OLDEST, after=after, limit=limit), before, limit, forget)
