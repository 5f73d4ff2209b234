"""Connections to a fleet's API: one for programs with threads, one for event loops. A call has a connection of its own.

A line knows addresses, tokens and time; it does not know what is said.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator

from covey.base import tracing
from covey.base.errors import CoveyError, NotRunning
from covey.base.exchange import CHUNK_BYTES, Answer, Exchange, over
from covey.base.target import target_of

STREAM_S = 45.0
"""A stream says within so long that it lives; the fleet's does each 15 s."""
CONNECT_S = 10.0


class Place:
    """A fleet's API: where it is, and what its calls look like."""

    def __init__(self, url: str, field: str = "url") -> None:
        self.url = url
        self.target = target_of(url, field)
        self._prefix = self.target.path.partition("?")[0].rstrip("/")

    def exchange(self, method: str, path: str, token: str, body: bytes = b"", **headers: str) -> Exchange:
        """A call with its token, at the caller's step of its trace. A header `Idempotency-Key` is given as `idempotency_key`."""
        said = {name.replace("_", "-").title(): value for name, value in headers.items() if value}
        kind = {"Content-Type": "application/json"} if method == "POST" else {}
        trace = tracing.current() or tracing.inherited(os.environ)
        step = {"Traceparent": trace.header} if trace is not None else {}
        return Exchange(self.target, method, self._prefix + path, {"Authorization": f"Bearer {token}", **kind, **step, **said}, body)

    def lost(self, error: BaseException) -> CoveyError:
        """The error for a connection that could not be had, or broke."""
        if isinstance(error, CoveyError):
            return error
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return NotRunning(f"{self.url} can't be reached ({why}); is the fleet up there, and the address right?")


Answered = Callable[[int, bytes], CoveyError]
"""The error that an answer is, which should have been a stream."""


class Line:
    """Calls that block."""

    def __init__(self, place: Place) -> None:
        self.place = place

    def call(self, exchange: Exchange, patience_s: float) -> Answer:
        """The whole answer.

        Raises:
            NotRunning: Nobody answers there in time.
        """
        try:
            with self._connected(min(patience_s, CONNECT_S)) as sock:
                return over(sock, exchange, timeout_s=patience_s)
        except (OSError, NotRunning) as error:
            raise self.place.lost(error) from error

    def stream(self, exchange: Exchange, refused: Answered) -> Iterator[bytes]:
        """The parts of an answer that goes on, until it ends.

        Raises:
            NotRunning: It could not be had, or broke.
        """
        try:
            with self._connected(CONNECT_S) as sock:
                sock.settimeout(STREAM_S)
                sock.sendall(exchange.request)
                while not exchange.ended:
                    found = exchange.take(sock.recv(CHUNK_BYTES), None)
                    if exchange.status not in (0, 200):
                        raise refused(exchange.status, _rest(sock, exchange, found))
                    if found:
                        yield found
        except (OSError, NotRunning) as error:
            raise self.place.lost(error) from error

    def _connected(self, timeout_s: float) -> socket.socket:
        target = self.place.target
        sock = socket.create_connection((target.host, target.port), timeout_s)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if target.scheme == "http":
            return sock
        import ssl  # noqa: PLC0415 - 30 ms that calls of a fleet on this machine don't pay

        try:
            return ssl.create_default_context().wrap_socket(sock, server_hostname=target.host)
        except BaseException:
            sock.close()
            raise


def _rest(sock: socket.socket, exchange: Exchange, found: bytes) -> bytes:
    until = time.monotonic() + CONNECT_S
    while not exchange.ended and time.monotonic() < until:
        found += exchange.take(sock.recv(CHUNK_BYTES))
    return found


class AsyncLine:
    """Calls on an event loop. A call that is cancelled closes its connection at once."""

    def __init__(self, place: Place) -> None:
        self.place = place

    async def call(self, exchange: Exchange, patience_s: float) -> Answer:
        """As `Line.call`."""
        try:
            async with asyncio.timeout(patience_s):
                parts = [part async for part in self._parts(exchange, patience_s)]
        except (OSError, NotRunning) as error:
            raise self.place.lost(error) from error
        return Answer(exchange.status, b"".join(parts), exchange.retry_after)

    async def stream(self, exchange: Exchange, refused: Answered) -> AsyncIterator[bytes]:
        """As `Line.stream`."""
        said = b""
        try:
            async for part in self._parts(exchange, STREAM_S, most_bytes=None):
                if exchange.status == 200:
                    yield part
                else:
                    said = (said + part)[:CHUNK_BYTES]
        except (OSError, NotRunning) as error:
            raise self.place.lost(error) from error
        if exchange.status != 200:
            raise refused(exchange.status, said)

    async def _parts(self, exchange: Exchange, quiet_s: float, most_bytes: int | None = CHUNK_BYTES * 1024) -> AsyncIterator[bytes]:
        """The parts of an answer as they come, each within so long."""
        target = self.place.target
        async with asyncio.timeout(CONNECT_S):
            reader, writer = await asyncio.open_connection(target.host, target.port, ssl=True if target.scheme == "https" else None)
        try:
            writer.write(exchange.request)
            await writer.drain()
            while not exchange.ended:
                async with asyncio.timeout(quiet_s):
                    data = await reader.read(CHUNK_BYTES)
                if found := exchange.take(data, most_bytes):
                    yield found
        finally:
            writer.transport.abort()
