"""An agent's lanes: each takes the next thing, has the brain do it, and settles it or gives it back, again and again (M3, K4).

What comes next is taken in the commit that settles. Heartbeats, flags and lost leases are the runner's, which ends runs by them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from covey.base.errors import Conflict, CoveyError, Gone, LeaseLost, StoreBusy, StoreUnavailable
from covey.base.ports import EX_OWN_INSTANCE
from covey.base.rings import mail_of, tasks_of
from covey.brains.model import Outcome, Turn, failure
from covey.runner import holding, overdue, settling
from covey.runner.hands import RunHands
from covey.runner.overdue import Beside
from covey.runner.place import Place
from covey.runner.run import MARGIN_S, Bounds, Reason, Run, Unended
from covey.runner.taking import take
from covey.runner.traced import invoking, processing
from covey.runner.turning import turn_of
from covey.runner.watchdog import EX_HUNG
from covey.runner.work import Lane, Limits, Work

log = logging.getLogger("covey.runner")
T = TypeVar("T")
Next = tuple[Work | None, Turn | None]
"""What was taken, and the turn for it if it could be read along with it."""
NOTHING: Next = None, None
BELLS: dict[Lane, Callable[[str], str]] = {"mail": mail_of, "task": tasks_of}
"""What is rung when there is something for an agent in a lane."""

TRY_AGAIN_S = 1.0
"""How long between tries of a write that must not be lost, while the store can't be had."""


class Lanes:
    """All lanes of an agent. `trouble` is told when the store can't be had."""

    def __init__(self, place: Place, trouble: Callable[[CoveyError], None]) -> None:
        self.runs: dict[str, Run] = {}
        """The brains at work, by the ids of their runs."""
        self.stopped = False
        """Whether the agent is stopped, so that nothing may begin."""
        self._at = place
        self._trouble = trouble
        self._limits = Limits.of(place.settings, place.agent)
        self._turn = partial(turn_of, estimate_s=place.settings.estimate_s, hard_cap_s=place.settings.hard_cap_s)
        self._ready: dict[Lane, list[asyncio.Event]] = {"mail": [], "task": []}
        """For each lane of a kind whether something may be ready that it has not looked for."""
        self._drained_by: float | None = None
        self._lanes: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to work. An external agent has no lanes, a command brain one for its tasks (K4a)."""
        agent, kind = self._at.agent, self._at.brain.kind
        if kind == "external":
            return
        tasks = 1 if kind == "command" else agent.task_lanes
        self._ready = {"mail": _events(agent.message_lanes), "task": _events(tasks)}
        self._lanes = [asyncio.create_task(self._lane(lane, ready)) for lane, each in self._ready.items() for ready in each]

    def wake(self, *lanes: Lane) -> None:
        """Something may be ready there."""
        for lane in lanes:
            for ready in self._ready[lane]:
                ready.set()

    @property
    def draining(self) -> bool:
        """Whether nothing more is taken, for the process ends."""
        return self._drained_by is not None

    def end(self, reason: Reason, grace_s: float | None = None) -> list[Run]:
        """End all brains at work, for this reason; their runs."""
        found = list(self.runs.values())
        for run in found:
            run.end(reason, grace_s)
        return found

    def lost(self, run_ids: list[str] | frozenset[str]) -> None:
        """The leases of these runs are lost: their brains end, what they say is dropped."""
        for run_id in run_ids:
            if run_id in self.runs:
                self.runs[run_id].end("lost")

    async def stop(self) -> None:
        """Take nothing more, end the brains, give their work back."""
        bound_s = self._at.settings.grace_s + 2 * MARGIN_S
        self._drained_by = self._at.clock.boot() + bound_s
        self.end("shutdown")
        self.wake("mail", "task")
        if self._lanes:
            await asyncio.wait(self._lanes, timeout=bound_s)
        for lane in self._lanes:
            lane.cancel()
        await asyncio.gather(*self._lanes, return_exceptions=True)

    async def _lane(self, lane: Lane, ready: asyncio.Event) -> None:
        """Take, think, settle, again and again; what comes next is taken in the commit that settles."""
        work, turn = NOTHING
        while work is not None or not self.draining:
            if work is None:
                work, turn = await self._guarded(self._next(lane, ready))
            if work is not None:
                work, turn = await self._guarded(self._do(work, turn, ready))

    async def _next(self, lane: Lane, ready: asyncio.Event) -> Next:
        """What is taken once there may be something: in the very commit that rang for it, if this process made that."""
        attendant = self._at.store.attend(BELLS[lane](self._at.agent.id), take, self._turn, *self._taking(lane))
        attendant.when_answered(ready.set)
        try:
            await ready.wait()
            ready.clear()
        finally:
            has_left = attendant.leave()
        if not has_left:
            found = await attendant.answer()
            if found[0] is None:
                ready.set()
            return found
        return await self._take(lane) if not self.draining else NOTHING

    async def _take(self, lane: Lane) -> Next:
        return await self._at.store.write_and_look(take, self._turn, *self._taking(lane))

    def _taking(self, lane: Lane) -> tuple[str, Lane, str, int, Limits]:
        """What `take` is to be given."""
        return self._at.agent.id, lane, self._at.node, self._at.pid, self._limits

    async def _guarded(self, step: Awaitable[Next]) -> Next:
        """The step's answer; an error is logged and the lane goes on, after the next poll."""
        try:
            return await step
        except (StoreBusy, StoreUnavailable) as error:
            self._trouble(error)
        except LeaseLost as error:
            log.warning("%s: %s", self._at.agent.id, error.message)
        except Conflict as error:
            self._at.leave(error.message, EX_OWN_INSTANCE)
        except Exception:
            log.exception("%s: a lane failed; it goes on", self._at.agent.id)
        return NOTHING

    async def _do(self, work: Work, turn: Turn | None, ready: asyncio.Event) -> Next:
        """Have the brain do it, then settle it or give it back; what was taken in the same commit, if anything."""
        run = Run(work, RunHands(self._at.store, work, self._at.clock))
        self.runs[work.run_id] = run
        if self.draining or self.stopped:
            run.end("shutdown" if self.draining else "stopped")
        at_work = False
        try:
            with processing(self._at.store.spans, work) as watched:
                outcome = watched.outcome = await self._outcome_of(run, turn)
                if outcome is not None:
                    return await self._settle(run, outcome, ready)
                run.returned = await self._kept_on(lambda: self._let_go(run))
        except Unended:
            at_work = True  # and so it is never taken for forgotten: who comes after this process frees its work
            why = f"the brain of {self._at.agent.id} could not be ended ({run.ended_by}); the process goes, and it with it"
            self._at.leave(why, EX_HUNG)
        finally:
            if not at_work:
                del self.runs[work.run_id]
            run.over.set()
        return NOTHING

    async def _outcome_of(self, run: Run, turn: Turn | None) -> Outcome | None:
        """What the brain makes of it; None if its work is to be given back or dropped.

        Raises:
            Unended: The brain could not be ended.
        """
        try:
            turn = turn or await self._kept_on(lambda: self._begin(run), run)
        except (StoreBusy, StoreUnavailable, LeaseLost):
            run.end("lost")
            return None
        except Gone:
            run.end("shutdown")
            return None
        except Exception as error:
            log.exception("%s: the turn for %s could not be made", self._at.agent.id, run.work.item)
            return failure(f"its turn could not be made: {type(error).__name__}: {error}")
        if run.ended_by is not None or turn is None:
            return None
        own, cap = self._at.agent.brain, self._at.settings.hard_cap_s
        silence_s = self._at.settings.idle_timeout_s if own.promises_progress else None
        turn.deadline_s = min(turn.deadline_s or cap, own.timeout_s or cap)
        beside = Beside(self._at, run, turn) if run.work.task is not None else None
        try:
            with invoking(self._at.store.spans, run.work, self._at.agent) as watched:
                bounds = Bounds(turn.deadline_s, silence_s, self._at.settings.grace_s)
                begin = beside.begin if beside is not None else None
                outcome = watched.outcome = await run.think(self._at.brain, turn, bounds, self._at.clock, not_brief=begin)
        finally:
            if beside is not None:
                await beside.stop()
        return outcome or run.parts

    async def _begin(self, run: Run) -> Turn | None:
        """The turn; None if it is to end already."""
        if run.ended_by is not None:
            return None
        return await self._at.store.read(self._turn, run.work)

    async def _settle(self, run: Run, outcome: Outcome, ready: asyncio.Event) -> Next:
        """Store the outcome, or why it can't be; what comes next. Dropped if its lease is lost."""
        if not self.draining:
            ready.clear()  # what rang until now was committed, so the commit that settles finds it
        try:
            try:
                return await self._kept_on(lambda: self._write(run, outcome))
            except (Conflict, StoreBusy, StoreUnavailable):
                raise
            except Exception as error:
                log.exception("%s: the outcome of %s was refused", self._at.agent.id, run.work.item)
                refused = failure(f"its outcome could not be stored: {error}")
                return await self._kept_on(lambda: self._write(run, refused))
        except LeaseLost as lost:
            log.warning("%s: %s", self._at.agent.id, lost.message)
            await self._kept_on(lambda: self._at.store.write(holding.drop, run.work))
            ready.set()
            return NOTHING

    async def _write(self, run: Run, outcome: Outcome) -> Next:
        if run.incident is not None:
            at, timed_out = self._at, run.ended_by in ("timeout", "silent")
            return await at.store.write_and_look(
                overdue.settle,
                self._turn,
                *(run.incident, run.work, outcome, self._limits, at.node, at.pid),
                timed_out=timed_out,
                take=not self.draining,
            )
        if self.draining:
            await self._at.store.write(settling.settle, run.work, outcome, self._limits, self._at.pid)
            return NOTHING
        at = self._at
        return await at.store.write_and_look(settling.settle_and_take, self._turn, run.work, outcome, self._limits, at.node, at.pid)

    async def _let_go(self, run: Run) -> bool:
        """Give its work back, or drop it; whether it went back."""
        if run.ended_by == "lost":
            await self._at.store.write(holding.drop, run.work)
            return False
        return await self._at.store.write(holding.give_back, run.work, str(run.ended_by))

    async def _kept_on(self, step: Callable[[], Awaitable[T]], run: Run | None = None) -> T:
        """What the step answers, tried again while the store can't be had; not beyond the run's end, if one is given, or the drain's.

        Raises:
            StoreBusy, StoreUnavailable: It could not be had until then.
        """
        while True:
            try:
                return await step()
            except (StoreBusy, StoreUnavailable) as error:
                self._trouble(error)
                over = run is not None and run.ended_by is not None
                if over or (self._drained_by is not None and self._at.clock.boot() > self._drained_by):
                    raise
                await self._at.clock.sleep(TRY_AGAIN_S)


def _events(count: int) -> list[asyncio.Event]:
    return [asyncio.Event() for _ in range(count)]
