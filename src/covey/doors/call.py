"""One request as a handler has it: who calls, the decoded query and body, the store. Bodies are bounded while they are read (M10)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from email.utils import formatdate
from functools import lru_cache
from typing import TYPE_CHECKING, Concatenate, Generic, ParamSpec, TypeVar
from urllib.parse import parse_qsl

from starlette.types import Message, Receive, Scope, Send

from covey.agents.model import Caller
from covey.base.errors import Invalid, Unauthorized, UnsupportedMediaType
from covey.base.ids import is_id
from covey.base.wire import check_text, convert, decode
from covey.doors import bodies
from covey.doors.answer import JSON, Answer, Stream
from covey.doors.bodies import Disconnected
from covey.doors.door import FleetDoor
from covey.doors.impatience import CLOSING
from covey.store import Transaction, answered

if TYPE_CHECKING:
    from covey.doors.port import Port

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
Q = TypeVar("Q")
B = TypeVar("B")

KEY = "covey.call"
"""Where the call stands in the ASGI scope."""
_IDEMPOTENCY_KEY = re.compile(r"[\x21-\x7e]{1,128}")
_QUERY_FIELDS = 50
_ALWAYS = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class Call(Generic[Q, B]):
    """One request and its answer."""

    __slots__ = (
        *("_caller", "_receive", "_send", "body", "door", "headers", "incoming", "left", "port", "query", "raw", "scope", "started"),
    )

    query: Q
    body: B
    port: Port
    """The application that serves it."""

    def __init__(self, door: FleetDoor, scope: Scope, receive: Receive, send: Send) -> None:
        self.door = door
        self.scope = scope
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.raw = b""
        self.started = False
        self.left = False
        self._receive = receive
        self._send = send
        self._caller: Caller | None = None
        self.incoming = scope[bodies.KEY] = bodies.Incoming(self.headers, receive)

    # who and where

    @property
    def by(self) -> Caller:
        """Who calls.

        Raises:
            Unauthorized: Nobody knows.
        """
        if self._caller is None:
            raise Unauthorized("this needs a token: send `Authorization: Bearer TOKEN`; `covey token show NAME` prints it.")
        return self._caller

    @property
    def is_known(self) -> bool:
        """Whether it was found out who calls."""
        return self._caller is not None

    async def recognise(self) -> Caller | None:
        """Find out who calls; None if it does not say."""
        self._caller = await self.port.caller(self)
        return self._caller

    def named(self, part: str) -> str:
        """A part of the path: a name or an id.

        Raises:
            Invalid: It is of no form that a name or an id has.
        """
        text: str = self.scope["path_params"][part]
        if not is_id(text):
            raise Invalid(f"{part} in the path is {text[:60]!r}; it is 1 to 128 of the characters A-Z a-z 0-9 . _ : -", field=part)
        return text

    # what is asked

    def read_query(self, kind: type[T]) -> T:
        """The query as this type.

        Raises:
            Invalid: A parameter is unknown, twice there, or of the wrong form.
        """
        return convert(kind, fields_of(self.scope["query_string"], "query"), strict=False)

    async def read_form(self, kind: type[T]) -> T:
        """The fields of a page's form as this type.

        Raises:
            Invalid, TooLarge, UnsupportedMediaType: It is not what is taken here; nothing was stored.
        """
        self.raw = await self.incoming.whole()
        self._check_media(b"application/x-www-form-urlencoded")
        return convert(kind, fields_of(self.raw, "form"), strict=False)

    async def read_body(self, kind: type[T], empty: T | None) -> T:
        """The body as this type; `empty` is what no body at all means.

        Raises:
            Invalid, TooLarge, UnsupportedMediaType: It is not what is taken here; nothing was stored.
        """
        self.raw = await self.incoming.whole()
        if not self.raw and empty is not None:
            return empty
        self._check_media(JSON)
        return decode(kind, self.raw)

    def _check_media(self, wanted: bytes) -> None:
        media = self.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if media != wanted:
            said = media.decode("latin-1") or "not given"
            raise UnsupportedMediaType(f"the Content-Type is {said}; send `Content-Type: {wanted.decode()}`.", field="Content-Type")

    async def gone(self) -> None:
        """Return once the client is; `left` says so then."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.left = True

    # what is done

    async def write(
        self, show: Callable[[R], Answer], verb: Callable[Concatenate[Transaction, P], R], *args: P.args, **kwargs: P.kwargs
    ) -> Answer:
        """The verb's result as it is shown. Under an Idempotency-Key it is done once, and answered alike ever after.

        Raises:
            Invalid: The key is of the wrong form.
            IdTaken: The key was used for another request.
        """
        key = self.headers.get(b"idempotency-key")
        if key is None:
            return show(await self.door.store.write(verb, *args, **kwargs))
        given = await self.door.store.write(answered.once, self._request(key), lambda result: _given(show(result)), verb, *args, **kwargs)
        return Answer(given.status, given.body.encode(), headers=((b"idempotency-replayed", b"true"),) if given.replayed else ())

    def _request(self, key: bytes) -> answered.Request:
        text = key.decode("latin-1")
        if not _IDEMPOTENCY_KEY.fullmatch(text):
            raise Invalid("Idempotency-Key is 1 to 128 printable ASCII characters without spaces.", field="Idempotency-Key")
        what = b"\n".join((self.scope["method"].encode(), self.scope["path"].encode(), self.scope["query_string"], self.raw))
        return answered.Request(self.by.name, text, hashlib.blake2b(what, digest_size=16).hexdigest())

    # what is answered

    async def pass_on(self, message: Message) -> None:
        """Send what an application mounted here answers by itself."""
        if message["type"] == "http.response.start":
            self.started = True
            ours = {b"date": date(int(self.door.clock.wall())), **dict(_ALWAYS)}
            given = [(bytes(name).lower(), value) for name, value in message.get("headers", ())]
            missing = ours.keys() - dict(given).keys()
            message = {**message, "headers": [*given, *((name, ours[name]) for name in missing)]}
        await self._send(message)

    async def answer(self, answer: Answer) -> None:
        """Send a whole answer. Where a body was not read, the rest of it is read away within bounds, and the connection closed."""
        unread = self.incoming.unread
        await self._start(answer, length=len(answer.body), close=unread)
        await self._send({"type": "http.response.body", "body": answer.body, "more_body": unread})
        if unread:
            await self.incoming.read_away()
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def stream(self, stream: Stream) -> None:
        """Send the parts as they come, until there are no more or the reader has left."""
        await self._start(Answer(200, b"", stream.media, stream.headers), length=None, close=False)
        over = self.scope.get(CLOSING, bool)
        async for part in stream.parts:
            await self._send({"type": "http.response.body", "body": part, "more_body": True})
            if over():
                raise Disconnected
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _start(self, answer: Answer, *, length: int | None, close: bool) -> None:
        self.started = True
        own = {name for name, _ in answer.headers}
        always = [each for each in _ALWAYS if each[0] not in own]
        headers = [(b"content-type", answer.media), (b"date", date(int(self.door.clock.wall()))), *always, *answer.headers]
        if length is not None:
            headers.append((b"content-length", b"%d" % length))
        if close:
            headers.append((b"connection", b"close"))
        await self._send({"type": "http.response.start", "status": answer.status, "headers": headers})


def _given(answer: Answer) -> answered.Given:
    return answered.Given(answer.status, answer.body.decode(), lasts=answer.lasts and answer.status < 400)


def fields_of(raw: bytes, what: str) -> dict[str, str]:
    """The parameters of a query, or the fields of a form; each once."""
    found: dict[str, str] = {}
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_QUERY_FIELDS)
    except ValueError as error:
        raise Invalid(
            f"the {what} can't be read ({error}); it is UTF-8, percent-encoded, at most {_QUERY_FIELDS} parameters.", field=what
        ) from error
    for name, value in pairs:
        if name in found:
            raise Invalid(f"{name} stands twice in the {what}; give it once.", field=name)
        check_text(value, name)
        found[name] = value
    return found


@lru_cache(maxsize=2)
def date(at: int) -> bytes:
    """The Date header of a second."""
    return formatdate(at, usegmt=True).encode()


def call_of(scope: Scope) -> Call[object, object]:
    """The call that a scope belongs to."""
    found: Call[object, object] = scope[KEY]
    return found
