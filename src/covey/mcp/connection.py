"""What is known of the connection that a request comes by: its profile, its session, whether its client is still there."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp.server.context import ServerRequestContext

from covey.mcp.tooling import Profile

Context = ServerRequestContext[Any, Any]

PROFILE = "covey.profile"
CLIENT = "covey.client"
"""Where the profile that a connection asks for stands in the ASGI scope, and who is at its other end."""


class Client:
    """The other end of a request."""

    def __init__(self) -> None:
        self._left = asyncio.Event()

    @property
    def left(self) -> bool:
        """Whether it has left: nobody hears what comes of the call."""
        return self._left.is_set()

    def leaves(self) -> None:
        """It has left, or been answered."""
        self._left.set()

    async def gone(self) -> None:
        """Return once it has left."""
        await self._left.wait()


def profile_of(ctx: Context) -> Profile | None:
    """The profile that the address asks for; None if it asks for none."""
    found: Profile | None = ctx.request.scope.get(PROFILE) if ctx.request is not None else None
    return found


def client_of(ctx: Context) -> Client:
    """The client of a request; over stdio we end with it."""
    found: Client | None = ctx.request.scope.get(CLIENT) if ctx.request is not None else None
    return found or Client()


def session_of(ctx: Context) -> str:
    """The id of the session that a request of an older client belongs to; over stdio there is one."""
    return str(ctx.request.headers.get("mcp-session-id", "")) if ctx.request is not None else ""
