"""Entries of a context: added with their tokens counted, the oldest archived before the bound is reached; nothing is deleted.

The tiers of C2 and their summaries come on top of this; the bound of C3a holds from here on.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from covey.store import Transaction, statement

ADD = statement(__package__, "add")
LIVE = statement(__package__, "live")
SIZE = statement(__package__, "size")
ARCHIVE = statement(__package__, "archive")
KNOWN = statement(__package__, "known")
DECISIONS = statement(__package__, "decisions")
SINCE = statement(__package__, "since")

EntryKind = Literal["message", "decision", "result", "note", "summary"]
WARN_AT = 0.8
BACK_TO = 0.5
HEAD_CHARS = 2000
"""Of an entry larger than the bound, so much of its head and its tail stays live."""


class Entry(NamedTuple):
    """One thing an agent remembers."""

    id: str
    kind: str
    text: str
    source: str | None
    tokens: int
    at: float


def tokens_of(text: str) -> int:
    """About how many tokens a text has; never far too few. Pure."""
    return len(text.encode(errors="replace")) // 3 + 1


def remember(tx: Transaction, agent: str, kind: EntryKind, text: str, *, source: str | None = None, max_tokens: int = 8192, ident: str | None = None) -> str:
    """The id of the new entry. The context is within its bound afterwards, whatever the entry's size (C3a)."""
    entry_id = ident or tx.new_id("entry")
    tokens = tokens_of(text)
    if tokens > max_tokens * BACK_TO:
        whole = tx.new_id("entry")
        tx.run(ADD, id=whole, agent=agent, kind=kind, text=text, source=source, tokens=tokens, now=tx.now, archived_at=tx.now)
        text = f"{text[:HEAD_CHARS]}\n… (whole text: {whole}) …\n{text[-HEAD_CHARS:]}"
        tokens = tokens_of(text)
    _make_room(tx, agent, tokens, max_tokens)
    tx.run(ADD, id=entry_id, agent=agent, kind=kind, text=text, source=source, tokens=tokens, now=tx.now, archived_at=None)
    return entry_id


def _make_room(tx: Transaction, agent: str, coming: int, max_tokens: int) -> None:
    size = size_of(tx, agent)
    if size + coming <= max_tokens * WARN_AT:
        return
    archived = 0
    for entry in live(tx, agent):
        if size + coming <= max_tokens * BACK_TO:
            break
        tx.run(ARCHIVE, id=entry.id, now=tx.now)
        size -= entry.tokens
        archived += 1
    if archived:
        tx.happened("context.archived", agent=agent, entries=archived, size=size + coming)


def size_of(tx: Transaction, agent: str) -> int:
    """The context's size in tokens."""
    row = tx.one(SIZE, agent=agent)
    return int(row.tokens) if row else 0


def live(tx: Transaction, agent: str) -> list[Entry]:
    """The live context, oldest first."""
    return [Entry(*row) for row in tx.all(LIVE, agent=agent)]


def decisions(tx: Transaction, agent: str, limit: int = 10) -> list[Entry]:
    """The latest decisions, newest first."""
    return [Entry(*row) for row in tx.all(DECISIONS, agent=agent, limit=limit)]


def since(tx: Transaction, agent: str, at: float, limit: int = 100) -> list[Entry]:
    """Entries made at or after a time, oldest first (C6)."""
    return [Entry(*row) for row in tx.all(SINCE, agent=agent, at=at, limit=limit)]


def merge(tx: Transaction, agent: str, entries: list[Entry], max_tokens: int = 8192) -> int:
    """How many of another agent's entries were new; the same ones again change nothing (C6)."""
    accepted = 0
    for entry in sorted(entries, key=lambda each: each.at):
        if tx.one(KNOWN, id=f"{entry.id}@{agent}") is None and tx.one(KNOWN, id=entry.id) is None:
            remember(tx, agent, "note", entry.text, source=entry.source, max_tokens=max_tokens, ident=f"{entry.id}@{agent}")
            accepted += 1
    return accepted
