"""MCP over streamable HTTP, as the gateway mounts it: `/mcp` for all agents, each known by its bearer token alone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs

from mcp.server.lowlevel import Server
from starlette.routing import BaseRoute, Route
from starlette.types import Message, Receive, Scope, Send

from covey.agents.model import Caller
from covey.base.errors import CoveyError, Forbidden, Invalid, Unauthorized
from covey.doors.bodies import incoming
from covey.doors.door import FleetDoor
from covey.doors.impatience import ABORT
from covey.mcp.connection import CLIENT, PROFILE, Client
from covey.mcp.desk import Desk
from covey.mcp.desks import Desks, MakeServer, desks_of
from covey.mcp.following import Follower
from covey.mcp.tooling import PROFILES, Profile

PATH = "/mcp"
LOOK_AGAIN_S = 30.0
"""So often it is seen whether the token of a stream is still good."""


def server_of(desk: Desk) -> Server[Any]:
    """The server of a desk."""
    return desk.server()


@asynccontextmanager
async def opened(door: FleetDoor, make_server: MakeServer = server_of) -> AsyncIterator[Sequence[BaseRoute]]:
    """The routes of the MCP door, which is open meanwhile."""
    logging.getLogger("mcp").setLevel(logging.WARNING)  # it tells the ids of sessions, line by line
    async with desks_of(door, make_server) as desks, Follower(door, desks).beside():
        yield [Route(PATH, endpoint=Entrance(door, desks))]


class Entrance:
    """Knows the caller of each request, and hands it on to the caller's own desk. Host and Origin were looked at before."""

    def __init__(self, door: FleetDoor, desks: Desks) -> None:
        self._door = door
        self._desks = desks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request.

        Raises:
            Unauthorized, Forbidden: It shows no token, or one that is for other things.
            Invalid, TooLarge: It is not what is taken here.
        """
        by = await self._caller(scope)
        scope[PROFILE], scope[CLIENT] = _profile(scope), Client()
        body = await incoming(scope).whole() if scope["method"] == "POST" else b""
        taken = await self._desks.of(by)
        if not await self._while_known(scope, by, taken.sessions.handle_request(scope, _Replay(body, receive), send)):
            await _cut_off(scope, receive)

    async def _caller(self, scope: Scope) -> Caller:
        by = await self._door.admission.caller(dict(scope["headers"]).get(b"authorization"))
        if by is None:
            raise Unauthorized("this needs a token: send `Authorization: Bearer TOKEN`; `covey token show AGENT` prints it.")
        if by.kind == "owner":
            raise Forbidden(f"the token is {by.name}'s, which is for the links of its agents alone; connect with an agent's token.")
        return by

    async def _while_known(self, scope: Scope, by: Caller, serving: Coroutine[Any, Any, None]) -> bool:
        """Serve a request for as long as its token is its holder's: streams are open for hours, and a token may be rotated meanwhile."""
        task = asyncio.create_task(serving)
        try:
            while not (await asyncio.wait({task}, timeout=LOOK_AGAIN_S))[0]:
                if not await self._is_still(scope, by):
                    return False
            task.result()
        finally:
            scope[CLIENT].leaves()
            task.cancel()
            await asyncio.wait({task})
        return True

    async def _is_still(self, scope: Scope, by: Caller) -> bool:
        try:
            return await self._caller(scope) == by
        except (Unauthorized, Forbidden):
            return False
        except CoveyError:  # the store can't be asked: nothing is known against it
            return True


async def _cut_off(scope: Scope, receive: Receive) -> None:
    """Drop the connection of a stream whose caller is nobody any more."""
    scope.get(ABORT, lambda: None)()
    while (await receive())["type"] != "http.disconnect":
        pass


def _profile(scope: Scope) -> Profile | None:
    """The profile that the address asks for, as `/mcp?profile=reader`."""
    given = parse_qs(scope["query_string"].decode("latin-1")).get("profile")
    if not given:
        return None
    found = next((profile for profile in PROFILES if profile == given[-1]), None)
    if found is None:
        raise Invalid(f"profile is {given[-1][:60]!r}; it may be {', '.join(PROFILES)}.", field="profile")
    return found


class _Replay:
    """Gives the body that was read, then what comes after it."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}
