"""How long team runs are kept: what ended long ago goes, with its steps."""

from __future__ import annotations

from covey.store import Transaction, relaxed, statement
from covey.store.upkeep import Pruned

OLDEST = statement(__package__, "oldest")
FORGET_STEPS = statement(__package__, "forget_steps")
FORGET = statement(__package__, "forget")


@relaxed
def prune(tx: Transaction, *, older_s: float, after: int = 0, limit: int = 500) -> Pruned:
    """Delete runs that ended longer ago than this; one step over the oldest runs."""
    before = tx.now - older_s
    rows = tx.all(OLDEST, after=after, limit=limit)
    gone = [row for row in rows if row.ended_at is not None and row.ended_at < before]
    for row in gone:
        tx.run(FORGET_STEPS, run_id=row.id)
        tx.run(FORGET, seq=row.seq)
    full = len(rows) == limit and rows[-1].created_at < before
    return Pruned(len(gone), rows[-1].seq if full else None)
