"""Rounds that repeat. A loop is `every(interval, one_round)`; a test calls the round itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from covey.base.clock import Clock

log = logging.getLogger("covey.loops")


async def every(interval_s: float, one_round: Callable[[], Awaitable[object]], clock: Clock, name: str = "") -> None:
    """Call `one_round` again and again, when the time is a multiple of `interval_s`, until cancelled.

    So loops of one process that have something to do at about the same time wake it once. An error of a round is logged and the next
    round runs all the same: this is one of the two places of a blanket except.
    """
    while True:
        try:
            await one_round()
        except Exception:
            log.exception("a round of %s failed; the next one runs in %s s", name or one_round, interval_s)
        await clock.sleep(pause_s(interval_s, clock.boot()))


def pause_s(interval_s: float, now: float) -> float:
    """How long until the next multiple of the interval, but one that is so near that there would be hardly a pause. Pure."""
    left = interval_s - now % interval_s
    return left if left >= interval_s / 8 else left + interval_s


class Apart:
    """Things done side by side, each under a name: what is still at it is left alone, so that one that hangs or fails holds up no other."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._at_it: dict[str, asyncio.Task[None]] = {}

    async def round(self, jobs: Mapping[str, Callable[[], Coroutine[Any, Any, None]]], wait_s: float) -> None:
        """Begin each job that is not still at it, and wait for all, but no longer than this."""
        self._at_it = {name: task for name, task in self._at_it.items() if not task.done()}
        for name, job in jobs.items():
            if name not in self._at_it:
                self._at_it[name] = asyncio.create_task(self._guarded(name, job))
        if self._at_it:
            await asyncio.wait(self._at_it.values(), timeout=wait_s)

    async def _guarded(self, name: str, job: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await job()
        except Exception:
            log.exception("the %s %s failed; the next round comes", self._what, name)
