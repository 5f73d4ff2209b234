"""How long tasks are kept: what ended long ago goes, with what it needed and its runs (DESIGN, Store)."""

from __future__ import annotations

from covey.store import Row, Transaction, relaxed, statement
from covey.store.upkeep import Pruned, pruned
from covey.tasks import working

OLDEST = statement(__package__, "oldest")
FORGET_NEEDS = statement(__package__, "forget_needs")
FORGET = statement(__package__, "forget")
OLD_RUNS = statement(__package__, "forget_runs")
LEASES = statement(__package__, "leases")
CLOSE_RUNS = statement(__package__, "close_runs")


@relaxed
def prune(tx: Transaction, *, older_s: float, after: int = 0, limit: int = 500) -> Pruned:
    """Delete tasks that ended longer ago than this and that no open task refers to; one step over the oldest tasks."""
    before = tx.now - older_s

    def forget(row: Row) -> None:
        tx.run(FORGET_NEEDS, id=row.id)
        tx.run(FORGET, seq=row.seq)

    return pruned(tx.all(OLDEST, after=after, before=before, limit=limit), before, limit, forget)


@relaxed
def prune_runs(tx: Transaction, *, older_s: float, after: int = 0, limit: int = 500) -> Pruned:
    """Delete runs that ended longer ago than this, whatever they worked on."""
    deleted = tx.run(OLD_RUNS, before=tx.now - older_s, limit=limit)
    return Pruned(deleted, after if deleted == limit else None)


def end_leases(tx: Transaction) -> int:
    """How many tasks wait again, in a restored store in which they were running; their attempt does not count, their runs are lost."""
    rows = tx.all(LEASES)
    for row in rows:
        working.give_back(tx, row.token, "the store was restored from a backup")
    tx.run(CLOSE_RUNS, now=tx.now)
    return len(rows)
