"""One agent at work: its heartbeat, its poll, and what its doors ask; its lanes do the work (A7, A8, K4)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from functools import partial
from typing import Any, Literal

from covey.agents import living
from covey.agents.model import Caller
from covey.base.errors import Conflict, CoveyError, StoreBusy, StoreUnavailable
from covey.base.ports import EX_OWN_INSTANCE
from covey.base.rings import mail_of, tasks_of
from covey.runner import holding
from covey.runner.condensing import Condenser
from covey.runner.lanes import TRY_AGAIN_S, Lanes
from covey.runner.orphans import Suspect, free_the_gone
from covey.runner.place import Place
from covey.runner.run import MARGIN_S
from covey.runner.standing import AHEAD_S, Standing, standing
from covey.runner.work import Lane, Work

log = logging.getLogger("covey.runner")

POLL_S = 1.0
IDLE_POLL_S = 3.0
STIRRED_S = 90.0
"""An agent of which nothing was heard for so long looks less often, if a look each second is dear: longer than any backoff."""
FEW = 64
"""In a fleet of so many agents at most each looks within a second of any change: a look is cheap, and changes are told by the stamp."""


class Runner:
    """An agent's lanes in one process. `sweep` is one round of the fleet's upkeep, done while nobody leads."""

    def __init__(self, place: Place, *, sweep: Callable[[], Awaitable[object]]) -> None:
        self.agent = place.agent
        self._at = place
        self._sweep = sweep
        self._lanes = Lanes(place, self._trouble)
        self._condenser = Condenser(place, lambda: self.ready() and not self.busy)
        self._ring = asyncio.Event()
        """The poll is to look."""
        self._takes_work = True
        self._troubled = False
        self.led = True
        """Whether the fleet had a leader when it last looked."""
        self._stirred_at = self._looked_at = place.clock.boot() - STIRRED_S
        """When there was last anything for it, and when it last looked."""
        self._seen: int | None = None
        self._rests_until = 0.0
        """Until then, and as long as the stamp is what it was, a look would find what the last one found."""
        self._heard_at = place.clock.boot()
        """When the store last took a heartbeat, and with it renewed all leases."""
        self._loops: list[asyncio.Task[None]] = []
        self._stop_listening = ExitStack()

    # what the doors ask

    def health(self) -> Literal["healthy", "degraded", "paused"]:
        """How it is, from memory alone (A5)."""
        if self._troubled:
            return "degraded"
        return "healthy" if self._takes_work else "paused"

    def ready(self) -> bool:
        """Whether it takes work."""
        return self.why_not_ready() is None

    def why_not_ready(self) -> str | None:
        """Why it takes no work, and what ends that; None if it does. From memory alone."""
        if self._troubled:
            return "the store can't be reached; it goes on by itself once it can."
        if self._lanes.draining:
            return "its process is coming to its end."
        return None if self._takes_work else f"it is stopped or paused; `covey resume {self.agent.id}` has it go on."

    @property
    def busy(self) -> bool:
        """Whether a brain is at work."""
        return bool(self._lanes.runs)

    async def emergency_stop(self, by: Caller, reason: str, grace_s: float | None = None) -> dict[str, Any]:
        """Nothing new is taken, the brains end within the grace, their leases go back (A7).

        Raises:
            Forbidden: The caller is neither the operator nor the lead.
        """
        await self._at.store.write(living.stop, self.agent.id, by, reason)
        self._takes_work, self._lanes.stopped = False, True
        running = self._lanes.end("stopped", grace_s)
        self._condenser.end("stopped")
        overs = [asyncio.ensure_future(run.over.wait()) for run in running]
        if overs:
            await asyncio.wait(overs, timeout=self._at.settings.grace_s + 2 * MARGIN_S)
        task = next((run for run in running if run.work.task is not None), None)
        return {"stopped": True, "taskId": task.work.item if task else None, "returnedToQueue": bool(task and task.returned)}

    # its life

    async def start(self) -> None:
        """Begin to beat, poll and work."""
        me = self.agent.id
        lanes: dict[str, tuple[Lane, ...]] = {me: ("mail", "task"), mail_of(me): ("mail",), tasks_of(me): ("task",)}
        for name, rung in lanes.items():
            self._stop_listening.callback(self._at.store.bell.listen(name, partial(self._rung, *rung)))
        self._loops = [asyncio.create_task(loop) for loop in (self._beat_on(), self._poll_on(), self._tick_on())]
        self._lanes.start()
        if self.agent.summaries == "brain":
            self._condenser.start()

    def _rung(self, *lanes: Lane) -> None:
        """Somebody rang: these lanes look at once, the poll soon after."""
        self._stirred_at = self._at.clock.boot()
        if self._takes_work:
            self._lanes.wake(*lanes)
        self._ring.set()

    async def stop(self) -> None:
        """Take nothing more, end the brains, give their work back, leave nothing behind."""
        await self._condenser.stop()
        await self._lanes.stop()
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        self._stop_listening.close()
        await self._at.brain.close()

    # loops

    async def _beat_on(self) -> None:
        """Heartbeats from the process itself, often enough for its leases (A8, K4)."""
        beat_s = min(self._at.settings.heartbeat_s, self._at.settings.lease_s / 4)
        while True:
            await self._at.clock.sleep(min(beat_s, TRY_AGAIN_S) if self._troubled else beat_s)
            try:
                await self.beat()
            except (StoreBusy, StoreUnavailable) as error:
                self._trouble(error)
            except Exception:
                log.exception("%s: a heartbeat failed; the next one comes", self.agent.id)

    async def beat(self) -> None:
        """One heartbeat, with all leases renewed; a lost lease ends its run."""
        asked_at = self._at.clock.boot()
        try:
            lost = await self._at.store.write(holding.renew, self.agent.id, self._at.pid, self._held(), self._at.settings.lease_s)
        except Conflict as error:
            self._at.leave(error.message, EX_OWN_INSTANCE)
            return
        if self._troubled:
            log.warning("%s: the store can be had again", self.agent.id)
        self._troubled, self._heard_at = False, asked_at
        self._lanes.lost(lost)
        await free_the_gone(
            self._at.store,
            self._at.clock,
            node=self._at.node,
            lease_s=self._at.settings.lease_s,
            grace_s=self._at.settings.grace_s,
            agent=self.agent.id,
            forgotten=self._forgot,
        )

    def _held(self) -> list[Work]:
        return [run.work for run in self._lanes.runs.values()]

    def _forgot(self, suspect: Suspect) -> bool:
        """Whether no run of this process is at work under the lease (its claim was committed, its answer lost)."""
        return suspect.host is not None and suspect.host.pid == self._at.pid and suspect.run_id not in self._lanes.runs

    def _trouble(self, error: CoveyError) -> None:
        """The store can't be had: said in `health`; a brain whose lease has run out meanwhile is ended (N2)."""
        if not self._troubled:
            log.warning("%s: %s", self.agent.id, error.message)
        self._troubled = True
        if self._at.clock.boot() - self._heard_at > self._at.settings.lease_s:
            self._lanes.end("lost")

    async def _poll_on(self) -> None:
        """Look when rung, or when the tick says so; a busy agent not more often than its debounce (M4b)."""
        while True:
            try:
                await self.poll()
            except (StoreBusy, StoreUnavailable) as error:
                self._trouble(error)
            except Exception:
                log.exception("%s: a poll failed; the next one comes", self.agent.id)
            if self.busy:
                await self._at.clock.sleep(self._at.settings.wake_debounce_s)
            await self._ring.wait()
            self._ring.clear()

    async def _tick_on(self) -> None:
        """Have it look each second, if there may be anything to see: this makes good a hint that was lost (M4b)."""
        while True:
            await self._at.clock.sleep(POLL_S)
            if self._is_to_look():
                self._ring.set()

    def _is_to_look(self) -> bool:
        """Whether another look may find what the last one did not. Where a look is dear, who is not lively looks less often."""
        now, stamp = self._at.clock.boot(), self._at.store.stamp()
        if stamp is not None and stamp.changes == self._seen and now < self._rests_until:
            return False
        cheap = stamp is not None and len(self._at.settings.agents) <= FEW
        lively = cheap or self.busy or now - self._stirred_at < STIRRED_S
        return now - self._looked_at >= (POLL_S if lively else IDLE_POLL_S) - POLL_S / 2

    async def poll(self) -> Standing:
        """Look at what is ready and how flags and leases stand, and act on it."""
        self._looked_at, stamp, self._rests_until = self._at.clock.boot(), self._at.store.stamp(), 0.0
        found = await self._at.store.read(standing, self.agent.id, self._held(), self._at.settings.digest_s)
        if found.rests and stamp is not None:
            self._seen, self._rests_until = stamp.changes, self._looked_at + AHEAD_S
        self._takes_work, self._lanes.stopped = found.takes_work, found.stopped
        if self.busy or found.mail or found.tasks:
            self._stirred_at = self._at.clock.boot()
        if found.gone:
            self._at.leave(f"{self.agent.id} was removed from the fleet", 0)
        self._lanes.lost(found.lost)
        if found.stopped:
            self._lanes.end("stopped")
            self._condenser.end("stopped")
        if found.takes_work and found.mail:
            self._lanes.wake("mail")
        if found.takes_work and found.tasks:
            self._lanes.wake("task")
        self.led = found.led
        if not found.led:
            await self._sweep()
        return found
