"""What an agent remembers of something: what it still has in mind first, then what its archive has (C5). Read only."""

from __future__ import annotations

from covey.contexts import entries, recalling
from covey.contexts.entries import Entry
from covey.contexts.recalling import Page, Recalled
from covey.store import Transaction


def look(
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
    """As `recalling.recall`; the first page begins with those entries of the live context that are wanted too, newest first.

    Raises:
        Unknown, Gone: There is no such agent.
        NotFound: Nothing has this id.
    """
    found = recalling.recall(tx, agent, text=text, ident=ident, since=since, until=until, cursor=cursor, limit=limit)
    if ident is not None or cursor is not None:
        return found
    words = (text or "").casefold().split()
    here = [entry for entry in entries.live(tx, agent) if _is_wanted(entry, words, since, until)]
    return Page([*map(_recalled, reversed(here)), *found.items], found.cursor)


def _is_wanted(entry: Entry, words: list[str], since: float | None, until: float | None) -> bool:
    if (since is not None and entry.at < since) or (until is not None and entry.at > until):
        return False
    said = entry.text.casefold()
    return all(word in said for word in words)


def _recalled(entry: Entry) -> Recalled:
    return Recalled(0, entry.id, entry.kind, entry.text, entry.source, entry.tokens, entry.at, entry.form, None, None)
