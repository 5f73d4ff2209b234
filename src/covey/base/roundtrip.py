"""One HTTP/1.1 request and its answer, as bytes out and bytes in; who calls it moves them. No I/O.

The client's two forms, the hooks and the webhooks share it. A connection carries one round trip and is closed.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from typing import NamedTuple

import h11

from covey.base.errors import NotRunning
from covey.base.target import Target

CHUNK_BYTES = 65_536
ANSWER_BYTES = 64 * 1024 * 1024
"""An answer may be so long at most."""


class Answer(NamedTuple):
    """A whole answer."""

    status: int
    body: bytes
    retry_after: str = ""
    """What the header of that name says."""


class RoundTrip:
    """A request, and what has come of its answer so far."""

    def __init__(self, target: Target, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> None:
        self._target = target
        self._wire = h11.Connection(h11.CLIENT, max_incomplete_event_size=CHUNK_BYTES)
        self._taken = 0
        self.status = 0
        """The answer's status; 0 until its head is there."""
        self.retry_after = ""
        self.ended = False
        every = {"Host": target.authority, "Connection": "close", "Content-Length": str(len(body)), **headers}
        try:
            head = self._wire.send(h11.Request(method=method, target=path, headers=list(every.items())))
            self.request: bytes = (
                (head or b"") + (self._wire.send(h11.Data(data=body)) or b"") + (self._wire.send(h11.EndOfMessage()) or b"")
            )
        except (h11.LocalProtocolError, UnicodeEncodeError) as error:
            raise NotRunning(f"a call of {target.authority} can't be written as HTTP ({error}).") from error

    def take(self, data: bytes, most_bytes: int | None = ANSWER_BYTES) -> bytes:
        """What these bytes add to the answer's body; no bytes mean that the other side has closed.

        Raises:
            NotRunning: It is no HTTP, ends too early, or is longer than it may be.
        """
        parts: list[bytes] = []
        try:
            self._wire.receive_data(data)
            while not self.ended:
                event = self._wire.next_event()
                if event is h11.NEED_DATA or event is h11.PAUSED:
                    break
                self._note(event, parts)
        except h11.RemoteProtocolError as error:
            raise NotRunning(f"{self._target.authority} answered with something that is no whole HTTP answer ({error}).") from error
        self._taken += sum(map(len, parts))
        if most_bytes is not None and self._taken > most_bytes:
            raise NotRunning(f"{self._target.authority} answers with more than {most_bytes:,} bytes; is the address right?")
        return b"".join(parts)

    def _note(self, event: object, parts: list[bytes]) -> None:
        if isinstance(event, h11.Response):
            self.status = event.status_code
            self.retry_after = next((value.decode("latin-1") for name, value in event.headers if name == b"retry-after"), "")
        elif isinstance(event, h11.Data):
            parts.append(bytes(event.data))
        elif isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
            self.ended = True


def over(sock: socket.socket, trip: RoundTrip, *, timeout_s: float, most_bytes: int = ANSWER_BYTES) -> Answer:
    """The whole answer, over a connection that is there; in so many seconds altogether. Blocking.

    Raises:
        NotRunning: It is no HTTP answer, or too long a one.
        OSError: The connection broke, or the time was over.
    """
    until = time.monotonic() + timeout_s
    sock.settimeout(timeout_s)
    sock.sendall(trip.request)
    parts: list[bytes] = []
    while not trip.ended:
        sock.settimeout(max(0.001, until - time.monotonic()))
        parts.append(trip.take(sock.recv(CHUNK_BYTES), most_bytes))
    return Answer(trip.status, b"".join(parts), trip.retry_after)
