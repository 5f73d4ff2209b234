"""The fleet's port: its story, as a list or as a stream of server-sent events that goes on from where its reader was.

A stream holds no queue: each reader reads from its own bookmark at its own pace, so a slow one costs nobody anything.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec

from covey.api import views
from covey.api.shapes import Events, EventsQuery
from covey.api.views import Story, Wanted
from covey.base.errors import Invalid
from covey.base.wire import convert
from covey.doors.answer import Answer, Stream, shown
from covey.doors.call import Call
from covey.doors.news import first_of
from covey.doors.operations import Nothing, get
from covey.store import events
from covey.store.events import START, Bookmark

HEARTBEAT_S = 15.0
"""A quiet stream says so often that it lives."""
RETRY_MS = 1000
"""How soon a reader whose stream broke comes back."""


async def get_events(call: Call[EventsQuery, Nothing]) -> Answer | Stream:
    """Events after a cursor: a page of them, or all that come, if the Accept header asks for an event stream."""
    asked = call.query
    kinds = tuple(kind for kind in asked.kinds.split(",") if kind)
    wanted = Wanted(kinds, asked.agent, asked.subject)
    if asked.last is not None and asked.since is not None:
        raise Invalid("both since and last are given; give one of them.", field="last")
    if b"text/event-stream" in call.headers.get(b"accept", b""):
        return Stream(_told(call, await _since(call), wanted))
    if asked.last is not None:
        story = await call.door.store.read(views.latest, call.by, wanted, asked.last)
    else:
        since = Bookmark.parse(asked.since) if asked.since is not None else START
        story = await call.door.store.read(views.story, since, call.by, wanted, asked.limit)
    items = [event.shown() for event in story.events]
    return shown(Events(items=items, cursor=str(story.bookmark), more=story.more, resync=story.resync))


async def _since(call: Call[EventsQuery, Nothing]) -> Bookmark:
    """Where a stream begins: after the last event that the reader has, else after `since`, else with what comes from now on."""
    last = call.headers.get(b"last-event-id", b"").decode("latin-1").strip()
    said = _last_event(last) if last else call.query.since
    return Bookmark.parse(said) if said is not None else await call.door.store.read(events.last)


def _last_event(header: str) -> str | None:
    try:
        return convert(EventsQuery, {"since": header}).since
    except Invalid as error:
        message = f"Last-Event-ID is {header[:60]!r}, no id of an event of this stream; send the last one that came, or none."
        raise Invalid(message, field="Last-Event-ID") from error


async def _told(call: Call[EventsQuery, Nothing], at: Bookmark, wanted: Wanted) -> AsyncIterator[bytes]:
    """The story as server-sent events, until the reader is gone or the port closes.

    It begins with its place, so that a reader whose stream breaks before the first event misses none.
    """
    door = call.door
    yield b"retry: %d\nid: %s\n\n" % (RETRY_MS, str(at).encode())
    while not door.closing.is_set():
        story = await door.store.read(views.story, at, call.by, wanted, call.query.limit)
        at = story.bookmark
        if text := _written(story):
            yield text
        if story.more:
            continue
        if await _quiet(call, at):
            yield b": still here\nid: %s\n\n" % str(at).encode()
        if call.left:
            return
    yield b"event: end\ndata: {}\n\n"


async def _quiet(call: Call[EventsQuery, Nothing], at: Bookmark) -> bool:
    """Wait for more; whether none came for a heartbeat's length."""
    now = asyncio.get_running_loop().time
    before = now()
    await first_of(call.door.news.beyond(at), call.door.closing.wait(), call.gone(), timeout_s=HEARTBEAT_S)
    return now() - before >= HEARTBEAT_S


def _written(story: Story) -> bytes:
    """The events as they stand on the wire. Pure."""
    if story.resync:
        return b"id: %s\nevent: resync\ndata: %s\n\n" % (str(story.bookmark).encode(), msgspec.json.encode({"cursor": str(story.bookmark)}))
    return b"".join(b"id: %s\ndata: %s\n\n" % (str(each.cursor).encode(), msgspec.json.encode(each.shown())) for each in story.events)


OPERATIONS = (
    get(
        "/api/v1/events",
        get_events,
        "caller",
        "The fleet's story: a page, or a stream of server-sent events.",
        query=EventsQuery,
        gives=Events,
        also=("text/event-stream",),
        verb=views.story,
    ),
)
