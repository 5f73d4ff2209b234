"""A desk for each caller: an MCP server with sessions and subscriptions of its own, out of others' reach and with a share of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from covey.agents.model import Caller
from covey.base.wire import REQUEST_BYTES
from covey.doors.door import FleetDoor
from covey.mcp.desk import Desk

SESSIONS = 64
"""So many sessions of older clients a caller may have open at once."""
IDLE_S = 30 * 60.0
"""A session that is not used for so long ends; its client gets 404 and begins a new one."""

GRACE_S = 0.3
"""What is being answered when the door closes is given so long."""

MakeServer = Callable[[Desk], Server[Any]]


class Taken:
    """A desk that somebody has taken, and what carries its clients' requests."""

    def __init__(self, desk: Desk, server: Server[Any]) -> None:
        self.desk = desk
        self.sessions = StreamableHTTPSessionManager(
            server, max_sessions=SESSIONS, session_idle_timeout=IDLE_S, max_request_body_size=REQUEST_BYTES
        )
        self._there = asyncio.Event()
        self._kept = asyncio.create_task(self._keep())

    async def there(self) -> None:
        """Return once it takes requests."""
        waiting = asyncio.create_task(self._there.wait())
        await asyncio.wait({waiting, self._kept}, return_when=asyncio.FIRST_COMPLETED)
        if self._kept.done():
            waiting.cancel()
            self._kept.result()

    async def _keep(self) -> None:
        async with self.sessions.run():
            self._there.set()
            await asyncio.Event().wait()

    async def clear(self) -> None:
        """End its streams in good order, then whatever is left."""
        self.desk.leave()
        await asyncio.sleep(GRACE_S)
        self._kept.cancel()
        await asyncio.wait({self._kept})


class Desks:
    """All desks that were taken since the door was opened: no more than there are tokens."""

    def __init__(self, door: FleetDoor, make_server: MakeServer) -> None:
        self._door = door
        self._make_server = make_server
        self._taken: dict[Caller, Taken] = {}
        self.begun = asyncio.Event()
        """Set whenever a client begins to listen for news."""

    async def of(self, by: Caller) -> Taken:
        """The desk of this caller."""
        found = self._taken.get(by)
        if found is None:
            desk = Desk(self._door, by, self.begun)
            found = self._taken[by] = Taken(desk, self._make_server(desk))
        await found.there()
        return found

    def taken(self) -> list[Desk]:
        """The desks so far."""
        return [each.desk for each in self._taken.values()]

    async def clear(self) -> None:
        """Clear them all."""
        taken, self._taken = list(self._taken.values()), {}
        await asyncio.gather(*(each.clear() for each in taken))


@asynccontextmanager
async def desks_of(door: FleetDoor, make_server: MakeServer) -> AsyncIterator[Desks]:
    """The desks of a door; they are cleared when it closes, since a server that stops waits for what streams, and at the end at last."""
    desks = Desks(door, make_server)
    clearing = asyncio.create_task(_clear(door, desks))
    try:
        yield desks
    finally:
        clearing.cancel()
        await desks.clear()


async def _clear(door: FleetDoor, desks: Desks) -> None:
    await door.closing.wait()
    await desks.clear()
