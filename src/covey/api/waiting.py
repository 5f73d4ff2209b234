"""A call that waits for something to end: looked at once, and again whenever something happened, until its time is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from covey.api.shapes import WaitQuery
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.waiting import until
from covey.store import Transaction

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
    door = call.door
    found = await until(door, lambda: door.store.read(verb, *args, **kwargs), lambda each: not each.is_open, call.query.wait, call)
    return shown(found)
