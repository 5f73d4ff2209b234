"""Entries of a context: added with their tokens counted, the oldest archived before the bound is reached; nothing is deleted.

The tiers of C2 and their summaries come on top of this; the bound of C3a holds from here on: no step leaves a context above it.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from covey.base.errors import Invalid
from covey.base.ids import is_id
from covey.base.wire import fit
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
SHOWN_BYTES = 4000
"""Of an entry larger than half the bound so much of its head and its tail stays live, or what half the bound allows."""
ENTRY_BYTES = 16 * 1024 * 1024
MERGED = 1000
BYTES_A_TOKEN = 3


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
    return len(text.encode(errors="replace")) // BYTES_A_TOKEN + 1


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
    now = tx.now if at is None else at
    if tokens_of(text) > max_tokens * BACK_TO:
        text = _shown_of(tx, agent, kind, text, source, max_tokens, now)
    tx.run(ADD, id=entry_id, agent=agent, kind=kind, text=text, source=source, tokens=tokens_of(text), at=now, archived_at=None)
    _shrink(tx, agent, max_tokens)
    return entry_id


def _shown_of(tx: Transaction, agent: str, kind: EntryKind, text: str, source: str | None, max_tokens: int, at: float) -> str:
    """Head, pointer and tail of a text that is stored whole in the archive. Half the bound at most, but the pointer is always whole."""
    whole = tx.new_id("entry")
    tx.run(ADD, id=whole, agent=agent, kind=kind, text=text, source=source, tokens=tokens_of(text), at=at, archived_at=tx.now)
    pointer = f"… (whole text: {whole}) …"
    room = min(int(max_tokens * BACK_TO) * BYTES_A_TOKEN - len(pointer.encode()) - 4, 2 * SHOWN_BYTES)
    return cut(text, pointer, room)


def cut(text: str, pointer: str, room: int) -> str:
    """As much of a text's head and tail as fits into so many bytes, half each, around the pointer. Pure."""
    raw = text.encode()
    half = max(room, 0) // 2
    head = raw[:half].decode(errors="ignore")
    tail = raw[len(raw) - half :].decode(errors="ignore")
    return f"{head}\n{pointer}\n{tail}" if half else pointer


def _shrink(tx: Transaction, agent: str, max_tokens: int) -> None:
    """Above the warning line the oldest go to the archive, down to half the bound."""
    size = size_of(tx, agent)
    if size <= max_tokens * WARN_AT:
        return
    archived = 0
    for entry in live(tx, agent):
        if size <= max_tokens * BACK_TO:
            break
        tx.run(ARCHIVE, id=entry.id, now=tx.now)
        size -= entry.tokens
        archived += 1
    tx.happened("context.archived", agent=agent, entries=archived, size=size)


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
