"""Stands before the A2A package: names, tokens, bounds and form are checked here, as at our other doors, since the package checks none."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from a2a.utils.error_handlers import build_error_details, build_rest_error_payload
from a2a.utils.errors import JSON_RPC_ERROR_CODE_MAP, A2AError, ContentTypeNotSupportedError, InvalidRequestError, JSONParseError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from covey.a2a.visiting import KEY, PROTOCOL_VERSION_0_3, PROTOCOL_VERSION_1_0, Visit
from covey.agents import roster
from covey.base.errors import CoveyError, Failed, Forbidden, Invalid, TooLarge, Unauthorized
from covey.base.wire import REQUEST_BYTES, parse
from covey.doors.door import FleetDoor
from covey.doors.hosts import Hosts, asked, name_of

BODY_S = 30.0
"""A body must have come within so long."""
MEDIA = frozenset({b"application/json", b"application/a2a+json"})
CALLERS = ("operator", "agent")
_ALWAYS = [(b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store")]


class Gone(Exception):
    """The client has left; there is nobody to answer."""


class Guard:
    """Lets through what is whole, of a known caller and for an agent that is there. `rpc`: errors are answered as JSON-RPC does."""

    def __init__(self, door: FleetDoor, inner: ASGIApp, *, rpc: bool) -> None:
        self._door = door
        self._hosts = Hosts(door.settings)
        self._inner = inner
        self._rpc = rpc

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request and hand it on. The blanket except of a door is the package's own; ours are told apart."""
        try:
            body = await self._checked(scope, receive)
        except Gone:
            return
        except CoveyError as error:
            await _answer(send, error.face.http, error.problem(), b"application/problem+json")
            return
        except A2AError as error:
            await self._refuse(send, error)
            return
        await self._inner(scope, _again(body, receive), _with_headers(send))

    async def _checked(self, scope: Scope, receive: Receive) -> bytes:
        """The body of a request that is right; who calls is in the scope then."""
        headers = dict(scope["headers"])
        self._hosts.check(asked(scope, headers))
        caller = await self._door.admission.caller(headers.get(b"authorization"))
        if caller is None:
            raise Unauthorized("this needs a token: send `Authorization: Bearer TOKEN`; `covey token show NAME` prints it.")
        if caller.kind not in CALLERS:
            raise Forbidden(f"the token is {caller.name}'s, which gives no work; use the operator's or an agent's.")
        agent = await self._door.store.read(roster.find, scope["path_params"]["agent"][:64], field="agent")
        said = headers.get(b"a2a-version", b"").decode("latin-1").strip()
        version = PROTOCOL_VERSION_1_0 if said.startswith("1") else PROTOCOL_VERSION_0_3
        scope[KEY] = Visit(caller, agent.id, name_of(headers.get(b"host", b"").decode("latin-1")) or "localhost", version)
        body = await _body(headers, receive)
        if scope["method"] == "POST":
            self._check_form(headers, body)
        return body

    def _check_form(self, headers: dict[bytes, bytes], body: bytes) -> None:
        media = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if (body or self._rpc) and media not in MEDIA:
            said = media.decode("latin-1")[:100] or "not given"
            raise ContentTypeNotSupportedError(f"the Content-Type is {said}; send `Content-Type: application/json`.")
        if not body:
            return
        try:
            parse(body)
        except Invalid as error:
            raise (JSONParseError if self._rpc else InvalidRequestError)(error.message) from error

    async def _refuse(self, send: Send, error: A2AError) -> None:
        if self._rpc:
            await _answer(send, 200, _rpc_error(error))
            return
        payload = build_rest_error_payload(error)
        if isinstance(error, ContentTypeNotSupportedError):
            payload["error"]["code"] = 415
        await _answer(send, payload["error"]["code"], payload)


def _rpc_error(error: A2AError) -> dict[str, Any]:
    """The error as JSON-RPC answers it where no id is known."""
    shown = {"code": JSON_RPC_ERROR_CODE_MAP[type(error)], "message": error.message, "data": build_error_details(error)}
    return {"jsonrpc": "2.0", "id": None, "error": shown}


async def _body(headers: dict[bytes, bytes], receive: Receive) -> bytes:
    """The whole body, within its bound (M10)."""
    length = headers.get(b"content-length", b"")
    if length.isdigit() and int(length) > REQUEST_BYTES:
        raise _too_large()
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_S):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Gone
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > REQUEST_BYTES:
                    raise _too_large()
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError as error:
        raise Failed(f"the body did not come within {BODY_S:.0f} s; nothing was stored.") from error


def _too_large() -> TooLarge:
    return TooLarge(f"the request is longer than {REQUEST_BYTES:,} bytes, which is the most that is taken.", field="")


def _again(body: bytes, receive: Receive) -> Receive:
    """The body once more, for who comes behind."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


def _with_headers(send: Send) -> Send:
    async def send_on(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(each for each in _ALWAYS if each[0] not in own)]
        await send(message)

    return send_on


async def _answer(send: Send, status: int, body: dict[str, Any], media: bytes = b"application/json") -> None:
    raw = msgspec.json.encode(body)
    headers = [(b"content-type", media), (b"content-length", b"%d" % len(raw)), (b"connection", b"close"), *_ALWAYS]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="covey"'))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": raw})
