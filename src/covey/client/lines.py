"""Connections to a fleet's API that block. A call has a connection of its own; what is said on it a line does not know.

Assistants' hooks import it: keep it light.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator

from covey.base.errors import CoveyError
from covey.base.roundtrip import CHUNK_BYTES, Answer, RoundTrip, over
from covey.base.sockets import connected
from covey.client.place import Place

STREAM_S = 45.0
"""A stream says within so long that it lives; the fleet's does each 15 s."""
CONNECT_S = 10.0


Answered = Callable[[int, bytes], CoveyError]
"""The error that an answer is, which should have been a stream."""


class Line:
    """Calls that block."""

    def __init__(self, place: Place) -> None:
        self.place = place

    def call(self, trip: RoundTrip, patience_s: float) -> Answer:
        """The whole answer.

        Raises:
            NotRunning: Nobody answers there in time.
        """
        try:
            with connected(self.place.target, min(patience_s, CONNECT_S)) as sock:
                return over(sock, trip, timeout_s=patience_s)
        except OSError as error:
            raise self.place.lost(error) from error

    def stream(self, trip: RoundTrip, refused: Answered) -> Iterator[bytes]:
        """The parts of an answer that goes on, until it ends.

        Raises:
            NotRunning: It could not be had, or broke.
        """
        try:
            with connected(self.place.target, CONNECT_S) as sock:
                sock.settimeout(STREAM_S)
                sock.sendall(trip.request)
                while not trip.ended:
                    found = trip.take(sock.recv(CHUNK_BYTES), None)
                    if trip.status not in (0, 200):
                        raise refused(trip.status, _rest(sock, trip, found))
                    if found:
                        yield found
        except OSError as error:
            raise self.place.lost(error) from error


def _rest(sock: socket.socket, trip: RoundTrip, found: bytes) -> bytes:
    until = time.monotonic() + CONNECT_S
    while not trip.ended and time.monotonic() < until:
        found += trip.take(sock.recv(CHUNK_BYTES))
    return found
