"""A fleet's API as an address: where it is, and what its calls look like. Knows no connection."""

from __future__ import annotations

import os

from covey.base import tracing
from covey.base.errors import NotRunning
from covey.base.roundtrip import RoundTrip
from covey.base.target import target_of


class Place:
    """A fleet's API: where it is, and what its calls look like."""

    def __init__(self, url: str, field: str = "url") -> None:
        self.url = url
        self.target = target_of(url, field)
        self._prefix = self.target.path.partition("?")[0].rstrip("/")

    def trip(self, method: str, path: str, token: str, body: bytes = b"", **headers: str) -> RoundTrip:
        """A call with its token, in the caller's span. A header `Idempotency-Key` is given as `idempotency_key`."""
        said = {name.replace("_", "-").title(): value for name, value in headers.items() if value}
        kind = {"Content-Type": "application/json"} if method == "POST" else {}
        trace = tracing.current() or tracing.inherited(os.environ)
        within = {"Traceparent": trace.header} if trace is not None else {}
        return RoundTrip(self.target, method, self._prefix + path, {"Authorization": f"Bearer {token}", **kind, **within, **said}, body)

    def lost(self, error: OSError) -> NotRunning:
        """The error for a connection that could not be had, or broke."""
        why = error.strerror or str(error) or type(error).__name__
        return NotRunning(f"{self.url} can't be reached ({why}); is the fleet up there, and the address right?")
