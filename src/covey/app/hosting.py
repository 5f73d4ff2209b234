"""A process that holds agents, one as a rule, each with its lock, port and runner. It ends by SIGTERM, or when it must (A5, A10, H4)."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from covey.agents import living
from covey.api.agent_port import make_app
from covey.api.door import Door
from covey.app import snapshot
from covey.app.buddy_means import buddy_means
from covey.app.opening import WRITERS, count_as, open_store, run_dir
from covey.app.process import BOUND_S, Leaving, gone_soon, log_to_stderr, take_all_files
from covey.base import token_file
from covey.base.clock import Clock, SystemClock
from covey.base.ending import end
from covey.base.errors import CoveyError, Failed, Misconfigured, PortTaken
from covey.base.markers import NameLock, marker
from covey.base.ports import EX_OWN_INSTANCE
from covey.base.processes import Identity, set_title
from covey.base.settings import AgentSettings, Settings
from covey.base.target import authority_of
from covey.brains.launching import Site
from covey.brains.making import NoBrain, make
from covey.brains.model import Brain
from covey.doors.serving import serve
from covey.healing import lives
from covey.healing.buddy_timer import BuddyTimer
from covey.planning import abilities
from covey.runner import holding
from covey.runner.place import Place
from covey.runner.runner import Runner
from covey.runner.sweeping import Sweeper
from covey.runner.watchdog import Watchdog
from covey.store import Store
from covey.tasks import runs

log = logging.getLogger("covey.agent")

AT_ONCE = 32
"""So many agents of one process come up side by side."""


def main(snapshot_path: str, names: list[str], node: str, edition: str = "") -> int:
    """Be these agents until told to end; the exit code."""
    log_to_stderr()
    settings = snapshot.read(Path(snapshot_path))
    try:
        return gone_soon(asyncio.run(host(settings, names, node, edition)))
    except CoveyError as error:
        sys.stderr.write(f"{', '.join(names)}: {error.message}\n")
        return EX_OWN_INSTANCE if isinstance(error, PortTaken) and error.details.get("own") else 1


async def host(settings: Settings, names: list[str], node: str, edition: str = "") -> int:
    """Hold the agents; the exit code. Those that the settings no longer have are left out; without any there is nothing to be."""
    agents = [agent for name in names if (agent := settings.agent(name)) is not None]
    if not agents:
        sys.stderr.write(f"{', '.join(names)}: no such agent in this fleet any more\n")
        return 0
    locks = [NameLock(run_dir(settings) / f"{agent.id}.lock") for agent in agents]
    for lock, agent in zip(locks, agents, strict=True):
        if not lock.take(agent.id, agent.port, edition):
            holder = marker(run_dir(settings) / f"{agent.id}.lock")
            sys.stderr.write(f"{agent.id} runs already{f' as process {holder.pid}' if holder else ''}; there is nothing to start\n")
            return EX_OWN_INSTANCE
    set_title(f"covey agent {' '.join(names)}"[:200])
    take_all_files()
    leaving = Leaving(settings.grace_s + BOUND_S)
    leaving.hear_signals()
    clock = SystemClock()
    watchdog = Watchdog(asyncio.get_running_loop(), settings.watchdog_s)
    watchdog.start()
    count_as(settings)
    store = open_store(settings, clock, writers=min(len(agents), WRITERS))
    try:
        host = Host(store, settings, node, clock, leaving)
        try:
            await host.bring_up(agents)
            await leaving.asked.wait()
        finally:
            await host.let_down()
    finally:
        await store.close()
        watchdog.stop()
        leaving.done()
    return leaving.code


@dataclass(frozen=True)
class Host:
    """Brings agents up in this process, and lets them down again side by side, each in reverse order of what it was given."""

    store: Store
    settings: Settings
    node: str
    clock: Clock
    leaving: Leaving
    stacks: list[AsyncExitStack] = field(default_factory=list)

    async def bring_up(self, agents: Sequence[AgentSettings]) -> None:
        """Have them serve and work, some at a time: their writes share commits. The first one that can't come up is the error."""
        for start in range(0, len(agents), AT_ONCE):
            if self.leaving.asked.is_set():
                return
            some = agents[start : start + AT_ONCE]
            came = await asyncio.gather(*(self._bring_up(agent) for agent in some), return_exceptions=True)
            for error in came:
                if error is not None:
                    raise error

    async def let_down(self) -> None:
        """Undo it. An error of one is no reason to leave another as it is."""
        for error in await asyncio.gather(*(stack.aclose() for stack in self.stacks), return_exceptions=True):
            if error is not None:
                log.error("an agent did not come down in good order", exc_info=error)

    async def _bring_up(self, agent: AgentSettings) -> None:
        """An agent that serves and works."""
        store, settings, stack = self.store, self.settings, AsyncExitStack()
        self.stacks.append(stack)
        freed = await end_predecessor(store, agent.id, self.clock)
        brain = self._brain(agent)
        runner = self._runner(agent, brain)
        app = make_app(Door(store=store, settings=settings, agent=agent.id, local=runner))
        serving = await serve(app, settings.host, agent.port, run_dir(settings))
        stack.push_async_callback(serving.stop)
        me = Identity.of(os.getpid())
        assert me is not None
        await store.write(
            lives.arrive,
            agent.id,
            node=self.node,
            pid=me.pid,
            start_ticks=me.start_ticks,
            boot_id=me.boot_id,
            port=agent.port,
            freed=len(freed),
            no_brain=brain.why if isinstance(brain, NoBrain) else None,
        )
        stack.push_async_callback(_depart, store, agent.id, self.leaving)
        await runner.start()
        stack.push_async_callback(runner.stop)
        stack.push_async_callback(_cease, asyncio.create_task(self._buddy_timer(agent, runner).go_on()))
        if agent.brain.kind == "python":
            stack.push_async_callback(_cease, asyncio.create_task(self._declare(agent, brain)))

    def _runner(self, agent: AgentSettings, brain: Brain) -> Runner:
        store, settings = self.store, self.settings
        place = Place(
            store=store,
            agent=agent,
            settings=settings,
            brain=brain,
            clock=self.clock,
            node=self.node,
            pid=os.getpid(),
            leave=self.leaving.leave,
        )
        return Runner(place, sweep=Sweeper(store, settings.start_s, self.clock).one_round)

    def _brain(self, agent: AgentSettings) -> Brain:
        """The agent's brain, or one that says why it can't be had: to end the process for it would be to have it started again."""
        try:
            return make(agent, _site(self.settings, agent, self.clock))
        except Misconfigured as error:
            log.error("%s: %s", agent.id, error.message)
            return NoBrain(error.message)

    async def _declare(self, agent: AgentSettings, brain: Brain) -> None:
        """Have planning know what the brain can't do (P1). Its code is imported off the loop."""
        try:
            unable = await asyncio.to_thread(abilities.cannot, brain.can, agent.id, agent.role, self.settings.planning)
            await self.store.write(abilities.declare, agent.id, unable)
        except CoveyError as error:
            log.warning("%s: %s", agent.id, error.message)

    def _buddy_timer(self, agent: AgentSettings, runner: Runner) -> BuddyTimer:
        return BuddyTimer(buddy_means(self.store, self.settings), agent.id, self.clock, lambda: runner.led)


def _site(settings: Settings, agent: AgentSettings, clock: Clock) -> Site:
    """What the process lends its brain: the fleet's address and its own token, no other."""
    token = token_file.read(Path(settings.data_dir)).get(agent.id, "")
    data_dir = Path(settings.data_dir)
    return Site(
        url=f"http://{authority_of(settings.host, settings.console_port)}",
        token=token,
        data_dir=data_dir,
        grace_s=settings.grace_s,
        clock=clock,
        allow_private=settings.a2a.allow_private,
    )


async def _cease(loop: asyncio.Task[None]) -> None:
    loop.cancel()
    await asyncio.wait({loop})


async def _depart(store: Store, agent: str, leaving: Leaving) -> None:
    try:
        await store.write(living.leave, agent, pid=os.getpid(), reason=leaving.why or "told to end")
    except CoveyError as error:
        log.warning("%s: %s", agent, error.message)


async def end_predecessor(store: Store, agent: str, clock: Clock) -> list[str]:
    """The runs that a dead process of this agent left: what goes on of them is ended, then what they held is freed (K4c, M3).

    Raises:
        Failed: Something of it can't be ended.
    """
    for run in await store.read(runs.open_of, agent):
        brain = Identity(run.pid, run.start_ticks or 0, run.boot_id or "") if run.pid else None
        left = await end(brain, run_id=run.id, pgid=run.pgid or 0, grace_s=0.0, clock=clock)
        if left:
            pids = ", ".join(str(each.pid) for each in left)
            raise Failed(f"what is left of {agent}'s last brain can't be ended (pid {pids}); nothing is taken up until it is gone.")
    freed = await store.write(holding.lose_all, agent)
    if freed:
        log.warning("%s: %d runs of a dead process were given up: %s", agent, len(freed), ", ".join(freed[:5]))
    return freed
