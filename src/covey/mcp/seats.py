"""A seat for each caller: an MCP server with sessions and subscriptions of its own, out of others' reach and with a share of its own."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup, TaskStatus
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from covey.agents.model import Caller
from covey.base.wire import REQUEST_BYTES
from covey.doors.door import FleetDoor
from covey.mcp.seat import Seat

log = logging.getLogger("covey.mcp")

SESSIONS = 64
"""So many sessions of older clients a caller may have open at once."""
IDLE_S = 30 * 60.0
"""A session that is not used for so long ends; its client gets 404 and begins a new one."""

MakeServer = Callable[[Seat], Server[Any]]


class Taken:
    """A seat that somebody has taken, and what carries its clients' requests."""

    def __init__(self, seat: Seat, server: Server[Any]) -> None:
        self.seat = seat
        self.sessions = StreamableHTTPSessionManager(
            server, max_sessions=SESSIONS, session_idle_timeout=IDLE_S, max_request_body_size=REQUEST_BYTES
        )

    async def keep(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Be there for requests until cancelled."""
        async with self.sessions.run():
            task_status.started()
            await anyio.sleep_forever()


class Seats:
    """All seats that were taken since the door was opened: no more than there are tokens."""

    def __init__(self, door: FleetDoor, group: TaskGroup, make_server: MakeServer) -> None:
        self._door = door
        self._group = group
        self._make_server = make_server
        self._taken: dict[Caller, Taken] = {}
        self._turn = anyio.Lock()

    async def of(self, by: Caller) -> Taken:
        """The seat of this caller."""
        found = self._taken.get(by)
        if found is not None:
            return found
        async with self._turn:
            if by not in self._taken:
                seat = Seat(self._door, by)
                taken = Taken(seat, self._make_server(seat))
                await self._group.start(taken.keep)
                self._taken[by] = taken
            return self._taken[by]

    def taken(self) -> list[Seat]:
        """The seats so far."""
        return [each.seat for each in self._taken.values()]


@asynccontextmanager
async def seats_of(door: FleetDoor, make_server: MakeServer) -> AsyncIterator[Seats]:
    """The seats of a door; they are cleared when it closes, and at the end at the latest."""
    async with anyio.create_task_group() as group:
        seats = Seats(door, group, make_server)
        group.start_soon(_clear, door, seats, group)
        try:
            yield seats
        finally:
            group.cancel_scope.cancel()


async def _clear(door: FleetDoor, seats: Seats, group: TaskGroup) -> None:
    """Once the door closes, end what streams: a server that stops waits for it."""
    await door.closing.wait()
    for seat in seats.taken():
        seat.leave()
    await anyio.lowlevel.checkpoint()
    group.cancel_scope.cancel()
