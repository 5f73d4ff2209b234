"""A node: it keeps the processes of its agents alive, and goes round with its duties. It acts from memory and records afterwards (H8b).

It is the one authority that restarts them (H7a). Agents outlive it: a new node adopts whoever holds the locks (H9).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from covey.agents import living
from covey.base.clock import Clock
from covey.base.ending import end
from covey.base.errors import CoveyError, Failed
from covey.base.loops import every
from covey.base.markers import marker
from covey.base.processes import Identity, send
from covey.nodes import records
from covey.nodes.forkserver import Spec
from covey.nodes.pinging import answers
from covey.nodes.spawner import Spawner
from covey.nodes.watching import GiveUp, Past, PingCounter, RestartPolicy, Watch
from covey.store import Store

log = logging.getLogger("covey.node")

PING_S = 5.0
LISTEN_S = 5.0


class Group(NamedTuple):
    """The agents of one process; the first one's port answers for it. `console` has no agents."""

    name: str
    agents: tuple[str, ...]
    host: str
    port: int
    edition: str
    """A digest of what its agents are configured to be: another edition is another process."""


class Duty(NamedTuple):
    """Something a node does again and again; `leading` ones only with a current fencing token, which they are given."""

    name: str
    interval_s: float
    leading: bool
    one_round: Callable[[int], Awaitable[object]]


class Keeper:
    """Keeps one process alive: starts or adopts it, sees it end, starts it again after the policy's wait, or gives up aloud."""

    def __init__(self, node: Node, group: Group) -> None:
        self.group = group
        self.identity: Identity | None = None
        self.since = 0.0
        self.pings = PingCounter()
        self.given_up = False
        self._node = node
        self._wanted = True
        self._asked = False
        self._prod = asyncio.Event()

    def ask_restart(self) -> None:
        """End it, and start it again at once; does not count as a failure."""
        self._asked = True
        self._prod.set()
        if self.identity is not None:
            send(self.identity, signal.SIGTERM)

    def try_again(self) -> None:
        """Start it once more, though restarts were given up."""
        self._prod.set()

    def want_no_more(self) -> None:
        """Let it end and stay so."""
        self._wanted = False
        self._prod.set()

    def kill(self, why: str) -> None:
        """End a process that hangs; it is started again like any that died."""
        if self.identity is not None:
            log.warning("%s (pid %d) is ended: %s", self.group.name, self.identity.pid, why)
            send(self.identity, signal.SIGKILL)

    async def keep(self) -> None:
        """Until it is wanted no more."""
        past = Past()
        while self._wanted:
            try:
                self.identity = self._adopted() or await self._node.spawn(self.group)
            except Failed as error:
                log.error("%s", error.message)
                await self._pause(5.0)
                continue
            self.since = self._node.clock.boot()
            self.pings = PingCounter()
            past = await self._live(self.identity, past)

    def _adopted(self) -> Identity | None:
        """A process that is this one already, from a former node (H9)."""
        names = self.group.agents or (self.group.name,)
        found = [marker(self._node.run_dir / f"{name}.lock") for name in names]
        holders = {each.identity for each in found if each is not None}
        return holders.pop() if len(holders) == 1 else None

    async def _live(self, identity: Identity, past: Past) -> Past:
        """See it end; what its restarts come to afterwards."""
        status = await self._node.watch.exited(identity)
        self.identity = None
        ran_s = self._node.clock.boot() - self.since
        if not self._wanted:
            return past
        for agent in self.group.agents:
            self._node.record(living.leave, agent, pid=identity.pid, reason=str(status))
        if self._asked:
            self._asked = False
            self._prod.clear()
            return past
        decision = self._node.policy.decide(past, status, ran_s, self._node.clock.boot())
        log.warning("%s (pid %d) ended after %.1f s: %s", self.group.name, identity.pid, ran_s, status)
        if isinstance(decision, GiveUp):
            return await self._given_up(decision)
        await self._pause(decision.after_s)
        return decision.past

    async def _given_up(self, decision: GiveUp) -> Past:
        if decision.own:
            await self._pause(1.0)
            return Past()
        self.given_up = True
        log.error("%s is not started again: %s", self.group.name, decision.why)
        for agent in self.group.agents:
            self._node.record(living.give_up, agent, decision.why)
        await self._prod.wait()
        self._prod.clear()
        self.given_up = False
        return Past()

    async def _pause(self, seconds: float) -> None:
        """Wait, unless somebody prods."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._prod.wait(), timeout=seconds)
        self._prod.clear()


class Node:
    """The processes of one machine and their duties."""

    policy = RestartPolicy()

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        name: str,
        run_dir: Path,
        spawner: Spawner,
        watch: Watch,
        groups: Callable[[], Sequence[Group]],
        spec: Callable[[Group], Spec],
        duties: Sequence[Duty],
        grace_s: float,
    ) -> None:
        self.store = store
        self.clock = clock
        self.name = name
        self.run_dir = run_dir
        self.watch = watch
        self._spawner = spawner
        self._groups = groups
        self._spec = spec
        self._duties = duties
        self._grace_s = grace_s
        self._fence: int | None = None
        self._keepers: dict[str, tuple[Keeper, asyncio.Task[None]]] = {}
        self._loops: list[asyncio.Task[None]] = []
        self._records: asyncio.Queue[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = asyncio.Queue()

    @property
    def leading(self) -> bool:
        """Whether it leads, as far as it knows."""
        return self._fence is not None

    def keepers(self) -> list[Keeper]:
        """Who keeps what."""
        return [keeper for keeper, _ in self._keepers.values()]

    def record(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """Write this to the store as soon as it can be had; nobody waits for it."""
        self._records.put_nowait((verb, args, kwargs))

    async def spawn(self, group: Group) -> Identity:
        """A new process for the group."""
        return await self._spawner.spawn(self._spec(group))

    async def start(self) -> None:
        """Start or adopt all processes, and go round."""
        self.arrange()
        rounds: list[tuple[str, float, Callable[[], Awaitable[object]]]] = [
            ("beat", records.LEAD_S / 3, self._beat),
            ("ping", PING_S, self.ping_all),
            ("orphans", PING_S, self._reap),
        ]
        rounds += [(duty.name, duty.interval_s, lambda duty=duty: self._do(duty)) for duty in self._duties]  # type: ignore[misc]
        await self._beat()
        self._loops = [asyncio.create_task(every(seconds, one_round, self.clock, name)) for name, seconds, one_round in rounds]
        self._loops.append(asyncio.create_task(self._write_records()))

    def arrange(self) -> None:
        """Bring the processes in line with the groups: new ones are started, changed ones restarted, the rest let go."""
        wanted = {group.name: group for group in self._groups()}
        for name, (keeper, _) in list(self._keepers.items()):
            group = wanted.get(name)
            if group is None:
                self._let_go(name)
            elif group != keeper.group:
                keeper.group = group
                keeper.ask_restart()
        for name, group in wanted.items():
            if name not in self._keepers:
                keeper = Keeper(self, group)
                self._keepers[name] = (keeper, asyncio.create_task(keeper.keep()))

    def _let_go(self, name: str) -> None:
        keeper, _ = self._keepers.pop(name)
        keeper.want_no_more()
        if keeper.identity is not None:
            self._loops.append(asyncio.create_task(self._end(keeper.identity)))

    async def _end(self, identity: Identity) -> None:
        await end(identity, grace_s=self._grace_s + 3, clock=self.clock)

    def restart(self, agent: str) -> bool:
        """Start an agent's process again; whether it is one of ours."""
        for keeper in self.keepers():
            if agent == keeper.group.name or agent in keeper.group.agents:
                keeper.ask_restart()
                return True
        return False

    def prod(self, agent: str) -> None:
        """An agent whose restarts were given up is tried again."""
        for keeper in self.keepers():
            if agent in keeper.group.agents and keeper.given_up:
                keeper.try_again()

    async def ping_all(self) -> None:
        """One round of pings, side by side; who has missed too many is ended and started again."""
        there = [keeper for keeper in self.keepers() if keeper.identity is not None]
        found = await asyncio.gather(*(answers(keeper.group.host, keeper.group.port, PING_S) for keeper in there))
        for keeper, answered in zip(there, found, strict=True):
            keeper.pings = keeper.pings.after(answered, self.clock.boot() - keeper.since)
            if keeper.pings.hung:
                keeper.kill(f"it did not answer {keeper.pings.missed} pings in a row")
                for agent in keeper.group.agents:
                    self.record(hung, agent, keeper.pings.missed)
                keeper.pings = PingCounter()

    def end_holder(self, pid: int, why: str) -> bool:
        """End a process of ours that holds something it must not; whether it is ours."""
        for keeper in self.keepers():
            if keeper.identity is not None and keeper.identity.pid == pid:
                keeper.kill(why)
                return True
        return False

    async def _beat(self) -> None:
        try:
            self._fence = await self.store.write(records.beat, self.name)
        except CoveyError as error:
            log.warning("the node's heartbeat failed: %s", error.message)
            self._fence = None

    async def _reap(self) -> None:
        self.watch.reap_orphans()

    async def _do(self, duty: Duty) -> None:
        fence = self._fence
        if duty.leading and fence is None:
            return
        try:
            await duty.one_round(fence or 0)
        except CoveyError as error:
            log.warning("%s: %s", duty.name, error.message)

    async def _write_records(self) -> None:
        while True:
            verb, args, kwargs = await self._records.get()
            for _ in range(60):
                try:
                    await self.store.write(verb, *args, **kwargs)
                    break
                except CoveyError as error:
                    log.warning("a record waits: %s", error.message)
                    await self.clock.sleep(1.0)

    async def stop(self) -> list[Identity]:
        """End all processes, cleanly at first; whoever could not be ended, as a rule nobody."""
        for task in self._loops:
            task.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        for keeper in self.keepers():
            keeper.want_no_more()
        there = [keeper.identity for keeper in self.keepers() if keeper.identity is not None]
        left = await asyncio.gather(*(end(identity, grace_s=self._grace_s + 3, clock=self.clock) for identity in there))
        for _, task in self._keepers.values():
            task.cancel()
        await asyncio.gather(*(task for _, task in self._keepers.values()), return_exceptions=True)
        await self._spawner.close()
        self.watch.reap_orphans()
        self.watch.reap_orphans()
        with contextlib.suppress(CoveyError):
            await self.store.write(records.leave, self.name)
        self.watch.close()
        return [identity for each in left for identity in each]


def hung(tx: Any, agent: str, missed: int) -> None:
    """An agent's process was alive but silent, and was ended (H1)."""
    tx.happened("agent.hung", agent=agent, missed=missed)
