"""Stands before the A2A package: names, tokens, bounds and form are checked here, as at our other doors, since the package checks none."""

from __future__ import annotations

import asyncio
from contextlib import suppress
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
LEAVING_S = 2.0
"""What is being answered may end by itself for so long once its client has left."""
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
        await _while_wanted(self._inner, scope, body, receive, _with_headers(send))

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
        host = name_of(headers.get(b"host", b"").decode("latin-1")) or "localhost"
        scope[KEY] = Visit(caller, agent.id, host, version, headers.get(b"traceparent", b"").decode("latin-1")[:128] or None)
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


async def _while_wanted(inner: ASGIApp, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
    """Have it answered, for as long as the client is there: nobody waits for an hour for one that has left."""
    again = _Again(body, receive)
    answering = asyncio.ensure_future(inner(scope, again.receive, send))
    leaving = asyncio.create_task(again.gone())
    try:
        await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            await asyncio.wait({answering}, timeout=LEAVING_S)
            answering.cancel()
        with suppress(asyncio.CancelledError):
            await answering
    finally:
        answering.cancel()
        leaving.cancel()
        await asyncio.gather(answering, leaving, return_exceptions=True)


class _Again:
    """The body once more, for who comes behind; then word of the client's leaving, to whoever asks."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive
        self._left = asyncio.Event()

    async def receive(self) -> Message:
        """What comes next."""
        if self._body is None:
            await self._left.wait()
            return {"type": "http.disconnect"}
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def gone(self) -> None:
        """Return once the client has left."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._left.set()


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
