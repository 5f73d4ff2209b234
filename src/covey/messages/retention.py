"""How long mail is kept: what was handled long ago goes, with its copies and its words in the index. Dead letters stay (DESIGN, Store)."""

from __future__ import annotations

from covey.messages import handling, indexing
from covey.store import Row, Transaction, relaxed, statement
from covey.store.upkeep import Pruned, pruned

OLDEST = statement(__package__, "oldest")
FORGET_WORDS = statement(__package__, "forget_words")
FORGET_COPIES = statement(__package__, "forget_copies")
FORGET = statement(__package__, "forget")
LEASES = statement(__package__, "leases")


@relaxed
def prune(tx: Transaction, *, older_s: float, after: int = 0, limit: int = 500) -> Pruned:
    """Delete messages all of whose copies were closed longer ago than this; one step over the oldest mail."""
    before = tx.now - older_s

    def forget(row: Row) -> None:
        tx.run(FORGET_WORDS, seq=row.seq)
        tx.run(FORGET_COPIES, message_id=row.id)
        tx.run(FORGET, seq=row.seq)

    return pruned(tx.all(OLDEST, after=after, before=before, limit=limit), before, limit, forget)


def index_again(tx: Transaction) -> int:
    """How many messages were put into the search index, all there are: a backup may come from a database that keeps it in another way."""
    after, count = 0, 0
    while rows := tx.all(OLDEST, after=after, before=0.0, limit=500):
        for row in rows:
            indexing.index_one(tx, row.id)
        after, count = rows[-1].seq, count + len(rows)
    return count


def end_leases(tx: Transaction) -> int:
    """How many leases on mail were ended, in a restored store that had them: that mail waits again, its attempt does not count."""
    rows = tx.all(LEASES)
    for row in rows:
        handling.give_back(tx, row.token)
    return len(rows)
