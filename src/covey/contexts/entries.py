"""Entries of a context: added with their tokens counted, made room for before the bound is reached, never deleted (C1, C3, C3a).

After each step the live context is within its bound. What one entry has too much is whole in the archive.
"""

from __future__ import annotations

import math

from covey.base.errors import Invalid
from covey.base.ids import is_id
from covey.base.wire import fit
from covey.contexts.archive import add, entry_of
from covey.contexts.compressing import compress
from covey.contexts.model import BACK_TO, WARN_AT, Entry, EntryKind, is_due
from covey.contexts.reading import live, size_of, state
from covey.contexts.tokens import tokens_of
from covey.store import Transaction, statement

__all__ = ["Entry", "EntryKind", "cut", "decisions", "live", "merge", "remember", "since", "size_of", "tokens_of"]

KNOWN = statement(__package__, "known")
DECISIONS = statement(__package__, "decisions")
SINCE = statement(__package__, "since")

SHOWN_BYTES = 4000
"""Of an entry larger than half the bound so much of its head and its tail stays live, or what half the bound allows."""
ENTRY_BYTES = 16 * 1024 * 1024
MERGED = 1000
MOST_BYTES_A_TOKEN = 12
"""A text with more bytes than this for each token allowed is too long without being counted."""


def remember(
    tx: Transaction,
    agent: str,
    kind: EntryKind,
    text: str,
    *,
    source: str | None = None,
    max_tokens: int = 8192,
    ident: str | None = None,
    at: float | None = None,
) -> str:
    """The id of the new entry; a known one is not added again. The context is within its bound afterwards, whatever its size (C3a)."""
    tx.lock("mailbox", agent)
    entry_id = ident or tx.new_id("entry")
    if ident is not None and tx.one(KNOWN, id=ident) is not None:
        return ident
    text = fit(text, ENTRY_BYTES)
    entry = Entry(entry_id, kind, text, source, _counted(text, max_tokens), tx.now if at is None else at)
    shown = entry if entry.tokens <= max_tokens * BACK_TO else _ends(tx, entry, int(max_tokens * BACK_TO))
    room = max_tokens - _with_room(tx, agent, shown, max_tokens)
    if shown.tokens > room:
        shown = _ends(tx, entry, room)
    if shown is not entry:
        add(tx, agent, entry, archived_at=tx.now, shown_in=shown.id if shown.tokens <= room else None)
    if shown.tokens <= room:
        add(tx, agent, shown)
    return entry_id


def _counted(text: str, max_tokens: int) -> int:
    """The tokens of a text; of one that is far too long to stay, about so many."""
    size = len(text.encode())
    return tokens_of(text) if size <= max_tokens * MOST_BYTES_A_TOKEN else max(size // 3, max_tokens) + 1


def _with_room(tx: Transaction, agent: str, shown: Entry, max_tokens: int) -> int:
    """The size of the context, once there is room for an entry as far as there can be."""
    size = size_of(tx, agent)
    if size + shown.tokens <= max_tokens * WARN_AT:
        return size
    known = state(tx, agent)
    if is_due(size, shown.tokens, max_tokens, known.compressed_to if known is not None else 0):
        compress(tx, agent, max_tokens, "it was about to grow beyond 80 % of its bound", adding=shown.tokens)
        return size_of(tx, agent)
    return size


def _ends(tx: Transaction, entry: Entry, most: int) -> Entry:
    """Head, pointer and tail of an entry that is stored whole in the archive, of so many tokens if the pointer alone is not more."""
    pointer = f"… (whole text: {entry.id}) …"
    room = 2 * SHOWN_BYTES
    while True:
        text = cut(entry.text, pointer, room)
        tokens = tokens_of(text)
        if tokens <= most or room == 0:
            return Entry(tx.new_id("entry"), entry.kind, text, entry.source, tokens, entry.at, "ends")
        room = min(room // 2, int(room * most / tokens)) if room > 16 else 0


def cut(text: str, pointer: str, room: int) -> str:
    """As much of a text's head and tail as fits into so many bytes, half each, around the pointer. Pure."""
    half = max(room, 0) // 2
    if not half:
        return pointer
    head = text[:half].encode()[:half].decode(errors="ignore")
    tail = text[-half:].encode()[-half:].decode(errors="ignore")
    return f"{head}\n{pointer}\n{tail}"


def decisions(tx: Transaction, agent: str, limit: int = 10) -> list[Entry]:
    """The latest decisions, newest first, also those that are no longer in the live context."""
    return [entry_of(row) for row in tx.all(DECISIONS, agent=agent, limit=limit)]


def since(tx: Transaction, agent: str, at: float, limit: int = 100) -> list[Entry]:
    """Entries made at or after a time, live and archived, oldest first; no summaries (C6)."""
    return [entry_of(row) for row in tx.all(SINCE, agent=agent, at=at, limit=limit)]


def merge(tx: Transaction, agent: str, entries: list[Entry], max_tokens: int = 8192, *, by: str = "") -> int:
    """How many of another agent's entries were new; the same ones again, in any order, change nothing (C6).

    They enter as notes at their own times, and say whom they come from (`by`): others' words are data (M12).

    Raises:
        Invalid: An entry has no proper id or time; nothing is merged.
    """
    tx.lock("mailbox", agent)
    if len(entries) > MERGED:
        raise Invalid(f"entries has {len(entries):,} entries; at most {MERGED:,} are taken at once.", field="entries")
    _check(entries)
    accepted = 0
    for entry in sorted(entries, key=lambda each: (each.at, each.id)):
        first = entry.id.partition("@")[0]
        mine = tx.one(KNOWN, id=first)
        if (mine is not None and mine.agent == agent) or tx.one(KNOWN, id=f"{first}@{agent}") is not None:
            continue
        source = f"{by}: {entry.source or first}"[:300] if by else entry.source
        at = min(entry.at, tx.now)
        remember(tx, agent, "note", entry.text, source=source, max_tokens=max_tokens, ident=f"{first}@{agent}", at=at)
        accepted += 1
    return accepted


def _check(entries: list[Entry]) -> None:
    for index, entry in enumerate(entries):
        if not is_id(entry.id.partition("@")[0]):
            raise Invalid(f"entries[{index}].id is {entry.id[:200]!r}, which is no entry's id.", field=f"entries[{index}].id")
        if not math.isfinite(entry.at):
            raise Invalid(f"entries[{index}].at is {entry.at}; give Unix seconds, a finite number.", field=f"entries[{index}].at")
