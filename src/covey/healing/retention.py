"""How long incidents are kept: those that ended long ago go, with their steps. An open one stays, however old (H2)."""

from __future__ import annotations

from covey.store import Transaction, relaxed, statement
from covey.store.upkeep import Pruned

OLDEST = statement(__package__, "oldest")
FORGET_STEPS = statement(__package__, "forget_steps")
FORGET = statement(__package__, "forget")


@relaxed
def prune(tx: Transaction, *, older_s: float, after: int = 0, limit: int = 500) -> Pruned:
    """Delete incidents that ended longer ago than this; one step over the oldest."""
    rows = tx.all(OLDEST, before=tx.now - older_s, limit=limit)
    for row in rows:
        tx.run(FORGET_STEPS, id=row.id)
        tx.run(FORGET, id=row.id)
    return Pruned(len(rows), after if len(rows) == limit else None)
