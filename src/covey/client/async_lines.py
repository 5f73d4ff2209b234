"""Connections to a fleet's API on an event loop. A call that is cancelled closes its connection at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from covey.base.roundtrip import ANSWER_BYTES, CHUNK_BYTES, Answer, RoundTrip
from covey.client.lines import CONNECT_S, STREAM_S, Answered
from covey.client.place import Place


class AsyncLine:
    """Calls on an event loop."""

    def __init__(self, place: Place) -> None:
        self.place = place

    async def call(self, trip: RoundTrip, patience_s: float) -> Answer:
        """As `Line.call`."""
        try:
            async with asyncio.timeout(patience_s):
                parts = [part async for part in self._parts(trip, patience_s)]
        except OSError as error:
            raise self.place.lost(error) from error
        return Answer(trip.status, b"".join(parts), trip.retry_after)

    async def stream(self, trip: RoundTrip, refused: Answered) -> AsyncIterator[bytes]:
        """As `Line.stream`."""
        said = b""
        try:
            async for part in self._parts(trip, STREAM_S, most_bytes=None):
                if trip.status == 200:
                    yield part
                else:
                    said = (said + part)[:CHUNK_BYTES]
        except OSError as error:
            raise self.place.lost(error) from error
        if trip.status != 200:
            raise refused(trip.status, said)

    async def _parts(self, trip: RoundTrip, quiet_s: float, most_bytes: int | None = ANSWER_BYTES) -> AsyncIterator[bytes]:
        """The parts of an answer as they come, each within so long."""
        target = self.place.target
        async with asyncio.timeout(CONNECT_S):
            reader, writer = await asyncio.open_connection(target.host, target.port, ssl=True if target.scheme == "https" else None)
        try:
            writer.write(trip.request)
            await writer.drain()
            while not trip.ended:
                async with asyncio.timeout(quiet_s):
                    data = await reader.read(CHUNK_BYTES)
                if found := trip.take(data, most_bytes):
                    yield found
        finally:
            writer.transport.abort()
