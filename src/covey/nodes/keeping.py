"""Keeps one process alive: started or adopted, seen to end, started again after the policy's wait, or given up aloud (H4, H7, H9).

It acts from memory and records afterwards: nothing here waits for the store (H8b).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from covey.agents import living
from covey.base.clock import Clock
from covey.base.ending import end
from covey.base.errors import Failed
from covey.base.markers import Marker, marker
from covey.base.processes import Identity, send
from covey.healing import giving_up, lives
from covey.nodes.watching import ExitStatus, GiveUp, Past, PingCounter, RestartPolicy, Watch

log = logging.getLogger("covey.node")

LEAVING_S = 10.0
"""How long after the grace a process that was told to end may take to do so, before it is killed."""
NOT_STARTED_S = 5.0
GREET_S = 0.1
"""How long after one that was in vain a process that is coming up is asked again."""


class Group(NamedTuple):
    """The agents of one process; the first one's port answers for it. A group without agents is a process of the fleet's own."""

    name: str
    agents: tuple[str, ...]
    host: str
    port: int
    edition: str
    """A digest of what its agents are configured to be: another edition is another process."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names whose locks its process holds."""
        return self.agents or (self.name,)


@dataclass(frozen=True, kw_only=True)
class Means:
    """What a keeper works with. `record` takes a verb and its arguments, to be written when the store can be had."""

    clock: Clock
    watch: Watch
    run_dir: Path
    spawn: Callable[[Group], Awaitable[Identity]]
    record: Callable[..., None]
    last_words: Callable[[Group], str]
    answers: Callable[[Group], Awaitable[bool]]
    """Whether its process answers a ping."""
    grace_s: float
    policy: RestartPolicy
    pings: PingCounter


class Keeper:
    """Keeps one group's process."""

    def __init__(self, group: Group, means: Means) -> None:
        self.group = group
        self.identity: Identity | None = None
        self.since = 0.0
        self.pings = means.pings
        self.given_up = False
        self._means = means
        self._wanted = True
        self._asked = False
        self._killed_for = ""
        self._left: list[Identity] = []
        self._told = asyncio.Event()

    def become(self, group: Group) -> None:
        """Be another edition of it: its process is started anew."""
        self.group = group
        self.ask_restart()

    def ask_restart(self) -> None:
        """End it, and start it again at once; that does not count as a failure. One that was given up is tried again."""
        self._asked = True
        self._told.set()

    def try_again(self) -> None:
        """Start it once more, if restarts were given up."""
        if self.given_up:
            self._told.set()

    def want_no_more(self) -> None:
        """Let it end and stay so; `keep` returns then."""
        self._wanted = False
        self._told.set()

    def kill(self, why: str) -> None:
        """End a process that hangs; it is started again like any that died."""
        if self.identity is not None:
            log.warning("%s (pid %d) is ended: %s", self.group.name, self.identity.pid, why)
            self._killed_for = why
            send(self.identity, signal.SIGKILL)

    async def keep(self) -> list[Identity]:
        """Until it is wanted no more; whoever could not be ended then, as a rule nobody."""
        past = Past()
        while self._wanted:
            try:
                past = await self._one_life(past)
            except Failed as error:
                log.error("%s", error.message)
                await self._pause(NOT_STARTED_S)
            except Exception:
                log.exception("keeping %s failed; it is tried again", self.group.name)
                await self._pause(NOT_STARTED_S)
        return self._left

    async def _one_life(self, past: Past) -> Past:
        """From its start to when it may be started again.

        Raises:
            Failed: It can't be started.
        """
        group = self.group
        self.identity = await self._adopted() or await self._means.spawn(group)
        self._asked = group != self.group
        self.since = self.identity.since
        self.pings = self._means.pings
        greeting = asyncio.create_task(self._greet())
        try:
            status = await self._live(self.identity)
        finally:
            greeting.cancel()
        return await self._after(self.identity, status, past)

    async def _greet(self) -> None:
        """Ask it until it has answered once: from then on it is up, and its silence counts (H7a)."""
        while self.pings.is_coming_up(self._means.clock.boot() - self.since):
            if await self._means.answers(self.group):
                self.pings = self.pings.after(answered=True, age_s=0.0)
            else:
                await self._means.clock.sleep(GREET_S)

    async def _adopted(self) -> Identity | None:
        """A process that is this one already, from a former node (H9). One that is not quite this one is ended."""
        found = [each for name in self.group.names if (each := marker(self._means.run_dir / f"{name}.lock")) is not None]
        holders = {each.identity for each in found}
        if len(holders) == 1 and len(found) == len(self.group.names) and all(self._is_it(each) for each in found):
            return found[0].identity
        for holder in holders:
            await self._end(holder)
        return None

    def _is_it(self, found: Marker) -> bool:
        return found.edition in ("", self.group.edition)

    async def _live(self, identity: Identity) -> ExitStatus | None:
        """How it ended by itself; None if it was told to end, and has."""
        exited = asyncio.ensure_future(self._means.watch.exited(identity))
        while not exited.done():
            if not self._wanted or self._asked:
                exited.cancel()
                self._left = await self._end(identity)
                return None
            told = asyncio.ensure_future(self._told.wait())
            await asyncio.wait({exited, told}, return_when=asyncio.FIRST_COMPLETED)
            told.cancel()
            self._told.clear()
        return exited.result()

    async def _end(self, identity: Identity) -> list[Identity]:
        """End a process in good order, else by force, with its group; whoever could not be ended."""
        send(identity, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._means.grace_s + LEAVING_S):
                await self._means.watch.exited(identity)
        return await end(identity, grace_s=0.0, clock=self._means.clock)

    async def _after(self, identity: Identity, status: ExitStatus | None, past: Past) -> Past:
        """Wait until it may be started again, if ever; its restarts that count."""
        self.identity, killed_for, self._killed_for = None, self._killed_for, ""
        if status is None:
            self._record_end(living.leave, pid=identity.pid, reason="told to end")
            return past
        now = self._means.clock.boot()
        ran_s = now - self.since
        log.warning("%s (pid %d) ended after %.1f s: %s", self.group.name, identity.pid, ran_s, status)
        decision = self._means.policy.decide(past, status, ran_s, now)
        if isinstance(decision, GiveUp) and decision.own and self._holders() == 0:
            decision = self._means.policy.decide(past, ExitStatus(), ran_s, now)
        if isinstance(decision, GiveUp) and decision.own:
            self._record_end(living.leave, pid=identity.pid, reason=str(status))
            return await self._not_again(decision, past)
        how = f"{status}, since {killed_for}" if killed_for else str(status)
        again_in_s = None if isinstance(decision, GiveUp) else decision.after_s
        self._record_end(lives.died, pid=identity.pid, how=how, ran_s=ran_s, again_in_s=again_in_s)
        if isinstance(decision, GiveUp):
            return await self._not_again(decision, past)
        await self._pause(decision.after_s)
        return decision.past

    def _record_end(self, verb: Callable[..., object], **what: object) -> None:
        for agent in self.group.agents:
            self._means.record(verb, agent, **what)

    def _holders(self) -> int:
        """How many of its names a living process holds: such a one is adopted, or ended."""
        return sum(marker(self._means.run_dir / f"{name}.lock") is not None for name in self.group.names)

    async def _not_again(self, decision: GiveUp, past: Past) -> Past:
        """Its own other process is looked for; or restarts are given up until somebody has it tried again (H7)."""
        if decision.own:
            await self._pause(1.0)
            return past
        words = self._means.last_words(self.group)
        why = f"{decision.why}{'; its last words: ' + words if words else ''}"
        log.error("%s is not started again: %s", self.group.name, why)
        for agent in self.group.agents:
            self._means.record(giving_up.gave_up, agent, why)
        self.given_up = True
        await self._told.wait()
        self._told.clear()
        self.given_up = False
        for agent in self.group.agents:
            self._means.record(giving_up.tried_again, agent)
        return Past()

    async def _pause(self, seconds: float) -> None:
        """Wait, unless somebody tells it something."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._told.wait(), timeout=seconds)
        self._told.clear()
