"""Entries as rows of the store: live, or packed in the archive; never deleted (C2).

What leaves the live context is archived in the same commit.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

from covey.contexts.model import Entry
from covey.store import Row, Transaction, statement

ADD = statement(__package__, "add")
ARCHIVE = statement(__package__, "archive")
SMALL_BYTES = 200
"""What is smaller is not worth packing."""
LEVEL = 1


class Packed(NamedTuple):
    """A text as the archive has it: packed, or as it is."""

    text: str
    packed: bytes | None


def pack(text: str) -> Packed:
    """The text as it takes least room. Pure."""
    raw = text.encode()
    if len(raw) < SMALL_BYTES:
        return Packed(text, None)
    packed = zlib.compress(raw, LEVEL)
    return Packed("", packed) if len(packed) < len(raw) else Packed(text, None)


def unpack(row: Row) -> str:
    """The text of a row with `text` and `packed`. Pure."""
    return zlib.decompress(row.packed).decode() if row.packed is not None else str(row.text)


def entry_of(row: Row) -> Entry:
    """The entry of a row, live or archived."""
    return Entry(row.id, row.kind, unpack(row), row.source, int(row.tokens), row.at, row.form)


def archive(tx: Transaction, entry: Entry, shown_in: str | None) -> None:
    """The entry leaves the live context; `shown_in` is what stands for it there."""
    text, packed = pack(entry.text)
    tx.run(ARCHIVE, id=entry.id, now=tx.now, text=text, packed=packed, shown_in=shown_in)


def add(tx: Transaction, agent: str, entry: Entry, *, archived_at: float | None = None, shown_in: str | None = None) -> None:
    """Store an entry as it is, live or archived. Who calls it sees to the bound."""
    text, packed = pack(entry.text) if archived_at is not None else (entry.text, None)
    tx.run(
        ADD,
        id=entry.id,
        agent=agent,
        kind=entry.kind,
        text=text,
        source=entry.source,
        tokens=entry.tokens,
        at=entry.at,
        archived_at=archived_at,
        form=entry.form,
        packed=packed,
        shown_in=shown_in,
    )
