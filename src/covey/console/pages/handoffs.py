"""Handoffs as a table, newest first: which task was offered by whom to whom, and what came of it."""

from __future__ import annotations

from typing import get_args

from covey.agents.model import THE_OPERATOR
from covey.base.errors import Invalid
from covey.base.settings import Settings
from covey.console import pieces
from covey.console.console import console_of
from covey.console.listing import operations_of
from covey.console.rendering import Place
from covey.console.routes import Operations, page
from covey.console.shown import ago
from covey.console.tables import Column, Filter, Query, Slice, Table, cursor_of, table_rows
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.store import Transaction
from covey.teams.handoffs import reading
from covey.teams.handoffs.model import Handoff, HandoffState

PLACE = Place("/handoffs", "Handoffs")
STATES: tuple[str, ...] = get_args(HandoffState)


class HandoffsQuery(Query):
    """Handoffs: in this state, of this agent on either side, of this task."""

    state: str = ""
    agent: str = ""
    task: str = ""


def read_handoffs(tx: Transaction, query: HandoffsQuery, _settings: Settings, limit: int) -> Slice[Handoff]:
    """The handoffs that a query asks for."""
    if query.state not in ("", *STATES):
        raise Invalid(f"state is {query.state[:60]!r}; it is one of {', '.join(STATES)}, or nothing for all.", field="state")
    found = reading.listed(
        tx,
        THE_OPERATOR,
        task=query.task.strip() or None,
        agent=query.agent.strip() or None,
        state=query.state or None,
        before=cursor_of(query) or None,
        limit=limit,
    )
    return Slice(found.items, None if found.cursor is None else str(found.cursor))


def way_of(handoff: Handoff) -> str:
    """From whom to whom. Pure."""
    return f"{handoff.from_} → {handoff.to}"


HANDOFFS: Table[HandoffsQuery, Handoff] = Table(
    name="handoffs",
    path="/handoffs",
    caption="Handoffs",
    query=HandoffsQuery,
    read=read_handoffs,
    filters=(Filter("state", "State", STATES, "any state"), Filter("agent", "Agent on either side"), Filter("task", "Task")),
    columns=(
        Column(name="way", title="From → to", value=way_of),
        Column(name="state", title="State", value=lambda h: h.state, cell=lambda h: pieces.pill(h.state)),
        Column(name="task", title="Task", value=lambda h: h.task_id, cell=lambda h: pieces.task(h.task_id)),
        Column(name="path", title="Came by", value=lambda h: " → ".join(h.path), spare=True),
        Column(name="reason", title="Reason", value=lambda h: h.reason, words=True),
        Column(name="offeredAt", title="Offered", value=lambda h: h.offered_at, cell=lambda h: ago(h.offered_at)),
        Column(
            name="deadline",
            title="To be answered",
            value=lambda h: h.deadline,
            cell=lambda h: ago(h.deadline) if h.is_open else "–",
        ),
        Column(name="endedAt", title="Ended", value=lambda h: h.ended_at, cell=lambda h: ago(h.ended_at, "–"), spare=True),
        Column(name="why", title="Why", value=lambda h: h.why, words=True, spare=True),
        Column(name="handoffId", title="Id", value=lambda h: h.handoff_id, cell=lambda h: pieces.handoff(h.handoff_id), spare=True),
    ),
    live="handoff.",
    empty="No handoff yet. An agent offers a task that another can do better; `covey handoff offer` does it by hand.",
    open=lambda handoff: f"/handoffs/{handoff.handoff_id}",
)


async def get_handoffs(call: Call[HandoffsQuery, Nothing]) -> Answer:
    """The page with the table."""
    rows = await table_rows(call, HANDOFFS, call.query)
    return console_of(call).whole(call, "handoffs/table.html", table=HANDOFFS, query=call.query, rows=rows)


OPERATIONS: Operations = (page("/handoffs", get_handoffs, "Handoffs, newest first.", query=HandoffsQuery), *operations_of(HANDOFFS))
