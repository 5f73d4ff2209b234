"""One agent at work: its lanes, its heartbeat, its poll. What it takes it settles, gives back, or leaves to its successor (M3, K4)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeVar

from covey.agents import living
from covey.agents.model import Caller
from covey.base.clock import Clock
from covey.base.errors import Conflict, CoveyError, Gone, LeaseLost, StoreBusy, StoreUnavailable
from covey.base.ports import EX_OWN_INSTANCE
from covey.base.settings import AgentSettings, Settings
from covey.brains.model import Brain, Outcome, Turn, failure
from covey.runner import holding, settling
from covey.runner.hands import RunHands
from covey.runner.orphans import Suspect, free_the_gone
from covey.runner.run import MARGIN_S, Bounds, Run, Unended
from covey.runner.standing import Standing, standing
from covey.runner.taking import take
from covey.runner.turning import turn_of
from covey.runner.watchdog import EX_HUNG
from covey.runner.work import Lane, Limits, Work
from covey.store import Store

log = logging.getLogger("covey.runner")
T = TypeVar("T")

POLL_S = 1.0
IDLE_POLL_S = 3.0
STIRRED_S = 90.0
"""An agent of which nothing was heard for so long polls less often: longer than any backoff, so that a retry is not late for it."""
TRY_AGAIN_S = 1.0
"""How long between tries of a write that must not be lost, while the store can't be had."""


class Runner:
    """An agent's lanes in one process. `leave` is called with a reason and an exit code when the process must end."""

    def __init__(
        self,
        *,
        store: Store,
        agent: AgentSettings,
        settings: Settings,
        brain: Brain,
        clock: Clock,
        node: str,
        pid: int,
        sweep: Callable[[], Awaitable[object]],
        leave: Callable[[str, int], None],
    ) -> None:
        self.agent = agent
        self.brain = brain
        self._store = store
        self._settings = settings
        self._clock = clock
        self._node = node
        self._pid = pid
        self._sweep = sweep
        self._leave = leave
        self._limits = Limits.of(settings, agent)
        self._runs: dict[str, Run] = {}
        self._ring = asyncio.Event()
        self._ready: dict[Lane, asyncio.Event] = {"mail": asyncio.Event(), "task": asyncio.Event()}
        self._takes_work = True
        self._stopped = False
        self._drained_by: float | None = None
        self._troubled = False
        self._stirred_at = clock.boot()
        """When there was last anything for it."""
        self._heard_at = clock.boot()
        """When the store last took a heartbeat, and with it renewed all leases."""
        self._lanes: list[asyncio.Task[None]] = []
        self._loops: list[asyncio.Task[None]] = []
        self._stop_listening: Callable[[], None] = lambda: None

    # what the doors ask

    def health(self) -> Literal["healthy", "degraded", "paused"]:
        """How it is, from memory alone (A5)."""
        if self._troubled:
            return "degraded"
        return "healthy" if self._takes_work else "paused"

    def ready(self) -> bool:
        """Whether it takes work."""
        return self._takes_work and not self._troubled and not self._draining

    @property
    def busy(self) -> bool:
        """Whether a brain is at work."""
        return bool(self._runs)

    @property
    def _draining(self) -> bool:
        return self._drained_by is not None

    async def emergency_stop(self, by: Caller, reason: str, grace_s: float | None = None) -> dict[str, Any]:
        """Nothing new is taken, the brains end within the grace, their leases go back (A7).

        Raises:
            Forbidden: The caller is neither the operator nor the lead.
        """
        await self._store.write(living.stop, self.agent.id, by, reason)
        self._takes_work, self._stopped = False, True
        running = list(self._runs.values())
        for run in running:
            run.end("stopped", grace_s)
        overs = [asyncio.ensure_future(run.over.wait()) for run in running]
        if overs:
            await asyncio.wait(overs, timeout=self._settings.grace_s + 2 * MARGIN_S)
        task = next((run for run in running if run.work.task is not None), None)
        return {"stopped": True, "taskId": task.work.item if task else None, "returnedToQueue": bool(task and task.returned)}

    # its life

    async def start(self) -> None:
        """Begin to beat, poll and work."""
        self._stop_listening = self._store.bell.listen(self.agent.id, self._rung)
        self._loops = [asyncio.create_task(self._beat_on()), asyncio.create_task(self._poll_on())]
        if self.brain.kind != "external":
            lanes = [self._lane("mail") for _ in range(self.agent.message_lanes)] + [self._lane("task") for _ in range(self._task_lanes())]
            self._lanes = [asyncio.create_task(lane) for lane in lanes]

    def _task_lanes(self) -> int:
        """A command brain has one lane (K4a)."""
        return 1 if self.brain.kind == "command" else self.agent.task_lanes

    def _rung(self) -> None:
        """Somebody rang: the lanes look at once, the poll soon after."""
        self._stirred_at = self._clock.boot()
        if self._takes_work:
            self._wake("mail", "task")
        self._ring.set()

    def _wake(self, *lanes: Lane) -> None:
        for lane in lanes:
            self._ready[lane].set()

    async def stop(self) -> None:
        """Take nothing more, end the brains, give their work back, leave nothing behind."""
        self._drained_by = self._clock.boot() + self._settings.grace_s + 2 * MARGIN_S
        for run in self._runs.values():
            run.end("shutdown")
        self._wake("mail", "task")
        if self._lanes:
            await asyncio.wait(self._lanes, timeout=self._settings.grace_s + 2 * MARGIN_S)
        for task in (*self._lanes, *self._loops):
            task.cancel()
        await asyncio.gather(*self._lanes, *self._loops, return_exceptions=True)
        stop_listening, self._stop_listening = self._stop_listening, lambda: None
        stop_listening()
        await self.brain.close()

    # loops

    async def _lane(self, lane: Lane) -> None:
        """Take, think, settle, again and again; what comes next is taken in the commit that settles."""
        work: Work | None = None
        while True:
            if work is None:
                await self._ready[lane].wait()
                self._ready[lane].clear()
                if self._draining:
                    return
                work = await self._guarded(self._store.write(take, self.agent.id, lane, self._node, self._pid, self._limits))
            if work is not None:
                work = await self._guarded(self._do(work))

    async def _guarded(self, step: Awaitable[Work | None]) -> Work | None:
        """The step's answer; an error is logged and the lane goes on, after the next poll."""
        try:
            return await step
        except (StoreBusy, StoreUnavailable) as error:
            self._trouble(error)
        except LeaseLost as error:
            log.warning("%s: %s", self.agent.id, error.message)
        except Conflict as error:
            self._leave(error.message, EX_OWN_INSTANCE)
        except Exception:
            log.exception("%s: a lane failed; it goes on", self.agent.id)
        return None

    async def _beat_on(self) -> None:
        """Heartbeats from the process itself, often enough for its leases (A8, K4)."""
        beat_s = min(self._settings.heartbeat_s, self._settings.lease_s / 4)
        while True:
            await self._clock.sleep(min(beat_s, TRY_AGAIN_S) if self._troubled else beat_s)
            try:
                await self.beat()
            except (StoreBusy, StoreUnavailable) as error:
                self._trouble(error)
            except Exception:
                log.exception("%s: a heartbeat failed; the next one comes", self.agent.id)

    async def beat(self) -> None:
        """One heartbeat, with all leases renewed; a lost lease ends its run."""
        held = [run.work for run in self._runs.values()]
        asked_at = self._clock.boot()
        try:
            lost = await self._store.write(holding.renew, self.agent.id, self._pid, held, self._settings.lease_s)
        except Conflict as error:
            self._leave(error.message, EX_OWN_INSTANCE)
            return
        if self._troubled:
            log.warning("%s: the store can be had again", self.agent.id)
        self._troubled, self._heard_at = False, asked_at
        self._lost(lost)
        await free_the_gone(
            self._store,
            self._clock,
            node=self._node,
            lease_s=self._settings.lease_s,
            grace_s=self._settings.grace_s,
            agent=self.agent.id,
            forgotten=self._forgot,
        )

    def _lost(self, run_ids: list[str] | frozenset[str]) -> None:
        for run_id in run_ids:
            if run_id in self._runs:
                self._runs[run_id].end("lost")

    def _forgot(self, suspect: Suspect) -> bool:
        """Whether no run of this process is at work under the lease (its claim was committed, its answer lost)."""
        return suspect.host is not None and suspect.host.pid == self._pid and suspect.run_id not in self._runs

    def _trouble(self, error: CoveyError) -> None:
        """The store can't be had: said in `health`; a brain whose lease has run out meanwhile is ended (N2)."""
        if not self._troubled:
            log.warning("%s: %s", self.agent.id, error.message)
        self._troubled = True
        if self._clock.boot() - self._heard_at > self._settings.lease_s:
            for run in self._runs.values():
                run.end("lost")

    async def _poll_on(self) -> None:
        """Look each second, less often after a long silence, sooner when rung; a busy agent not more often than its debounce (M4b)."""
        while True:
            try:
                await self.poll()
            except (StoreBusy, StoreUnavailable) as error:
                self._trouble(error)
            except Exception:
                log.exception("%s: a poll failed; the next one comes", self.agent.id)
            if self._runs:
                await self._clock.sleep(self._settings.wake_debounce_s)
            stirred = self._runs or self._clock.boot() - self._stirred_at < STIRRED_S
            await self._rung_or(POLL_S if stirred else IDLE_POLL_S)

    async def _rung_or(self, seconds: float) -> None:
        ring = asyncio.ensure_future(self._ring.wait())
        pause = asyncio.ensure_future(self._clock.sleep(seconds))
        try:
            await asyncio.wait({ring, pause}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ring.cancel()
            pause.cancel()
        self._ring.clear()

    async def poll(self) -> Standing:
        """Look at what is ready and how flags and leases stand, and act on it."""
        held = [run.work for run in self._runs.values()]
        found = await self._store.read(standing, self.agent.id, held, self._settings.digest_s)
        self._takes_work, self._stopped = found.takes_work, found.stopped
        if self._runs or found.mail or found.tasks:
            self._stirred_at = self._clock.boot()
        if found.gone:
            self._leave(f"{self.agent.id} was removed from the fleet", 0)
        self._lost(found.lost)
        if found.stopped:
            for run in self._runs.values():
                run.end("stopped")
        if found.takes_work and found.mail:
            self._wake("mail")
        if found.takes_work and found.tasks:
            self._wake("task")
        if not found.led:
            await self._sweep()
        return found

    # one run

    async def _do(self, work: Work) -> Work | None:
        """Have the brain do it, then settle it or give it back; the work that was taken in the same commit, if any."""
        run = Run(work, RunHands(self._store, work, self._clock))
        self._runs[work.run_id] = run
        if self._draining or self._stopped:
            run.end("shutdown" if self._draining else "stopped")
        at_work = False
        try:
            outcome = await self._outcome_of(run)
            if outcome is not None:
                return await self._settle(run, outcome)
            run.returned = await self._kept_on(lambda: self._let_go(run))
        except Unended:
            at_work = True  # and so it is never taken for forgotten: who comes after this process frees its work
            self._leave(f"the brain of {self.agent.id} could not be ended ({run.ended_by}); the process goes, and it with it", EX_HUNG)
        finally:
            if not at_work:
                del self._runs[work.run_id]
            run.over.set()
        return None

    async def _outcome_of(self, run: Run) -> Outcome | None:
        """What the brain makes of it; None if its work is to be given back or dropped.

        Raises:
            Unended: The brain could not be ended.
        """
        try:
            turn = await self._kept_on(lambda: self._begin(run), run)
        except (StoreBusy, StoreUnavailable, LeaseLost):
            run.end("lost")
            return None
        except Gone:
            run.end("shutdown")
            return None
        except Exception as error:
            log.exception("%s: the turn for %s could not be made", self.agent.id, run.work.item)
            return failure(f"its turn could not be made: {type(error).__name__}: {error}")
        if run.ended_by is not None or turn is None:
            return None
        own = self.agent.brain
        silence_s = self._settings.idle_timeout_s if own.promises_progress else None
        assert turn.deadline_s is not None
        return await run.think(self.brain, turn, Bounds(turn.deadline_s, silence_s, self._settings.grace_s), self._clock)

    async def _begin(self, run: Run) -> Turn | None:
        """The turn, once the start of a brain that has no process to be recorded is; None if it is to end already."""
        if run.ended_by is not None:
            return None
        turn = await self._store.read(turn_of, run.work, self._settings.estimate_s, self._settings.hard_cap_s)
        if self.brain.kind != "command" and run.work.task is not None:
            await self._store.write(holding.started, run.work)
        cap = self._settings.hard_cap_s
        turn.deadline_s = min(turn.deadline_s or cap, self.agent.brain.timeout_s or cap)
        return turn

    async def _settle(self, run: Run, outcome: Outcome) -> Work | None:
        """Store the outcome, or why it can't be; what comes next. Dropped if its lease is lost."""
        try:
            try:
                return await self._kept_on(lambda: self._write(run, outcome))
            except (Conflict, StoreBusy, StoreUnavailable):
                raise
            except Exception as error:
                log.exception("%s: the outcome of %s was refused", self.agent.id, run.work.item)
                refused = failure(f"its outcome could not be stored: {error}")
                return await self._kept_on(lambda: self._write(run, refused))
        except LeaseLost as lost:
            log.warning("%s: %s", self.agent.id, lost.message)
            await self._kept_on(lambda: self._store.write(holding.drop, run.work))
            return None

    async def _write(self, run: Run, outcome: Outcome) -> Work | None:
        if self._draining:
            await self._store.write(settling.settle, run.work, outcome, self._limits, self._pid)
            return None
        return await self._store.write(settling.settle_and_take, run.work, outcome, self._limits, self._node, self._pid)

    async def _let_go(self, run: Run) -> bool:
        """Give its work back, or drop it; whether it went back."""
        if run.ended_by == "lost":
            await self._store.write(holding.drop, run.work)
            return False
        return await self._store.write(holding.give_back, run.work, str(run.ended_by))

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
                if over or (self._drained_by is not None and self._clock.boot() > self._drained_by):
                    raise
                await self._clock.sleep(TRY_AGAIN_S)
