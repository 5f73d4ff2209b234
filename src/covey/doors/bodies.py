"""The body of a request as it comes in: bounded in size and time while it is read (M10), and read away where nobody wanted it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.types import Message, Receive, Scope

from covey.base.errors import Invalid, TooLarge
from covey.base.wire import REQUEST_BYTES

KEY = "covey.incoming"
"""Where it stands in the ASGI scope."""
BODY_S = 30.0
"""A body must have come within so long."""
DRAIN_BYTES = 64 * REQUEST_BYTES
DRAIN_S = 2.0
"""So much of a refused body is read away, so that the answer reaches its sender; then the connection is closed."""


class Disconnected(Exception):
    """The client is gone; there is nobody to answer."""


class Incoming:
    """What still comes in of one request."""

    def __init__(self, headers: Mapping[bytes, bytes], receive: Receive) -> None:
        self._headers = headers
        self._receive = receive
        self._read = False

    @property
    def unread(self) -> bool:
        """Whether there is a body of which something has not been read."""
        said = b"transfer-encoding" in self._headers or self._headers.get(b"content-length", b"0") != b"0"
        return said and not self._read

    async def whole(self) -> bytes:
        """The whole body.

        Raises:
            Invalid, TooLarge: It came too slowly, or is too long; nothing was stored.
            Disconnected: The client left before its end.
        """
        length = self._headers.get(b"content-length", b"")
        if length.isdigit() and int(length) > REQUEST_BYTES:
            raise TooLarge(f"the request is {int(length):,} bytes long; at most {REQUEST_BYTES:,} are taken.", field="")
        try:
            async with asyncio.timeout(BODY_S):
                return await self._gathered()
        except TimeoutError as error:
            raise Invalid(f"the body did not come within {BODY_S:.0f} s; nothing was stored.", field="") from error

    async def _gathered(self) -> bytes:
        part = await self._next()
        body: bytes = part.get("body", b"")
        if not part.get("more_body", False):
            self._read = True
            return body
        parts, size = [body], len(body)
        while size <= REQUEST_BYTES:
            part = await self._next()
            parts.append(part.get("body", b""))
            size += len(parts[-1])
            if not part.get("more_body", False):
                self._read = True
                break
        if size > REQUEST_BYTES:
            raise TooLarge(f"the request is longer than {REQUEST_BYTES:,} bytes, which is the most that is taken.", field="")
        return b"".join(parts)

    async def _next(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        return message

    async def read_away(self) -> None:
        """Read what is left, within bounds."""
        left = DRAIN_BYTES
        try:
            async with asyncio.timeout(DRAIN_S):
                while left > 0:
                    part = await self._next()
                    left -= len(part.get("body", b""))
                    if not part.get("more_body", False):
                        return
        except (TimeoutError, Disconnected):
            return


def incoming(scope: Scope) -> Incoming:
    """What comes in of the request that a scope belongs to."""
    found: Incoming = scope[KEY]
    return found
