"""The fleet's port: incidents, listed, shown with their story, closed by a person (H2)."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from covey.api.shapes import Asking, Because, Cursor, Given, Ident, Limit
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.operations import Nothing, get, post
from covey.healing import closing, reading
from covey.healing.reading import IncidentShown


class IncidentsQuery(Asking):
    """Which part of the list: of one agent, of one kind, the open ones alone; `cursor` is the part before's."""

    agent: Ident | None = None
    kind: Annotated[str, Meta(max_length=40)] | None = None
    only_open: bool = msgspec.field(default=False, name="open")
    cursor: Cursor | None = None
    limit: Limit = 50


class Incidents(Given):
    """Incidents, newest first."""

    items: list[IncidentShown]
    cursor: str | None = None


async def get_incidents(call: Call[IncidentsQuery, Nothing]) -> Answer:
    """Incidents, newest first."""
    asked = call.query
    page = await call.door.store.read(
        reading.page, agent=asked.agent, kind=asked.kind, only_open=asked.only_open, before=asked.cursor, limit=asked.limit
    )
    return shown(Incidents(items=page.items, cursor=str(page.cursor) if page.cursor is not None else None))


async def get_incident(call: Call[Nothing, Nothing]) -> Answer:
    """One incident with its story."""
    return shown(await call.door.store.read(reading.show, call.named("id")))


async def close_incident(call: Call[Nothing, Because]) -> Answer:
    """Close an incident by hand."""
    return await call.write(shown, closing.close, call.named("id"), call.by, call.body.reason)


OPERATIONS = (
    get("/api/v1/incidents", get_incidents, "caller", "Incidents, newest first.", query=IncidentsQuery, gives=Incidents, verb=reading.page),
    get("/api/v1/incidents/{id}", get_incident, "caller", "One incident with its story.", gives=IncidentShown, verb=reading.show),
    post(
        "/api/v1/incidents/{id}/close",
        close_incident,
        "lead",
        "Close an incident by hand; nothing else changes.",
        takes=Because,
        gives=IncidentShown,
        verb=closing.close,
    ),
)
