"""A call that waits for something to end: looked at once, and again whenever something happened, until its time is over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from covey.api.shapes import WaitQuery
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.news import first_of
from covey.store import Transaction, events
from covey.store.events import Bookmark

P = ParamSpec("P")


class Ending(Protocol):
    """What goes on until it ends: a task, a vote, a handoff, a team run."""

    @property
    def is_open(self) -> bool:
        """Whether it has not ended yet."""
        ...


E = TypeVar("E", bound=Ending)
Q = TypeVar("Q", bound=WaitQuery)


async def once_ended(call: Call[Q, Any], verb: Callable[Concatenate[Transaction, P], E], *args: P.args, **kwargs: P.kwargs) -> Answer:
    """What the verb shows once it is not open any more, or as it stands when the time is over, the caller has left or the door closes."""
    door, now = call.door, asyncio.get_running_loop().time
    until = now() + call.query.wait

    def look(tx: Transaction) -> tuple[E, Bookmark]:
        return verb(tx, *args, **kwargs), events.last(tx)

    while True:
        found, bookmark = await door.store.read(look)
        left = until - now()
        if not found.is_open or left <= 0 or call.left or door.closing.is_set():
            return shown(found)
        await first_of(door.news.beyond(bookmark), door.closing.wait(), call.gone(), timeout_s=left)
