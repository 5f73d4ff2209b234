"""News for clients that asked for them: events of the fleet become `updated` notices of what each caller may see. It sends no contents.

One reader for all desks, and none while nobody listens. Notices may be lost; what they are about is read from the store.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Protocol

from covey.agents.model import Caller
from covey.doors.door import FleetDoor
from covey.mcp.desk import Desk
from covey.mcp.resources import INBOX, ROSTER
from covey.messages import seeing
from covey.store import events
from covey.store.events import Bookmark, Event

log = logging.getLogger("covey.mcp")

STILL_S = 5.0
"""So often it is seen that nobody listens any more."""
AGAIN_S = 2.0
_ROSTER_KINDS = ("agent.added", "agent.removed", "agent.paused", "agent.stopped", "agent.resumed")
_ARRIVED = frozenset({"delivered", "held"})


def touched(event: Event, by: Caller) -> Iterator[str]:
    """The addresses of what an event has changed, as far as this caller may see it. Pure."""
    if not seeing.event(event, by):
        return
    if event.kind in ("message.sent", "message.delivered"):
        if event.data.get("to", {}).get(by.name) in _ARRIVED:
            yield INBOX
        if thread := event.data.get("thread"):
            yield f"covey://threads/{thread}"
    elif event.kind.startswith("message.") and event.agent == by.name:
        yield INBOX
    elif event.kind.startswith("task.") and event.subject is not None:
        yield f"covey://tasks/{event.subject}"
    elif event.kind in _ROSTER_KINDS:
        yield ROSTER


def changes_tools(event: Event) -> bool:
    """Whether an event changes what tools are listed: they name the agents. Pure."""
    return event.kind in ("agent.added", "agent.removed")


class Taken(Protocol):
    """Where the desks are."""

    begun: asyncio.Event
    """Set whenever a client begins to listen."""

    def taken(self) -> list[Desk]:
        """Those that there are now."""
        ...


class Follower:
    """Reads the events on, and tells the desks that listen."""

    def __init__(self, door: FleetDoor, desks: Taken) -> None:
        self._door = door
        self._desks = desks

    @asynccontextmanager
    async def beside(self) -> AsyncIterator[None]:
        """Tell them meanwhile."""
        going = asyncio.create_task(self.go_on())
        try:
            yield
        finally:
            going.cancel()
            await asyncio.wait({going})

    async def go_on(self) -> None:
        """Until cancelled. A store that can't be had is asked again later. The blanket except of a loop."""
        while True:
            await self._desks.begun.wait()
            self._desks.begun.clear()
            try:
                await self._while_somebody_listens()
            except Exception:
                log.warning("news for MCP clients could not be read; they are read on in %g s", AGAIN_S, exc_info=True)
                await asyncio.sleep(AGAIN_S)
                self._desks.begun.set()

    async def _while_somebody_listens(self) -> None:
        at = await self._door.store.read(events.last)
        while self._listeners():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._door.news.beyond(at), STILL_S)
            at = await self._one_page(at)

    def _listeners(self) -> bool:
        return any(desk.is_followed for desk in self._desks.taken())

    async def _one_page(self, at: Bookmark) -> Bookmark:
        page = await self._door.store.read(events.after, at, limit=500)
        for event in page.events:
            for desk in self._desks.taken():
                if desk.is_followed:
                    await desk.tell(set(touched(event, desk.by)), tools=changes_tools(event))
        return page.bookmark
