"""An httpx client that calls only where the fleet may call out to: an address is judged, then connected to; no redirect is followed.

Imports httpx, so that only those import it who call others through it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx

from covey.base.outward import Allowed, addresses
from covey.base.target import target_of

RESPONSE_BYTES = 32 * 1024 * 1024
"""So much of one answer is read at most, a stream's too."""
_PLAIN = frozenset({"", "identity"})


class _Bounded(httpx.AsyncByteStream):
    """A body that ends in an error when it becomes too long."""

    def __init__(self, inner: httpx.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._inner:
            size += len(part)
            if size > RESPONSE_BYTES:
                raise httpx.ReadError(f"the answer is longer than {RESPONSE_BYTES:,} bytes")
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()


class Pinned(httpx.AsyncBaseTransport):
    """Connects to an address that was judged, under the name that was asked for (Host, SNI, certificate)."""

    def __init__(self, allowed: Allowed, inner: httpx.AsyncBaseTransport) -> None:
        self._allowed = allowed
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request.

        Raises:
            Forbidden, Invalid, NotRunning: It may not, or can't, be sent there.
        """
        target = target_of(str(request.url))
        found = await asyncio.to_thread(addresses, target.host, target.port, self._allowed)
        request.headers.setdefault("Host", target.authority)
        request.headers["Accept-Encoding"] = "identity"
        request.extensions = {**request.extensions, "sni_hostname": target.host}
        request.url = request.url.copy_with(host=found[0])
        response = await self._inner.handle_async_request(request)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        packed = response.headers.get("Content-Encoding", "").strip().lower()
        if packed not in _PLAIN:
            await response.aclose()
            raise httpx.ReadError(f"the answer is packed ({packed[:50]!r}), which nobody asked for: a few bytes may become any number")
        response.stream = _Bounded(response.stream)
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()


def client(allowed: Allowed, *, timeout: httpx.Timeout, headers: dict[str, str] | None = None) -> httpx.AsyncClient:
    """A client that reaches no further than allowed. It heeds no proxy of the environment: that would look names up itself."""
    inner = httpx.AsyncHTTPTransport(trust_env=False, limits=httpx.Limits(max_connections=50, max_keepalive_connections=10))
    return httpx.AsyncClient(transport=Pinned(allowed, inner), timeout=timeout, headers=headers, follow_redirects=False, trust_env=False)
