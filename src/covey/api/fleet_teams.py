"""The fleet's port: team runs. Begun, looked at, waited for, cancelled (Q2)."""

from __future__ import annotations

from typing import Literal

from covey.api.shapes import Because, Given, Ident, Paging, WaitQuery
from covey.api.waiting import once_ended
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.operations import Nothing, get, post
from covey.teams.runs import reading, starting
from covey.teams.runs.model import TeamDraft, TeamRun


class TeamsQuery(Paging):
    """Which runs: of one state (open is planning or working), of one creator, or all."""

    state: Literal["open", "planning", "working", "done", "failed", "cancelled"] | None = None
    by: Ident | None = None


class Teams(Given):
    """Team runs without their steps, newest first, and the cursor of the next part."""

    items: list[TeamRun]
    cursor: str | None = None


def _started(run: TeamRun) -> Answer:
    return shown(run, 200 if run.known else 201)


async def start_team(call: Call[Nothing, TeamDraft]) -> Answer:
    """Have workers reach a goal."""
    return await call.write(_started, starting.start, call.body, call.by)


async def get_teams(call: Call[TeamsQuery, Nothing]) -> Answer:
    """Team runs, newest first."""
    asked = call.query
    page = await call.door.store.read(reading.listed, state=asked.state, by=asked.by, before=asked.cursor, limit=asked.limit)
    return shown(Teams(items=page.items, cursor=str(page.cursor) if page.cursor is not None else None))


async def get_team(call: Call[Nothing, Nothing]) -> Answer:
    """One team run whole."""
    return shown(await call.door.store.read(reading.show, call.named("id")))


async def wait_for_team(call: Call[WaitQuery, Nothing]) -> Answer:
    """One team run once it has ended; or when the time is over as it stands, without results."""
    return await once_ended(call, reading.show, call.named("id"), results=False)


async def cancel_team(call: Call[Nothing, Because]) -> Answer:
    """Cancel a team run with its open tasks."""
    return await call.write(shown, starting.cancel, call.named("id"), call.by, call.body.reason)


OPERATIONS = (
    post(
        "/api/v1/teams", start_team, "caller", "Have workers reach a goal.", takes=TeamDraft, gives=TeamRun, status=201, verb=starting.start
    ),
    get("/api/v1/teams", get_teams, "caller", "Team runs, newest first.", query=TeamsQuery, gives=Teams, verb=reading.listed),
    get("/api/v1/teams/{id}", get_team, "caller", "One team run, with its results word for word.", gives=TeamRun, verb=reading.show),
    get(
        "/api/v1/teams/{id}/wait",
        wait_for_team,
        "caller",
        "One team run once it has ended.",
        query=WaitQuery,
        gives=TeamRun,
        verb=reading.show,
    ),
    post(
        "/api/v1/teams/{id}/cancel",
        cancel_team,
        "caller",
        "Cancel a team run with its open tasks.",
        takes=Because,
        gives=TeamRun,
        verb=starting.cancel,
    ),
)
