"""The routes of the A2A door, to be mounted by the gateway: `/a2a/{agent}` takes JSON-RPC, below it is HTTP+JSON; both in 1.0 and 0.3."""

from __future__ import annotations

import msgspec
from a2a.server.routes.jsonrpc_dispatcher import JsonRpcDispatcher
from a2a.server.routes.rest_routes import create_rest_routes
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.types import Receive, Scope, Send

from covey.a2a.guarding import Guard
from covey.a2a.service import Service
from covey.a2a.visiting import HttpContexts
from covey.base.errors import CoveyError, MethodNotAllowed
from covey.doors.answer import problem
from covey.doors.cards import PATH, PATH_BEFORE_0_3, card_answer
from covey.doors.door import FleetDoor
from covey.doors.hosts import SAFE_METHODS, Hosts, asked

PREFIX = "/a2a/{agent}"
INVALID_REQUEST, INVALID_PARAMS = -32600, -32602
_WRONG_PARAMS = b"-32600"
GRACE_S = 1.0
"""Streams are given so long to say their last word when the gateway stops."""


def routes(door: FleetDoor, service: Service) -> list[BaseRoute]:
    """The routes; they need no other middleware."""
    rest = create_rest_routes(service, HttpContexts(), enable_v0_3_compat=True, shutdown_grace_period=GRACE_S)
    # the last one is the package's own form of `tenant`, which here is part of the path
    below = Router([route for route in rest if isinstance(route, Route)], redirect_slashes=False)
    rpc = _Post(Guard(door, Rpc(service), rpc=True))
    card = Cards(door)
    return [
        *(Route(place, endpoint=card) for place in (PATH, PATH_BEFORE_0_3, f"{PREFIX}{PATH}", f"{PREFIX}{PATH_BEFORE_0_3}")),
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
        if isinstance(response, JSONResponse):
            response = _put_right(response)
        await response(scope, receive, send)


def _put_right(response: JSONResponse) -> JSONResponse:
    """What the package answers to calls of 0.3, as JSON-RPC has it: wrong parameters have a code of their own, and null is a result."""
    raw = bytes(response.body)
    if _WRONG_PARAMS not in raw and (b'"result"' in raw or b'"error"' in raw):
        return response
    body = msgspec.json.decode(raw)
    error = body.get("error", {})
    if "result" not in body and not error:
        return JSONResponse(body | {"result": None})
    if error.get("code") != INVALID_REQUEST or "validation error" not in str(error.get("data")):
        return response
    body["error"] = {"code": INVALID_PARAMS, "message": "Invalid params", "data": error["data"]}
    return JSONResponse(body)


class Cards:
    """The cards, for whoever asks at the gateway: an agent's below its path, the lead's at the top."""

    def __init__(self, door: FleetDoor) -> None:
        self._door = door
        self._hosts = Hosts(door.settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = dict(scope["headers"])
        try:
            self._hosts.check(asked(scope, headers))
            if scope["method"] not in SAFE_METHODS:
                raise MethodNotAllowed("a card is read by GET.", allow=["GET"])
            name = scope["path_params"].get("agent")
            found = await card_answer(self._door.store, self._door.settings, name[:64] if name else None, headers)
        except CoveyError as error:
            found = problem(error, self._door.clock.wall())
        shown = Response(found.body, found.status, media_type=found.media.decode())
        shown.raw_headers.extend(found.headers)
        await shown(scope, receive, send)


class _Post:
    """An endpoint that is posted to; a class, so that starlette takes it as an application."""

    def __init__(self, inner: Guard) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand it on."""
        await self._inner(scope, receive, send)
