"""The fleet's story as it is told over a connection: bytes in, events out. Knows no connection."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from covey.base.errors import Failed

LINE_BYTES = 4 * 1024 * 1024
"""A line may be so long at most."""
FIRST_S, LONGEST_S = 0.5, 30.0


PLACE = ""
"""The kind of what tells nothing but where to go on from."""


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
        """The events that are whole with this part.

        Raises:
            Failed: It is no event stream.
        """
        *lines, self._rest = (self._rest + part).split(b"\n")
        if len(self._rest) > LINE_BYTES:
            raise Failed(f"a line of the event stream is longer than {LINE_BYTES:,} bytes; is the address that of a fleet's API?")
        for line in lines:
            if line.rstrip(b"\r"):
                name, _, value = line.rstrip(b"\r").partition(b":")
                self._fields[name] = value.removeprefix(b" ")
            elif self._fields:
                found, self._fields = self._fields, {}
                cursor = found[b"id"].decode() if b"id" in found else None
                if b"data" in found:
                    yield Told(found.get(b"event", b"message").decode(), cursor, msgspec.json.decode(found[b"data"]))
                elif cursor is not None:
                    yield Told(PLACE, cursor, {})


class Event(NamedTuple):
    """One line of the fleet's story.

    Kind `resync` is none of the story's: events before it were missed, since they are no longer kept; what was built from the
    story must be read anew.
    """

    cursor: str
    kind: str
    at: float | None = None
    agent: str | None = None
    subject: str | None = None
    """The id of what it is about."""
    data: dict[str, Any] = {}  # noqa: RUF012 - a tuple's default, which nobody changes


class Following:
    """Where a reader of the story is, over connections that break: it loses nothing and reads nothing twice. No I/O."""

    def __init__(self, since: str | None) -> None:
        self.since = since
        self._reader = Reader()
        self._failures = 0

    def begun(self) -> None:
        """A new connection is made: what was half said on the old one is said again."""
        self._reader = Reader()

    def read(self, part: bytes) -> Iterator[Event]:
        """The events that are whole with this part."""
        for told in self._reader.feed(part):
            self._failures = 0
            self.since = told.cursor or self.since
            if told.kind not in (PLACE, "end"):
                yield event_of(told)

    def pause_s(self) -> float:
        """How long to wait before the next connection: twice as long each time that nothing came, with a part of chance."""
        self._failures += 1
        longest: float = min(FIRST_S * 2.0 ** min(self._failures - 1, 10), LONGEST_S)
        return longest * random.SystemRandom().uniform(0.5, 1.0)  # a program's own seeded sequence is not ours to move on


def event_of(told: Told) -> Event:
    """The event of what a stream told. Pure."""
    rest = dict(told.data)
    cursor = str(rest.pop("cursor", told.cursor or ""))
    kind = rest.pop("kind", told.kind) if told.kind == "message" else told.kind
    return Event(cursor, kind, rest.pop("at", None), rest.pop("agent", None), rest.pop("subject", None), rest)
