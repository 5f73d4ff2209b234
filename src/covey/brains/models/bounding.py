"""A bound on how much an endpoint may send in answer to one request: whatever it sends, it is never held whole beyond that."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

RESPONSE_BYTES = 16 * 1024 * 1024


class TooMuch(Exception):
    """The endpoint sent more than is taken."""

    def __init__(self) -> None:
        super().__init__(f"the model's endpoint sent more than {RESPONSE_BYTES:,} bytes in answer to one request")


class Bounded(httpx2.AsyncByteStream):
    """A response's bytes as they come, as long as they are within the bound."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        taken = 0
        async for chunk in self._stream:
            taken += len(chunk)
            if taken > RESPONSE_BYTES:
                raise TooMuch
            yield chunk

    async def aclose(self) -> None:
        """Let go of the connection."""
        await self._stream.aclose()


async def bound(response: httpx2.Response) -> None:
    """Have the response read within the bound; a hook of the HTTP client's."""
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = Bounded(response.stream)
