"""One agent at work: its lanes, its heartbeat, its poll. A brain never runs on the event loop's own steps; a run ends for one stated reason."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from covey.agents import living
from covey.agents.model import Caller
from covey.base.clock import Clock
from covey.base.errors import Conflict, CoveyError, Gone, LeaseLost, StoreBusy, StoreUnavailable
from covey.base.settings import AgentSettings, Settings
from covey.brains.model import Brain, Outcome, failure
from covey.runner import turns
from covey.runner.hands import RunHands
from covey.runner.orphans import Suspect, free_the_gone
from covey.runner.standing import Standing, standing
from covey.runner.turns import Lane, Limits, Work
from covey.store import Store

log = logging.getLogger("covey.runner")

POLL_S = 1.0
EndReason = Literal["lost", "stopped", "shutdown", "timeout", "silent"]


class Run:
    """A brain at work on one thing."""

    def __init__(self, work: Work, hands: RunHands) -> None:
        self.work = work
        self.hands = hands
        self.ending: asyncio.Future[EndReason] = asyncio.get_running_loop().create_future()
        self.over = asyncio.Event()
        self.returned = False

    def end(self, reason: EndReason) -> None:
        """Have it end for this reason; the first one counts."""
        if not self.ending.done():
            self.ending.set_result(reason)


class Runner:
    """An agent's lanes in one process. `leave` is called when the process must end: the agent is gone, or a brain can't be ended."""

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
        leave: Callable[[str], None],
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
        self._limits = Limits(settings.lease_s, settings.digest_s, settings.wait_s, settings.hard_cap_s, agent.max_context)
        self._runs: dict[str, Run] = {}
        self._ring = asyncio.Event()
        self._ready: dict[Lane, asyncio.Event] = {"mail": asyncio.Event(), "task": asyncio.Event()}
        self._takes_work = True
        self._draining = False
        self._troubled_since: float | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._stop_listening: Callable[[], None] | None = None

    # what the doors ask

    def health(self) -> Literal["healthy", "degraded", "paused"]:
        """How it is, from memory alone (A5)."""
        if self._troubled_since is not None:
            return "degraded"
        return "healthy" if self._takes_work else "paused"

    def ready(self) -> bool:
        """Whether it takes work."""
        return self._takes_work and not self._draining and self._troubled_since is None

    @property
    def busy(self) -> bool:
        """Whether a brain is at work."""
        return bool(self._runs)

    async def emergency_stop(self, by: Caller, reason: str, grace_s: float | None = None) -> dict[str, Any]:
        """Nothing new is taken, the brains end within the grace, their leases go back (A7).

        Raises:
            Forbidden: The caller is neither the operator nor the lead.
        """
        await self._store.write(living.stop, self.agent.id, by, reason)
        self._takes_work = False
        running = list(self._runs.values())
        for run in running:
            run.end("stopped")
        await asyncio.wait_for(asyncio.gather(*(run.over.wait() for run in running)), timeout=(grace_s or self._settings.grace_s) + 10)
        task = next((run for run in running if run.work.task is not None), None)
        return {"stopped": True, "taskId": task.work.item if task else None, "returnedToQueue": bool(task and task.returned)}

    # its life

    async def start(self) -> None:
        """Begin to beat, poll and work."""
        self._stop_listening = self._store.bell.listen(self.agent.id, self._rung)
        loops = [self._lane("mail") for _ in range(self.agent.message_lanes)] + [self._lane("task") for _ in range(self._task_lanes())]
        self._tasks = [asyncio.create_task(loop) for loop in (*loops, self._beat_on(), self._poll_on())]

    def _rung(self) -> None:
        """Somebody rang: the lanes look at once, the poll soon after."""
        if self._takes_work and self.brain.kind != "external":
            for ready in self._ready.values():
                ready.set()
        self._ring.set()

    def _task_lanes(self) -> int:
        """A command brain has one lane (K4a)."""
        return 1 if self.brain.kind == "command" else self.agent.task_lanes

    async def stop(self) -> None:
        """Take nothing more, end the brains, give their work back, leave nothing behind."""
        self._draining = True
        for run in list(self._runs.values()):
            run.end("shutdown")
        for run in list(self._runs.values()):
            await run.over.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._stop_listening is not None:
            self._stop_listening()
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
                work = await self._guarded(self._store.write(turns.take, self.agent.id, lane, self._node, self._pid, self._limits))
            if work is not None:
                work = await self._guarded(self._do(work))
                self._ring.set()

    async def _guarded(self, step: Awaitable[Work | None]) -> Work | None:
        """The step's answer; an error is logged and the lane goes on, after the next poll."""
        try:
            return await step
        except (Gone, Conflict) as error:
            self._leave(error.message)
        except CoveyError as error:
            log.warning("%s: %s", self.agent.id, error.message)
        except Exception:
            log.exception("%s: a lane failed; it goes on", self.agent.id)
        return None

    async def _beat_on(self) -> None:
        while True:
            await self._clock.sleep(
                min(self._settings.heartbeat_s, self._settings.lease_s / 4) if self._runs else self._settings.heartbeat_s
            )
            await self.beat()

    async def beat(self) -> None:
        """One heartbeat, with all leases renewed; a lost lease ends its run."""
        held = [run.work for run in self._runs.values()]
        try:
            lost = await self._store.write(turns.renew, self.agent.id, self._pid, held, self._settings.lease_s)
        except Conflict as error:
            self._leave(error.message)
            return
        except CoveyError as error:
            self._trouble(error)
            return
        self._troubled_since = None
        for run_id in lost:
            if run_id in self._runs:
                self._runs[run_id].end("lost")
        await free_the_gone(self._store, self._clock, self._settings.grace_s, self._forgot)

    def _forgot(self, suspect: Suspect) -> bool:
        """Whether the lease is this agent's, and no run of it is at work (its claim was committed, its answer lost)."""
        return (
            suspect.agent == self.agent.id
            and suspect.host is not None
            and suspect.host.pid == self._pid
            and suspect.run_id not in self._runs
        )

    def _trouble(self, error: CoveyError) -> None:
        """The store can't be had: said in `health`; a brain whose lease has run out meanwhile is ended (N2)."""
        log.warning("%s: %s", self.agent.id, error.message)
        now = self._clock.boot()
        self._troubled_since = self._troubled_since if self._troubled_since is not None else now
        if now - self._troubled_since > self._settings.lease_s:
            for run in self._runs.values():
                run.end("lost")

    async def _poll_on(self) -> None:
        while True:
            try:
                await self.poll()
            except CoveyError as error:
                self._trouble(error)
            except Exception:
                log.exception("%s: a poll failed; the next one comes", self.agent.id)
            if self._runs:
                await self._clock.sleep(self._settings.wake_debounce_s)
            await self._rung_or(POLL_S)

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
        tokens = {run.work.token: run for run in self._runs.values()}
        found = await self._store.read(standing, self.agent.id, list(tokens), self._settings.digest_s)
        self._takes_work = found.takes_work
        if found.gone:
            self._leave(f"{self.agent.id} was removed from the fleet")
        for token in found.lost:
            tokens[token].end("lost")
        if found.stopped:
            for run in self._runs.values():
                run.end("stopped")
        if self.brain.kind != "external" and found.takes_work:
            if found.mail:
                self._ready["mail"].set()
            if found.tasks:
                self._ready["task"].set()
        if self.agent.brain.promises_progress:
            self._end_the_silent()
        if not found.led:
            await self._sweep()
        return found

    def _end_the_silent(self) -> None:
        for run in self._runs.values():
            if self._clock.boot() - run.hands.quiet_since > self._settings.idle_timeout_s:
                run.end("silent")

    # one run

    async def _do(self, work: Work) -> Work | None:
        """Have the brain do it, then settle; the work that was taken in the same commit, if any."""
        run = Run(work, RunHands(self._store, work, self._clock.boot))
        self._runs[work.run_id] = run
        try:
            outcome = await self._think(run)
            if outcome is not None:
                return await self._settle(run, outcome)
            run.returned = await self._return(run)
            return None
        finally:
            del self._runs[work.run_id]
            run.over.set()

    async def _think(self, run: Run) -> Outcome | None:
        """The brain's outcome; None if the run was ended and its work is to be given back or dropped."""
        work = run.work
        turn = await self._store.read(turns.turn_of, work, self._settings.estimate_s, self._settings.hard_cap_s)
        limit = min(turn.deadline_s or self._settings.hard_cap_s, self.agent.brain.timeout_s or self._settings.hard_cap_s)
        turn.deadline_s = limit
        if self.brain.kind != "command":
            await self._store.write(turns.started, work) if work.task is not None else None
        thinking = asyncio.ensure_future(self.brain.think(turn, run.hands))
        timer = asyncio.ensure_future(self._end_after(run, limit))
        try:
            both: set[asyncio.Future[Any]] = {thinking, run.ending}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if thinking.done():
                return _outcome_of(thinking)
            await self._stop_thinking(run, thinking)
        finally:
            timer.cancel()
            if not thinking.done():
                thinking.cancel()
        reason = run.ending.result()
        if reason == "timeout":
            return failure(f"the brain did not end within {limit:.0f} s and was ended")
        if reason == "silent":
            return failure(f"the brain gave no sign of progress for {self._settings.idle_timeout_s:.0f} s and was ended")
        return None

    async def _end_after(self, run: Run, seconds: float) -> None:
        await self._clock.sleep(seconds)
        run.end("timeout")

    async def _stop_thinking(self, run: Run, thinking: asyncio.Future[Outcome]) -> None:
        """End the brain. One that can't be ended holds the whole process: it must go, so that nobody does the work twice (K4a)."""
        thinking.cancel()
        await asyncio.wait({thinking}, timeout=self._settings.grace_s + 2)
        if not thinking.done():
            self._leave(f"the brain of {self.agent.id} could not be ended ({run.ending.result()})")

    async def _settle(self, run: Run, outcome: Outcome) -> Work | None:
        """Store the outcome, trying again while the store can't be had and the lease may stand."""
        while True:
            try:
                if self._draining or not self._takes_work:
                    await self._store.write(turns.settle, run.work, outcome, self._limits, self._pid)
                    return None
                return await self._store.write(turns.settle_and_take, run.work, outcome, self._limits, self._node, self._pid)
            except LeaseLost as lost:
                log.warning("%s: %s", self.agent.id, lost.message)
                await self._store.write(turns.drop_run, run.work)
                return None
            except (StoreBusy, StoreUnavailable) as error:
                self._trouble(error)
                await self._clock.sleep(POLL_S)
            except CoveyError as error:
                log.exception("%s: the outcome of %s was refused", self.agent.id, run.work.item)
                outcome = failure(f"its outcome could not be stored: {error.message}")

    async def _return(self, run: Run) -> bool:
        if run.ending.result() == "lost":
            await self._store.write(turns.drop_run, run.work)
            return False
        return await self._store.write(turns.give_back, run.work, run.ending.result())


def _outcome_of(thinking: asyncio.Future[Outcome]) -> Outcome:
    """What the brain answered; an exception is a failed attempt with its type, words and last frames."""
    if thinking.cancelled():
        return failure("the brain was cancelled")
    error = thinking.exception()
    if error is None:
        return thinking.result()
    frames = "".join(traceback.format_tb(error.__traceback__)[-3:])
    return failure(
        f"{type(error).__name__}: {error}\n{frames}".strip(),
        permanent=isinstance(error, CoveyError) and error.code in ("invalid", "misconfigured"),
    )
