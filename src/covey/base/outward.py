"""An HTTP client that calls others only where they may be called: an address is judged, then connected to; no redirect is followed.

Imports httpx, so that only those import it who call others.
"""

from __future__ import annotations

import httpx

from covey.base.reaching import Reach, place_of


class Pinned(httpx.AsyncBaseTransport):
    """Connects to the address that was judged, under the name that was asked for (Host, SNI, certificate)."""

    def __init__(self, reach: Reach, inner: httpx.AsyncBaseTransport) -> None:
        self._reach = reach
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request.

        Raises:
            Forbidden, Invalid, Failed: It may not, or can't, be sent there.
        """
        host, port = place_of(str(request.url))
        address = await self._reach.address(host, port)
        request.headers.setdefault("Host", request.url.netloc.decode("ascii"))
        request.extensions = {**request.extensions, "sni_hostname": host}
        request.url = request.url.copy_with(host=address)
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()


def client(reach: Reach, *, timeout: httpx.Timeout, headers: dict[str, str] | None = None) -> httpx.AsyncClient:
    """A client that reaches no further than allowed. It heeds no proxy of the environment: that would be another's look-up."""
    inner = httpx.AsyncHTTPTransport(trust_env=False, limits=httpx.Limits(max_connections=50, max_keepalive_connections=10))
    return httpx.AsyncClient(transport=Pinned(reach, inner), timeout=timeout, headers=headers, follow_redirects=False, trust_env=False)
