"""One run: a brain at work on one thing, until it answers or is ended for one stated reason (K4a, K7). It reads and writes no store."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from covey.base.clock import Clock
from covey.base.ending import end
from covey.base.errors import CoveyError
from covey.brains.model import Brain, Outcome, Turn, failure
from covey.runner.hands import RunHands
from covey.runner.work import Work

Reason = Literal["lost", "stopped", "shutdown", "timeout", "silent", "split"]
BRIEF_S = 0.05
"""A brain that has answered by then is watched by no timer, each of which costs more than a short turn itself."""
MARGIN_S = 5.0
"""How long after the grace a brain may still take to be gone, before it counts as one that can't be ended."""


class Bounds(NamedTuple):
    """How long a run may take, how long it may be silent (None: for ever), how long its ending may take."""

    limit_s: float
    silence_s: float | None
    grace_s: float


class Unended(Exception):
    """The brain was told to end and did not: only the end of the whole process ends it, and until then nobody may take its work."""


class Run:
    """A brain at work on one thing."""

    def __init__(self, work: Work, hands: RunHands) -> None:
        self.work = work
        self.hands = hands
        self.over = asyncio.Event()
        """Set once its work is settled, given back or dropped."""
        self.returned = False
        self.incident: str | None = None
        """The incident of a task that takes too long."""
        self.instead: Outcome | None = None
        """The parts that stand for a task whose attempt was ended for them (H3)."""
        self._ending: asyncio.Future[Reason] = asyncio.get_running_loop().create_future()
        self._grace_s: float | None = None

    def end(self, reason: Reason, grace_s: float | None = None) -> None:
        """Have it end for this reason; the first one counts. `grace_s` may shorten the time that its ending takes."""
        if not self._ending.done():
            self._grace_s = grace_s
            self._ending.set_result(reason)

    @property
    def ended_by(self) -> Reason | None:
        """Why it is to end, if it is."""
        return self._ending.result() if self._ending.done() else None

    @property
    def parts(self) -> Outcome | None:
        """What stands for its task, if it was ended for that."""
        return self.instead if self.ended_by == "split" else None

    async def think(
        self, brain: Brain, turn: Turn, bounds: Bounds, clock: Clock, *, not_brief: Callable[[], None] | None = None
    ) -> Outcome | None:
        """The brain's outcome, a failed one at its time limit; None if it was ended since its work is to be given back or dropped.

        `not_brief` is called if it has not answered at once.

        Raises:
            Unended: It could not be ended.
        """
        thinking = asyncio.ensure_future(brain.think(turn, self.hands))
        until = clock.boot() + bounds.limit_s
        timer: asyncio.Future[None] | None = None
        try:
            both: set[asyncio.Future[Any]] = {thinking, self._ending}
            answered, _ = await asyncio.wait(both, timeout=BRIEF_S, return_when=asyncio.FIRST_COMPLETED)
            if not answered:
                timer = asyncio.ensure_future(self._keep_time(bounds, clock, until))
                if not_brief is not None:
                    not_brief()
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if thinking.done():
                return outcome_of(thinking)
            await self._end_thinking(thinking, bounds, clock)
        finally:
            if timer is not None:
                timer.cancel()
            thinking.cancel()
        if self.ended_by == "timeout":
            return failure(f"the brain did not end within {bounds.limit_s:g} s and was ended")
        if self.ended_by == "silent":
            return failure(f"the brain gave no sign of progress for {bounds.silence_s:g} s and was ended")
        return None

    async def _keep_time(self, bounds: Bounds, clock: Clock, until: float) -> None:
        while True:
            now = clock.boot()
            silent_at = self.hands.quiet_since + bounds.silence_s if bounds.silence_s is not None else until + 1
            if now >= min(until, silent_at):
                self.end("timeout" if now >= until else "silent")
                return
            await clock.sleep(min(until, silent_at) - now)

    async def _end_thinking(self, thinking: asyncio.Future[Outcome], bounds: Bounds, clock: Clock) -> None:
        """End the brain. It ends its own processes within the grace; what it has left by then is struck from here."""
        grace_s = bounds.grace_s if self._grace_s is None else min(self._grace_s, bounds.grace_s)
        thinking.cancel()
        await asyncio.wait({thinking}, timeout=grace_s)
        if not thinking.done() and self.hands.process is not None:
            await end(self.hands.process, run_id=self.work.run_id, pgid=self.hands.pgid, grace_s=0.0, clock=clock)
        if not thinking.done():
            await asyncio.wait({thinking}, timeout=MARGIN_S)
        if not thinking.done():
            raise Unended


def outcome_of(thinking: asyncio.Future[Outcome]) -> Outcome:
    """What the brain answered; an exception is a failed attempt with its type, words and last frames."""
    if thinking.cancelled():
        return failure("the brain was cancelled")
    error = thinking.exception()
    if error is None:
        return thinking.result()
    frames = "".join(traceback.format_tb(error.__traceback__)[-3:])
    said = "".join(traceback.format_exception_only(error)).strip()
    permanent = isinstance(error, CoveyError) and error.code in ("invalid", "misconfigured")
    not_started = isinstance(error, CoveyError) and error.code == "misconfigured"
    return failure(f"{said[:4000]}\n{frames}".strip(), permanent=permanent, not_started=not_started)
