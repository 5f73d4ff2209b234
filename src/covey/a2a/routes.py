"""The routes of the A2A door, to be mounted by the gateway: `/a2a/{agent}` takes JSON-RPC, below it is HTTP+JSON; both in 1.0 and 0.3."""

from __future__ import annotations

from a2a.server.routes.jsonrpc_dispatcher import JsonRpcDispatcher
from a2a.server.routes.rest_routes import create_rest_routes
from starlette.requests import Request
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.types import Receive, Scope, Send

from covey.a2a.guarding import Guard
from covey.a2a.service import Service
from covey.a2a.visiting import HttpContexts
from covey.doors.door import FleetDoor

PREFIX = "/a2a/{agent}"
GRACE_S = 1.0
"""Streams are given so long to say their last word when the gateway stops."""


def routes(door: FleetDoor, service: Service) -> list[BaseRoute]:
    """The routes; they need no other middleware."""
    rest = create_rest_routes(service, HttpContexts(), enable_v0_3_compat=True, shutdown_grace_period=GRACE_S)
    # the last one is the package's own form of `tenant`, which here is part of the path
    below = Router([route for route in rest if isinstance(route, Route)], redirect_slashes=False)
    rpc = _Post(Guard(door, Rpc(service), rpc=True))
    return [
        Route(PREFIX, endpoint=rpc),
        Route(f"{PREFIX}/", endpoint=rpc),  # some clients join an empty path to the card's URL
        Mount(PREFIX, app=Guard(door, below, rpc=False)),
    ]


class Rpc:
    """JSON-RPC as an ASGI application."""

    def __init__(self, service: Service) -> None:
        self._dispatcher = JsonRpcDispatcher(service, HttpContexts(), enable_v0_3_compat=True, shutdown_grace_period=GRACE_S)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        response = await self._dispatcher.handle_requests(Request(scope, receive))
        await response(scope, receive, send)


class _Post:
    """An endpoint that is posted to; a class, so that starlette takes it as an application."""

    def __init__(self, inner: Guard) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand it on."""
        await self._inner(scope, receive, send)
