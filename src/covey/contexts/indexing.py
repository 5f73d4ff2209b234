"""The index of what is archived, by its words; filled by the sweep, at most 2 s behind (C5). Words are the same on both databases."""

from __future__ import annotations

from covey.contexts.archive import unpack
from covey.messages.indexing import words_of
from covey.store import Transaction, relaxed, statement

TO_INDEX = statement(__package__, "to_index")
INDEX = statement(__package__, "index")
INDEXED = statement(__package__, "indexed")
MARK = "@"
"""What the word that names the agent begins with; no word of a text has it."""


@relaxed
def index_archived(tx: Transaction, limit: int = 200) -> int:
    """How many archived entries were looked at; call again while it is `limit`. Summaries are not indexed: what they stand for is."""
    rows = tx.all(TO_INDEX, limit=limit)
    for row in rows:
        if row.form == "raw":
            words = sorted({MARK + row.agent, *words_of(unpack(row)), *words_of(row.source or "")})
            tx.run(INDEX, seq=row.seq, text=" ".join(words), words=words)
        tx.run(INDEXED, seq=row.seq)
    return len(rows)
