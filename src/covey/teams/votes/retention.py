"""How long votes are kept: what was closed long ago goes, with its voters, ballots and arguments (DESIGN, Store)."""

from __future__ import annotations

from covey.store import Row, Transaction, relaxed, statement
from covey.store.upkeep import Pruned, pruned

OLDEST = statement(__package__, "oldest")
FORGET = statement(__package__, "forget")
PARTS = tuple(statement(__package__, f"forget_{name}") for name in ("voters", "ballots", "vote_arguments"))


@relaxed
def prune(tx: Transaction, *, older_s: float, after: int = 0, limit: int = 500) -> Pruned:
    """Delete votes that were closed longer ago than this; one step over the oldest."""
    before = tx.now - older_s

    def forget(row: Row) -> None:
        for part in PARTS:
            tx.run(part, id=row.id)
        tx.run(FORGET, seq=row.seq)

    return pruned(tx.all(OLDEST, after=after, before=before, limit=limit), before, limit, forget)
