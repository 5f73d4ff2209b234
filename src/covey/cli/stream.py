"""Server-sent events, read as they come: bytes in, events out. Knows no connection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec


class Told(NamedTuple):
    """One event of a stream: its kind (`message` unless named), where to go on from, and what it says."""

    kind: str
    cursor: str | None
    data: Any


class Reader:
    """Puts the lines of a stream together."""

    def __init__(self) -> None:
        self._rest = b""
        self._fields: dict[bytes, bytes] = {}

    def feed(self, part: bytes) -> Iterator[Told]:
        """The events that are whole with this part."""
        *lines, self._rest = (self._rest + part).split(b"\n")
        for line in lines:
            if line.rstrip(b"\r"):
                name, _, value = line.rstrip(b"\r").partition(b":")
                self._fields[name] = value.removeprefix(b" ")
            elif self._fields:
                found, self._fields = self._fields, {}
                if b"data" in found:
                    cursor = found[b"id"].decode() if b"id" in found else None
                    yield Told(found.get(b"event", b"message").decode(), cursor, msgspec.json.decode(found[b"data"]))
