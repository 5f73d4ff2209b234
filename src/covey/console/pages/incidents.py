"""Incidents as a table: the open ones first, then those that have ended, each newest first."""

from __future__ import annotations

import msgspec

from covey.base.errors import Invalid
from covey.base.settings import Settings
from covey.console import pieces
from covey.console.console import console_of
from covey.console.listing import operations_of
from covey.console.rendering import Place
from covey.console.routes import Operations, page
from covey.console.shown import ago, span
from covey.console.tables import Column, Filter, Query, Slice, Table, cursor_of, table_rows
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.healing import reading
from covey.healing.model import KINDS
from covey.healing.reading import IncidentShown, Page
from covey.store import Transaction

PLACE = Place("/incidents", "Incidents")
STATES = ("open", "ended")
IN_OPEN = "open-"
"""Before a cursor that stands among the open ones, where those that have ended come after them."""
FIRST = "9" * 18
"""A cursor before all that is there."""


class IncidentsQuery(Query):
    """Incidents: open or ended, of this agent, of this kind."""

    state: str = ""
    agent: str = ""
    kind: str = ""


def read_incidents(tx: Transaction, query: IncidentsQuery, _settings: Settings, limit: int) -> Slice[IncidentShown]:
    """The incidents that a query asks for, the open ones first."""
    if query.state not in ("", *STATES):
        raise Invalid(f"state is {query.state[:60]!r}; it is open or ended, or nothing for both.", field="state")
    if query.state == "ended" or (query.cursor and not query.state and not query.cursor.startswith(IN_OPEN)):
        ended = _page(tx, query, limit)
        return Slice(ended.items, _text(ended.cursor))
    found = _page(tx, query, limit, are_open=True)
    if query.state or found.cursor is not None:
        return Slice(found.items, _text(found.cursor, "" if query.state else IN_OPEN))
    room = limit - len(found.items)
    if not room:
        return Slice(found.items, FIRST)
    ended = _page(tx, msgspec.structs.replace(query, cursor=""), room)
    return Slice([*found.items, *ended.items], _text(ended.cursor))


def _page(tx: Transaction, query: IncidentsQuery, limit: int, *, are_open: bool = False) -> Page:
    before = cursor_of(msgspec.structs.replace(query, cursor=query.cursor.removeprefix(IN_OPEN))) or None
    return reading.page(
        tx,
        agent=query.agent or None,
        kind=query.kind or None,
        only_open=are_open,
        only_ended=not are_open,
        before=before,
        limit=limit,
    )


def _text(cursor: int | None, before: str = "") -> str | None:
    return None if cursor is None else f"{before}{cursor}"


def state_of(incident: IncidentShown) -> str:
    """`open`, or how it ended. Pure."""
    return "open" if incident.ended_at is None else incident.outcome or "ended"


INCIDENTS: Table[IncidentsQuery, IncidentShown] = Table(
    name="incidents",
    path="/incidents",
    caption="Incidents",
    query=IncidentsQuery,
    read=read_incidents,
    filters=(
        Filter("state", "State", STATES, "open first"),
        Filter("kind", "Kind", tuple(sorted(KINDS)), "any kind"),
        Filter("agent", "Agent"),
    ),
    columns=(
        Column(name="kind", title="What", value=lambda i: i.kind, cell=lambda i: i.kind.replace("_", " ")),
        Column(name="state", title="State", value=state_of, cell=lambda i: pieces.pill(state_of(i).replace("_", " "))),
        Column(name="agent", title="Agent", value=lambda i: i.agent, cell=lambda i: pieces.agent(i.agent) or "the fleet"),
        Column(name="cause", title="Cause", value=lambda i: i.cause, words=True),
        Column(name="openedAt", title="Began", value=lambda i: i.opened_at, cell=lambda i: ago(i.opened_at)),
        Column(name="tookS", title="Took", value=lambda i: i.took_s, cell=lambda i: span(i.took_s, "goes on"), number=True),
        Column(name="steps", title="Steps", value=lambda i: len(i.steps), number=True, spare=True),
        Column(
            name="called",
            title="Person called",
            value=lambda i: i.called_at,
            cell=lambda i: ago(i.called_at, "no"),
            spare=True,
        ),
        Column(name="incidentId", title="Id", value=lambda i: i.incident_id, cell=lambda i: pieces.incident(i.incident_id), spare=True),
    ),
    live="incident.",
    empty="No incident: nothing has gone wrong. What the fleet finds and heals is told here, step by step.",
    mark=lambda incident: "bad" if incident.ended_at is None else "",
    open=lambda incident: f"/incidents/{incident.incident_id}",
)


async def get_incidents(call: Call[IncidentsQuery, Nothing]) -> Answer:
    """The page with the table."""
    rows = await table_rows(call, INCIDENTS, call.query)
    return console_of(call).whole(call, "incidents/table.html", table=INCIDENTS, query=call.query, rows=rows)


OPERATIONS: Operations = (
    page("/incidents", get_incidents, "Incidents, the open ones first.", query=IncidentsQuery),
    *operations_of(INCIDENTS),
)
