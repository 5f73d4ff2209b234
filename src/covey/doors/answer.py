"""What a handler gives back: a whole answer, or a stream; and the one place where an error becomes an answer (RFC 9457)."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import msgspec

from covey.base.errors import CoveyError, Failed

JSON = b"application/json"
PROBLEM = b"application/problem+json"
TEXT = b"text/plain; charset=utf-8"
HTML = b"text/html; charset=utf-8"
EVENTS = b"text/event-stream"

Headers = tuple[tuple[bytes, bytes], ...]
_encode = msgspec.json.Encoder().encode


class Answer(NamedTuple):
    """A whole answer."""

    status: int
    body: bytes
    media: bytes = JSON
    headers: Headers = ()
    lasts: bool = True
    """Whether an Idempotency-Key stands for it; not if nothing came of the request."""


class Stream(NamedTuple):
    """An answer that goes on for as long as there are parts."""

    parts: AsyncIterator[bytes]
    media: bytes = EVENTS
    headers: Headers = ()


def shown(value: Any, status: int = 200) -> Answer:
    """The value as JSON."""
    return Answer(status, _encode(value))


def problem(error: CoveyError, now: float) -> Answer:
    """The error as a problem object, with the headers that go with its kind. `now` is Unix time, for Retry-After."""
    return problem_of(error.problem(), now)


def problem_of(body: dict[str, Any], now: float) -> Answer:
    """A problem object as an answer."""
    headers: list[tuple[bytes, bytes]] = []
    if body["status"] == 401:
        headers.append((b"www-authenticate", b'Bearer realm="covey"'))
    if "retryAt" in body:
        headers.append((b"retry-after", str(max(1, math.ceil(body["retryAt"] - now))).encode()))
    if "allow" in body:
        headers.append((b"allow", ", ".join(body["allow"]).encode()))
    return Answer(body["status"], _encode(body), PROBLEM, tuple(headers))


def fault(reference: str) -> CoveyError:
    """The error that is shown for one of our own: what happened stands in the log under the reference, not here."""
    return Failed(f"something failed inside Covey; the log has it under the reference {reference}.", reference=reference)
