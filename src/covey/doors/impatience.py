"""uvicorn's HTTP protocol with bounds of time and size: a slow or endless head is cut off, and so is a reader that takes nothing.

uvicorn itself has none: a connection that says nothing, or one byte a minute, or a header without end, would be held for ever; and so would
a stream, of whichever door, whose reader does not read.
"""

from __future__ import annotations

import asyncio
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

HEAD_BYTES = 32 * 1024
"""Request line and headers together; also what is read away of a body that nobody wanted."""
HEAD_S = 10.0
"""A connection must have sent a whole head within so long of its first byte, or of its opening."""

SEND_S = 30.0
"""A reader that has not taken what waits for it within so long is cut off."""

ABORT = "covey.abort"
"""Where the scope of a request has what drops its connection at once."""
CLOSING = "covey.closing"
"""Where the scope of a request has what says whether its connection ends or has ended."""

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as Base
else:
    Base = object


class Impatient(Base):
    """Mixed into either of uvicorn's protocols. A new `cycle` is a request whose head has come."""

    _deadline: asyncio.TimerHandle | None = None
    _patience: asyncio.TimerHandle | None = None
    _head_bytes = 0

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._expect_nothing()
        self._taken()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what belongs to no request yet."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._expect_nothing()
            scope: dict[str, Any] = self.cycle.scope  # type: ignore[assignment]  # ours joins the server's own
            scope[ABORT], scope[CLOSING] = self.transport.abort, self.transport.is_closing
        elif _over(before):
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self._cut_off()
            elif self._deadline is None:
                self._expect()

    def pause_writing(self) -> None:
        """Too much waits for the reader: it may take its time with that, but not for ever.

        To close in good order would be to wait for that reader; so the connection is dropped.
        """
        super().pause_writing()
        self._patience = self.loop.call_later(SEND_S, self.transport.abort)

    def resume_writing(self) -> None:
        """It has been taken."""
        self._taken()
        super().resume_writing()

    def _taken(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _expect(self) -> None:
        self._deadline = self.loop.call_later(HEAD_S, self._cut_off)

    def _expect_nothing(self) -> None:
        self._head_bytes = 0
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _cut_off(self) -> None:
        self._expect_nothing()
        self.timeout_keep_alive_handler()

    def timeout_keep_alive_handler(self) -> None:
        """Close it, and do not wait for a peer that takes nothing."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        super().timeout_keep_alive_handler()


def _over(cycle: Any) -> bool:
    """Whether no request is being answered."""
    return cycle is None or cycle.response_complete


@cache
def impatient_protocol() -> type[asyncio.Protocol]:
    """The protocol class to serve with: on httptools where it is installed, else on h11. Imports only the one it uses."""
    if find_spec("httptools") is not None:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol  # noqa: PLC0415 - only the one that is used

        return type("ImpatientHttpTools", (Impatient, HttpToolsProtocol), {})
    from uvicorn.protocols.http.h11_impl import H11Protocol  # noqa: PLC0415 - as above

    return type("ImpatientH11", (Impatient, H11Protocol), {})
