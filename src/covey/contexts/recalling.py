"""Recall: what is archived, found again by its words, its time, or an id (C5). Read only."""

from __future__ import annotations

from typing import NamedTuple

from covey.agents import roster
from covey.base.errors import NotFound
from covey.contexts.archive import unpack
from covey.contexts.indexing import MARK
from covey.messages.indexing import wanted
from covey.store import Row, Transaction, statement

WORDS = statement(__package__, "recall_words")
TIME = statement(__package__, "recall_time")
BY_ID = statement(__package__, "recall_id")
SHOWN = statement(__package__, "recall_shown")
SOURCE = statement(__package__, "recall_source")
END = 1 << 62
LOOKED_AT = 5_000
"""Of entries with the words wanted so many of the newest are looked at, where a time is wanted too."""


class Recalled(NamedTuple):
    """An entry that was found: as it was said, or as one that stands for others. `shown_in` stands for it in the live context."""

    seq: int
    id: str
    kind: str
    text: str
    source: str | None
    tokens: int
    at: float
    form: str
    archived_at: float | None
    shown_in: str | None


class Page(NamedTuple):
    """What was found, and the cursor of the next part (None at the end)."""

    items: list[Recalled]
    cursor: int | None


def recall(
    tx: Transaction,
    agent: str,
    *,
    text: str | None = None,
    ident: str | None = None,
    since: float | None = None,
    until: float | None = None,
    cursor: int | None = None,
    limit: int = 50,
) -> Page:
    """What an agent's archive has, newest first: with all these words, of this time, or both; at most 2 s behind.

    With an id: the entry itself; what it stands for, if it is a summary; else what is remembered of that message or task, oldest
    first. The id goes before words and times.

    Raises:
        Unknown, Gone: There is no such agent.
        NotFound: Nothing has this id.
    """
    roster.find(tx, agent, field="agent")
    if ident is not None:
        return _by_id(tx, agent, ident, cursor or 0, limit)
    start, end = since if since is not None else -1e18, until if until is not None else 1e18
    if text is None or not text.strip():
        rows = tx.all(TIME, agent=agent, since=start, until=end, limit=limit + (cursor or 0) + 1)[cursor or 0 :]
        return _page(rows, limit, (cursor or 0) + limit)
    asked = _asked(agent, text)
    if asked is None:
        return Page([], None)
    most = limit + 1 if since is None and until is None else LOOKED_AT
    rows = tx.all(WORDS, agent=agent, since=start, until=end, before=cursor or END, most=most, limit=limit + 1, **asked)
    return _page(rows, limit, rows[limit - 1].seq if len(rows) > limit else 0)


def _asked(agent: str, text: str) -> dict[str, object] | None:
    """What the index is asked: the agent's own word, and those of the text."""
    found = wanted(text)
    if found is None:
        return None
    return {"match": f'"{MARK}{agent}" {found["match"]}', "words": [MARK + agent, *found["words"]]}  # type: ignore[misc]


def _by_id(tx: Transaction, agent: str, ident: str, after: int, limit: int) -> Page:
    rows = tx.all(SHOWN, agent=agent, id=ident, after=after, limit=limit + 1)
    if not rows:
        rows = tx.all(BY_ID, agent=agent, id=ident) or tx.all(SOURCE, agent=agent, source=ident, limit=limit)
    if not rows and not after:
        raise NotFound(f"{agent} remembers nothing of {ident!r}; try its words: `covey context recall {agent} TEXT`.", field="id")
    return _page(rows, limit, rows[limit - 1].seq if len(rows) > limit else 0)


def _page(rows: list[Row], limit: int, cursor: int) -> Page:
    items = [
        Recalled(row.seq, row.id, row.kind, unpack(row), row.source, int(row.tokens), row.at, row.form, row.archived_at, row.shown_in)
        for row in rows[:limit]
    ]
    return Page(items, cursor if len(rows) > limit else None)
