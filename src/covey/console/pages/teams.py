"""Team runs as a table, newest first."""

from __future__ import annotations

from typing import get_args

from covey.base.errors import Invalid
from covey.base.settings import Settings
from covey.console import pieces
from covey.console.console import console_of
from covey.console.listing import operations_of
from covey.console.rendering import Place
from covey.console.routes import Operations, page
from covey.console.shown import ago, many
from covey.console.tables import Column, Filter, Query, Slice, Table, cursor_of, table_rows
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.store import Transaction
from covey.teams.runs import reading
from covey.teams.runs.model import TeamRun, TeamState

PLACE = Place("/teams", "Teams")
STATES: tuple[str, ...] = ("open", *get_args(TeamState))


class TeamsQuery(Query):
    """Team runs: in this state, begun by this one."""

    state: str = ""
    by: str = ""


def read_teams(tx: Transaction, query: TeamsQuery, _settings: Settings, limit: int) -> Slice[TeamRun]:
    """The runs that a query asks for."""
    if query.state not in ("", *STATES):
        raise Invalid(f"state is {query.state[:60]!r}; it is one of {', '.join(STATES)}, or nothing for all.", field="state")
    found = reading.listed(tx, state=query.state or None, by=query.by.strip() or None, before=cursor_of(query) or None, limit=limit)
    return Slice(found.items, None if found.cursor is None else str(found.cursor))


def quality_of(run: TeamRun) -> str:
    """Its quality, once it has ended: `0.80`. Pure."""
    return "–" if run.is_open else f"{run.quality_score:.2f}"


TEAMS: Table[TeamsQuery, TeamRun] = Table(
    name="teams",
    path="/teams",
    caption="Team runs",
    query=TeamsQuery,
    read=read_teams,
    filters=(Filter("state", "State", STATES, "any state"), Filter("by", "Begun by")),
    columns=(
        Column(name="goal", title="Goal", value=lambda r: r.goal, words=True),
        Column(name="state", title="State", value=lambda r: r.state, cell=lambda r: pieces.pill(r.state)),
        Column(
            name="done", title="Done", value=lambda r: r.done, cell=lambda r: f"{r.done} of {many(r.total, 'step')}" if r.total else "–"
        ),
        Column(name="quality", title="Quality", value=lambda r: r.quality_score, cell=quality_of, number=True),
        Column(name="mode", title="Mode", value=lambda r: r.mode, spare=True),
        Column(name="type", title="Type", value=lambda r: r.type, spare=True),
        Column(name="createdBy", title="Begun by", value=lambda r: r.created_by, cell=lambda r: pieces.agent(r.created_by), spare=True),
        Column(name="createdAt", title="Begun", value=lambda r: r.created_at, cell=lambda r: ago(r.created_at)),
        Column(name="endedAt", title="Ended", value=lambda r: r.ended_at, cell=lambda r: ago(r.ended_at, "–"), spare=True),
        Column(name="teamId", title="Id", value=lambda r: r.team_id, cell=lambda r: pieces.team(r.team_id), spare=True),
    ),
    live="team.",
    empty="No team run yet. Start a run, above, has several agents reach a goal together.",
    open=lambda run: f"/teams/{run.team_id}",
)


async def get_teams(call: Call[TeamsQuery, Nothing]) -> Answer:
    """The page with the table."""
    rows = await table_rows(call, TEAMS, call.query)
    return console_of(call).whole(call, "teams/table.html", table=TEAMS, query=call.query, rows=rows)


OPERATIONS: Operations = (page("/teams", get_teams, "Team runs, newest first.", query=TeamsQuery), *operations_of(TEAMS))
