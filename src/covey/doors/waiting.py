"""A call that waits: tried at once, and again whenever something happened, until it has what it waits for or its time is over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from covey.doors.door import FleetDoor
from covey.doors.news import first_of
from covey.store import events

T = TypeVar("T")


class Waiter(Protocol):
    """Who waits, and may leave meanwhile."""

    @property
    def left(self) -> bool:
        """Whether it has left: nobody hears what comes of the call."""
        ...

    async def gone(self) -> None:
        """Return once it has left."""
        ...


async def until(door: FleetDoor, attempt: Callable[[], Awaitable[T]], over: Callable[[T], bool], wait_s: float, waiter: Waiter) -> T:
    """What the attempt gives once it is over, or as it stands when the time is over, the waiter has left, or the door closes.

    Nothing is attempted for who has left: it would be given something that nobody hears of.
    """
    now = asyncio.get_running_loop().time
    end = now() + wait_s
    while True:
        bookmark = await door.store.read(events.last) if wait_s else None
        found = await attempt()
        rest = end - now()
        if over(found) or bookmark is None or rest <= 0 or door.closing.is_set():
            return found
        await first_of(door.news.beyond(bookmark), door.closing.wait(), waiter.gone(), timeout_s=rest)
        if waiter.left:
            return found
