"""Wakes those who wait for something to happen in the fleet: one look a second at the last event, and a bell that makes it sooner.

However many wait, it is one query; while nobody waits, it is none. It reads no event: whoever is woken reads from its own bookmark.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from covey.store import Store, events
from covey.store.bell import NEWS
from covey.store.events import START, Bookmark

log = logging.getLogger("covey.doors")

LOOK_S = 1.0


class News:
    """The last event that was seen, and who waits for the next one."""

    def __init__(self, store: Store, bell: str | None = NEWS) -> None:
        self._store = store
        self._bell = bell
        self._last = START
        self.awaited = 0
        """How many wait."""
        self._more = asyncio.Event()
        self._rung = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None

    async def beyond(self, bookmark: Bookmark) -> None:
        """Return once there is an event after this bookmark."""
        self.awaited += 1
        try:
            if self._looking is None or self._looking.done():
                self._looking = asyncio.create_task(self._look_on())
            while self._last <= bookmark:
                await self._more.wait()
        finally:
            self.awaited -= 1

    async def _look_on(self) -> None:
        stop_listening = self._listen()
        try:
            while self.awaited:
                await self._look()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._rung.wait(), LOOK_S)
                self._rung.clear()
        finally:
            stop_listening()

    def _listen(self) -> Callable[[], None]:
        """Hear the bell; without it the look each second is enough."""
        if self._bell is None:
            return lambda: None
        try:
            return self._store.bell.listen(self._bell, self._rung.set)
        except OSError:
            log.warning("the bell can't be heard; news come with each look, a second apart", exc_info=True)
            return lambda: None

    def close(self) -> None:
        """Look no more."""
        if self._looking is not None:
            self._looking.cancel()

    async def _look(self) -> None:
        try:
            last = await self._store.read(events.last)
        except Exception:
            log.warning("the store can't be read for news; the next look comes in a second", exc_info=True)
            return
        if last > self._last:
            self._last = last
            self._more.set()
            self._more.clear()


async def first_of(*waits: Coroutine[Any, Any, Any], timeout_s: float) -> None:
    """Return when the first of these waits is over, or after so long; the others are cancelled."""
    tasks = [asyncio.create_task(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
