"""A process that holds agents, one as a rule: each with its lock, its port, its runner. It ends by SIGTERM, or when it must (A5, A10, H4)."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from covey.agents import living
from covey.api.agent_port import make_app
from covey.api.door import Door
from covey.api.serving import Serving, serve
from covey.app import snapshot
from covey.app.duties import Sweeper
from covey.app.noding import log_to_stderr
from covey.app.opening import open_store, run_dir
from covey.base import token_file
from covey.base.clock import Clock, SystemClock
from covey.base.ending import end
from covey.base.errors import CoveyError, PortTaken
from covey.base.markers import NameLock
from covey.base.ports import EX_OWN_INSTANCE
from covey.base.processes import Identity, set_title
from covey.base.settings import AgentSettings, Settings
from covey.brains.launching import Site
from covey.brains.making import make
from covey.runner import turns
from covey.runner.runner import Runner
from covey.runner.watchdog import EX_HUNG, Watchdog
from covey.store import Store
from covey.tasks import runs

log = logging.getLogger("covey.agent")


class Leaving:
    """Whether and why this process ends."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.why = ""
        self.code = 0

    def leave(self, why: str, code: int = 0) -> None:
        """End, for this reason; the first one counts."""
        if not self.asked.is_set():
            log.warning("this process ends: %s", why) if why else None
            self.why, self.code = why, code
            self.asked.set()


def main(snapshot_path: str, names: list[str], node: str) -> int:
    """Be these agents until told to end; the exit code."""
    log_to_stderr()
    settings = snapshot.read(Path(snapshot_path))
    try:
        return asyncio.run(host(settings, names, node))
    except CoveyError as error:
        print(f"{', '.join(names)}: {error.message}", file=sys.stderr)
        return EX_OWN_INSTANCE if isinstance(error, PortTaken) and error.details.get("own") else 1


async def host(settings: Settings, names: list[str], node: str) -> int:
    """Hold the agents; the exit code."""
    leaving = Leaving()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, leaving.leave, "")
    agents = [agent for name in names if (agent := settings.agent(name)) is not None]
    locks = [NameLock(run_dir(settings) / f"{agent.id}.lock") for agent in agents]
    if not all(lock.take(agent.id, agent.port) for lock, agent in zip(locks, agents, strict=True)):
        return EX_OWN_INSTANCE
    set_title(f"covey agent {' '.join(names)}"[:200])
    clock = SystemClock()
    store = open_store(settings, clock)
    watchdog = Watchdog(loop, settings.watchdog_s)
    watchdog.start()
    try:
        async with AsyncExitStack() as stack:
            for agent in agents:
                await _bring_up(stack, store, settings, agent, node, clock, leaving)
            await leaving.asked.wait()
            bound = loop.call_later(settings.grace_s + 30, _end_hard, leaving)
        bound.cancel()
    finally:
        watchdog.stop()
        await store.close()
    return leaving.code


def _end_hard(leaving: Leaving) -> None:
    """Cleaning up did not come to an end."""
    print(f"this process did not end in good order ({leaving.why}); it ends now", file=sys.stderr)
    os._exit(EX_HUNG)


async def _bring_up(
    stack: AsyncExitStack, store: Store, settings: Settings, agent: AgentSettings, node: str, clock: Clock, leaving: Leaving
) -> None:
    """An agent that serves and works; all of it is undone by the stack, in reverse."""
    await end_predecessor(store, agent.id, settings, clock)
    runner = Runner(
        store=store,
        agent=agent,
        settings=settings,
        brain=make(agent, _site(settings, agent, clock)),
        clock=clock,
        node=node,
        pid=os.getpid(),
        sweep=Sweeper(store, settings).one_round,
        leave=leaving.leave,
    )
    serving: Serving = await serve(
        make_app(Door(store=store, settings=settings, agent=agent.id, local=runner)), settings.host, agent.port, run_dir(settings)
    )
    stack.push_async_callback(serving.stop)
    me = Identity.of(os.getpid())
    assert me is not None
    await store.write(living.arrive, agent.id, node=node, pid=me.pid, start_ticks=me.start_ticks, boot_id=me.boot_id, port=agent.port)
    stack.push_async_callback(_depart, store, agent.id, leaving)
    await runner.start()
    stack.push_async_callback(runner.stop)


def _site(settings: Settings, agent: AgentSettings, clock: Clock) -> Site:
    """What the process lends its brain: its own address and its own token, no other."""
    token = token_file.read(Path(settings.data_dir)).get(agent.id, "")
    return Site(url=f"http://{settings.host}:{settings.console_port}", token=token, grace_s=settings.grace_s, clock=clock)


async def _depart(store: Store, agent: str, leaving: Leaving) -> None:
    try:
        await store.write(living.leave, agent, pid=os.getpid(), reason=leaving.why or "told to end")
    except CoveyError as error:
        log.warning("%s: %s", agent, error.message)


async def end_predecessor(store: Store, agent: str, settings: Settings, clock: Clock) -> None:
    """End what a dead process of this agent left running, then free what it held (K4c, M3)."""
    for run in await store.read(runs.open_of, agent):
        brain = Identity(run.pid, run.start_ticks or 0, run.boot_id or "") if run.pid else None
        await end(brain, run_id=run.id, pgid=run.pgid or 0, grace_s=0.0, clock=clock)
    freed = await store.write(turns.free_predecessor, agent)
    if freed:
        log.warning("%s: %d runs of a dead process were given up: %s", agent, len(freed), ", ".join(freed[:5]))
