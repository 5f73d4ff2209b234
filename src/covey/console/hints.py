"""Hints that something has happened: one reader of the fleet's story for all browsers, told in a few words, never in content.

A hint names the kinds, agents and ids of the events of a quarter of a second. It may be lost: its number shows a gap, and who missed one
looks at everything anew (resync). Numbers count within an epoch, which is one life of this process.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from covey.doors.door import FleetDoor
from covey.doors.news import first_of
from covey.store import events
from covey.store.events import Bookmark, Event

log = logging.getLogger("covey.console")

GATHER_S = 0.25
"""Events of so long a time are told in one hint."""
KEPT = 240
"""So many hints can be made good to a browser that comes back: a minute of a busy fleet."""
NAMED = 64
"""A hint that would name more agents or ids than this names none, and means all."""
BATCH = 500
TROUBLE_S = 2.0
LOOK_S = 30.0


class Hint(NamedTuple):
    """One hint, its number in this epoch, and how it stands on the wire."""

    number: int
    text: bytes


class Ear:
    """One browser's place in the hints."""

    def __init__(self, hints: Hints, since: str) -> None:
        self._hints = hints
        self._since = since
        self._at: int | None = None
        self._wake = asyncio.Event()

    def take(self) -> bytes:
        """What there is to tell since the last time; nothing if nothing has happened, or nobody looks yet."""
        self._wake.clear()
        if not self._hints.follows:
            return b""
        hello = b""
        if self._at is None:
            known = self._hints.number_in(self._since)
            hello = self._hints.hello(resync=bool(self._since) and known is None)
            self._at = self._hints.last if known is None else known
        found = self._hints.after(self._at)
        self._at = self._hints.last
        return hello + (self._hints.hello(resync=True) if found is None else b"".join(hint.text for hint in found))

    def prick(self) -> None:
        """There is something to take."""
        self._wake.set()

    async def hears(self, timeout_s: float) -> bool:
        """Wait for something to take; whether there is, before the time is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._wake.wait()
                return True
        return False


class Hints:
    """Follows the story while anybody listens, and tells all who do. `before` is called with what happened before a hint tells it."""

    def __init__(self, door: FleetDoor, edition: str, before: Callable[[Sequence[Event]], None]) -> None:
        self.epoch = secrets.token_hex(6)
        self.last = 0
        self.follows = False
        """Whether whatever happens from now on is told."""
        self._edition = edition
        self._door = door
        self._before = before
        self._kept: deque[Hint] = deque(maxlen=KEPT)
        self._ears: set[Ear] = set()
        self._following: asyncio.Task[None] | None = None

    @property
    def ears(self) -> int:
        """How many browsers listen."""
        return len(self._ears)

    def join(self, since: str) -> Ear:
        """One more browser listens, from after the hint whose id it saw last."""
        ear = Ear(self, since)
        self._ears.add(ear)
        if self._following is None or self._following.done():
            self._following = asyncio.create_task(self._follow())
        return ear

    def leave(self, ear: Ear) -> None:
        """It listens no more."""
        self._ears.discard(ear)

    def number_in(self, since: str) -> int | None:
        """The number in an id, if it is of this epoch and nothing after it is lost."""
        epoch, _, number = since.partition(".")
        if epoch != self.epoch or not number.isdecimal() or len(number) > 15:
            return None
        return int(number) if int(number) <= self.last and self.after(int(number)) is not None else None

    def after(self, at: int) -> Sequence[Hint] | None:
        """The hints after this number; None if some of them are no longer kept."""
        if at == self.last:
            return ()
        if not self._kept or self._kept[0].number > at + 1:
            return None
        return [hint for hint in self._kept if hint.number > at]

    def hello(self, *, resync: bool) -> bytes:
        """What a stream begins with, and goes on with after a gap."""
        body = {"epoch": self.epoch, "number": self.last, "resync": resync, "edition": self._edition}
        return b"event: hello\n" + self._written(body)

    def _written(self, body: dict[str, Any]) -> bytes:
        return b"id: %s.%d\ndata: %s\n\n" % (self.epoch.encode(), self.last, msgspec.json.encode(body))

    async def _follow(self) -> None:
        """Follow the story until nobody listens or the door closes. The blanket except of a loop."""
        at: Bookmark | None = None
        closing = self._door.closing
        while self._ears and not closing.is_set():
            try:
                at = await (self._begin() if at is None else self._round(at))
            except Exception:
                log.warning("the story can't be read for the console; the next look comes in %g s", TROUBLE_S, exc_info=True)
                await first_of(closing.wait(), timeout_s=TROUBLE_S)
        self.follows = False
        self._prick()

    async def _begin(self) -> Bookmark:
        """From where on it is told. What happened while nobody listened is not: whoever comes back looks at everything."""
        at = await self._door.store.read(events.last)
        self._before(())
        self._kept.clear()
        self.last += 1
        self.follows = True
        self._prick()
        return at

    async def _round(self, at: Bookmark) -> Bookmark:
        """Tell what comes next."""
        store, closing = self._door.store, self._door.closing
        await first_of(self._door.news.beyond(at), closing.wait(), timeout_s=LOOK_S)
        page = await store.read(events.after, at, limit=BATCH)
        if page.events:
            self._tell(page.events)
            await first_of(closing.wait(), timeout_s=GATHER_S)
        return page.bookmark

    def _tell(self, found: Sequence[Event]) -> None:
        self._before(found)
        self.last += 1
        self._kept.append(Hint(self.last, self._written({"number": self.last, **told(found)})))
        self._prick()

    def _prick(self) -> None:
        for ear in self._ears:
            ear.prick()


def told(found: Sequence[Event]) -> dict[str, list[str] | None]:
    """What a hint says of these events: their kinds, and whom and what they are about; None where that would be too many. Pure."""
    return {
        "kinds": sorted({each.kind for each in found}),
        "agents": _few({each.agent for each in found if each.agent}),
        "subjects": _few({each.subject for each in found if each.subject}),
    }


def _few(names: set[str]) -> list[str] | None:
    return sorted(names) if len(names) <= NAMED else None
