"""The fleet's port: an agent's context shown, its archive recalled, its compression asked for (C3, C5)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from covey.api.shapes import Asking, Cursor, Given, Ident, Limit, Seconds
from covey.contexts import recalling, showing
from covey.contexts.model import Compressed, Entry, EntryKind, Form
from covey.contexts.recalling import Recalled
from covey.contexts.showing import Shown
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.operations import Nothing, get, post


class RecallQuery(Asking):
    """What is looked for: all these words, entries made between two times, or an id: of an entry, a summary, a message, a task."""

    text: Annotated[str, Meta(max_length=1000)] | None = None
    id: Ident | None = None
    since: Seconds | None = None
    until: Seconds | None = None
    cursor: Cursor | None = None
    limit: Limit = 50


class EntryShown(Given, kw_only=True):
    """One thing an agent remembers. `form`: raw as it was said; ends, warm, cold and pinned stand for others, which are kept whole."""

    id: str
    kind: EntryKind
    text: str
    source: str | None
    tokens: int
    at: float
    form: Form
    archived_at: float | None = None
    shown_in: str | None = None


class CheckpointShown(Given):
    """Where the agent stood after the last thing it handled."""

    at: float
    item: str
    outcome: str
    summary: str
    size: int


class ContextShown(Given, kw_only=True):
    """A context in tokens, its live entries, oldest first, and where it stands."""

    agent_id: str
    context_size: int
    max_context_size: int
    entries: list[EntryShown]
    checkpoint: CheckpointShown | None
    compressed_at: float | None
    cold_entries: int
    emergencies: int
    too_large: str | None
    session: int
    session_tokens: int | None
    session_limit: int | None


class Recollection(Given):
    """What was found, newest first; of an id, oldest first."""

    items: list[EntryShown]
    cursor: str | None = None


class CompressedShown(Given):
    """What came of a compression: sizes in tokens, entries that went to the archive, summaries made, and how far it went."""

    agent_id: str
    before: int
    after: int
    archived: int
    summaries: int
    tier: str
    too_large: str | None


async def get_context(call: Call[Nothing, Nothing]) -> Answer:
    """An agent's live context."""
    name = call.named("name")
    return shown(_context(name, await call.door.store.read(showing.show, name)))


async def recall_context(call: Call[RecallQuery, Nothing]) -> Answer:
    """What an agent's archive has."""
    asked = call.query
    page = await call.door.store.read(
        recalling.recall,
        call.named("name"),
        text=asked.text,
        ident=asked.id,
        since=asked.since,
        until=asked.until,
        cursor=asked.cursor,
        limit=asked.limit,
    )
    items = [_recalled(each) for each in page.items]
    return shown(Recollection(items=items, cursor=str(page.cursor) if page.cursor is not None else None))


async def compress_context(call: Call[Nothing, Nothing]) -> Answer:
    """Compress an agent's context now (C3)."""
    name = call.named("name")
    return await call.write(lambda done: shown(_compressed(name, done)), showing.compress_now, name, call.by.name)


def _context(name: str, found: Shown) -> ContextShown:
    known, point = found.state, found.checkpoint
    return ContextShown(
        agent_id=name,
        context_size=found.size,
        max_context_size=found.max_tokens,
        entries=[_entry(each) for each in found.entries],
        checkpoint=CheckpointShown(point.at, point.item, point.outcome, point.summary, point.size) if point is not None else None,
        compressed_at=known.compressed_at if known else None,
        cold_entries=known.cold_entries if known else 0,
        emergencies=known.emergencies if known else 0,
        too_large=known.too_large if known else None,
        session=known.session if known else 1,
        session_tokens=known.session_tokens if known else None,
        session_limit=known.session_limit if known else None,
    )


def _entry(entry: Entry) -> EntryShown:
    return EntryShown(
        id=entry.id,
        kind=entry.kind,  # type: ignore[arg-type]
        text=entry.text,
        source=entry.source,
        tokens=entry.tokens,
        at=entry.at,
        form=entry.form,  # type: ignore[arg-type]
    )


def _recalled(found: Recalled) -> EntryShown:
    return EntryShown(
        id=found.id,
        kind=found.kind,  # type: ignore[arg-type]
        text=found.text,
        source=found.source,
        tokens=found.tokens,
        at=found.at,
        form=found.form,  # type: ignore[arg-type]
        archived_at=found.archived_at,
        shown_in=found.shown_in,
    )


def _compressed(name: str, done: Compressed) -> CompressedShown:
    return CompressedShown(name, *done)


OPERATIONS = (
    get("/api/v1/contexts/{name}", get_context, "self", "An agent's live context.", gives=ContextShown, verb=showing.show),
    get(
        "/api/v1/contexts/{name}/recall",
        recall_context,
        "self",
        "What an agent's archive has: by words, time or id.",
        query=RecallQuery,
        gives=Recollection,
        verb=recalling.recall,
    ),
    post(
        "/api/v1/contexts/{name}/compress",
        compress_context,
        "self",
        "Compress an agent's context down to half its bound now.",
        gives=CompressedShown,
        verb=showing.compress_now,
    ),
)
