"""MCP over standard input and output, for one client that starts us: the same tools on the fleet's store, known by one token."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.stdio import stdio_server

from covey.agents.model import Caller
from covey.base.errors import CoveyError, Forbidden, Unauthorized
from covey.doors.door import FleetDoor
from covey.mcp import errors
from covey.mcp.desk import Desk
from covey.mcp.following import Follower
from covey.mcp.tooling import Profile


class Gatekeeper:
    """Looks at the token again with each request: it may be rotated, and each call of an external agent is a heartbeat (A5b)."""

    def __init__(self, door: FleetDoor, token: str) -> None:
        self._door = door
        self._shown = f"Bearer {token}".encode()

    async def caller(self) -> Caller:
        """Who calls.

        Raises:
            Unauthorized, Forbidden: It is nobody's token, or one that is for other things.
        """
        by = await self._door.admission.caller(self._shown)
        if by is None:
            raise Unauthorized("this needs a token; `covey token show AGENT` prints it.")
        if by.kind == "owner":
            raise Forbidden(f"the token is {by.name}'s, which is for the links of its agents alone; use an agent's token.")
        return by

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Let a request through."""
        try:
            await self.caller()
        except CoveyError as error:
            raise errors.raised(error, "a request") from error
        return await call_next(ctx)


class _One:
    """The one desk that there is."""

    def __init__(self, desk: Desk, begun: asyncio.Event) -> None:
        self._desk = desk
        self.begun = begun

    def taken(self) -> list[Desk]:
        """It alone."""
        return [self._desk]


async def serve(door: FleetDoor, token: str, profile: Profile | None = None) -> None:
    """Serve until the client closes our input.

    Raises:
        Unauthorized, Forbidden: As `Gatekeeper.caller`.
    """
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    keeper = Gatekeeper(door, token)
    begun = asyncio.Event()
    desk = Desk(door, await keeper.caller(), begun, profile)
    server = desk.server()
    server.middleware.append(keeper)
    async with stdio_server() as (incoming, outgoing), Follower(door, _One(desk, begun)).beside():
        await server.run(incoming, outgoing, server.create_initialization_options())
