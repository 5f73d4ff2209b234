"""How long team runs are kept: what ended long ago goes, with its steps."""

from __future__ import annotations

from covey.store import Row, Transaction, relaxed, statement
from covey.store.upkeep import Pruned, pruned

OLDEST = statement(__package__, "oldest")
FORGET_STEPS = statement(__package__, "forget_steps")
FORGET = statement(__package__, "forget")


@relaxed
def prune(tx: Transaction, *, older_s: float, after: int = 0, limit: int = 500) -> Pruned:
    """Delete runs that ended longer ago than this; one step over the oldest runs."""
    before = tx.now - older_s

    def forget(row: Row) -> None:
        tx.run(FORGET_STEPS, run_id=row.id)
        tx.run(FORGET, seq=row.seq)

    return pruned(tx.all(OLDEST, after=after, before=before, limit=limit), before, limit, forget)
