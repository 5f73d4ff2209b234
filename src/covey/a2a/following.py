"""Follows one exchange: waits for its end, or tells its steps as they come. All who follow it get the same steps in the same order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any

from covey.agents.model import Caller
from covey.doors.door import FleetDoor
from covey.exchanges import reading
from covey.exchanges.model import Exchange, News
from covey.store.events import Bookmark

WAIT_S = 3600.0
"""A call waits so long at most; then it gets the task as it stands."""
LOOK_S = 30.0
"""Whoever hears of nothing looks at the exchange itself that often: its end must not be missed, whatever became of the news."""
ENDS = frozenset({"completed", "failed", "canceled"})


async def settled(door: FleetDoor, found: Exchange, by: Caller, *, history: int | None) -> Exchange:
    """The exchange once it has ended or asks something, or as it stands when the wait is over or the door closes."""
    until = asyncio.get_running_loop().time() + WAIT_S
    while found.is_open and found.phase != "input-required" and not door.closing.is_set():
        left = until - asyncio.get_running_loop().time()
        if left <= 0:
            break
        await something(door, found.bookmark, min(left, LOOK_S))
        found = await door.store.read(reading.show, found.agent, found.task.task_id, by, history=history)
    return found


async def steps(door: FleetDoor, found: Exchange, by: Caller, *, pause_ends: bool) -> AsyncIterator[News]:
    """The steps of an exchange from where it was found, until it ends; or, if `pause_ends`, until it asks something."""
    at, task_id = found.bookmark, found.task.task_id
    while not door.closing.is_set():
        heard = await door.store.read(reading.news, found.agent, task_id, by, at)
        for step in heard.steps:
            if step.first:
                continue
            yield step
            if step.phase in ENDS or (pause_ends and step.phase == "input-required"):
                return
        if heard.bookmark != at:
            at = heard.bookmark
        elif not await something(door, heard.seen, LOOK_S):
            found = await door.store.read(reading.show, found.agent, task_id, by, history=0)
            if not found.is_open:
                yield News(found.bookmark, found.changed_at, found.phase, found.said, done=found.task if found.task.result else None)
                return


async def something(door: FleetDoor, after: Bookmark, timeout_s: float) -> bool:
    """Whether something happened in the fleet, or the door closes, before the time is over."""
    waits: tuple[Coroutine[Any, Any, Any], ...] = (door.news.beyond(after), door.closing.wait())
    tasks = [asyncio.create_task(wait) for wait in waits]
    try:
        done, _ = await asyncio.wait(tasks, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
