"""A runner at work on a real store, with a brain of the test's own, or a real program's."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from covey.agents import living
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.clock import Clock, SystemClock
from covey.base.processes import Identity
from covey.base.settings import AgentSettings, Settings
from covey.brains.model import Brain, Hands, Outcome, Turn
from covey.messages import reading as mail
from covey.messages import sending
from covey.messages.model import Message, draft
from covey.runner.place import Place
from covey.runner.runner import Runner
from covey.runner.sweeping import Sweeper
from covey.store import Store
from covey.tasks import adding, reading
from covey.tasks.model import Task, TaskDraft
from tests.conftest import EIGHT

Think = Callable[[Turn, Hands], Awaitable[Outcome]]
QUICK = msgspec.structs.replace(EIGHT, grace_s=0.2, heartbeat_s=0.1, wake_debounce_s=0.01)
BOUND_S = 20.0


class OwnBrain:
    """A brain that does what the test says, and tells when a turn has begun."""

    def __init__(self, think: Think, kind: str = "python") -> None:
        self.kind = kind
        self.turns: list[Turn] = []
        self.began = asyncio.Event()
        self.go_on = asyncio.Event()
        self._think = think

    async def think(self, turn: Turn, hands: Hands) -> Outcome:
        self.turns.append(turn)
        self.began.set()
        return await self._think(turn, hands)

    def can(self, description: str) -> bool:
        return True

    async def close(self) -> None:
        pass


def done() -> OwnBrain:
    """One that is done at once."""

    async def think(turn: Turn, hands: Hands) -> Outcome:
        return Outcome(summary=f"{turn.agent} did it")

    return OwnBrain(think)


def held_up() -> OwnBrain:
    """One that is done once the test says `go_on`."""

    async def think(turn: Turn, hands: Hands) -> Outcome:
        await brain.go_on.wait()
        return Outcome(summary="done after all")

    brain = OwnBrain(think)
    return brain


def deaf() -> OwnBrain:
    """One that does not heed its cancellation, until `go_on`."""

    async def think(turn: Turn, hands: Hands) -> Outcome:
        while not brain.go_on.is_set():
            try:
                await brain.go_on.wait()
            except asyncio.CancelledError:
                continue
        return Outcome(summary="done though cancelled")

    brain = OwnBrain(think)
    return brain


class Office:
    """One agent's runner, and the fleet's store around it."""

    def __init__(self, store: Store, agent: AgentSettings, settings: Settings, brain: Brain, clock: Clock, pid: int) -> None:
        self.store = store
        self.left: asyncio.Future[tuple[str, int]] = asyncio.get_running_loop().create_future()
        place = Place(store=store, agent=agent, settings=settings, brain=brain, clock=clock, node="here", pid=pid, leave=self._leave)
        self.runner = Runner(place, sweep=Sweeper(store, settings.start_s, clock).one_round)

    def _leave(self, why: str, code: int) -> None:
        if not self.left.done():
            self.left.set_result((why, code))

    async def add(self, text: str = "a task", **more: Any) -> str:
        return (await self.store.write(adding.add, TaskDraft(description=text, agent=self.runner.agent.id, **more), THE_OPERATOR)).task_id

    async def send(self, text: str = "hello", *, sender: str = "operator", **more: Any) -> str:
        by = THE_OPERATOR if sender == "operator" else as_agent(sender)
        return (await self.store.write(sending.send, draft(self.runner.agent.id, text, **more), by)).message_id

    async def task(self, ident: str) -> Task:
        return await self.store.read(reading.show, ident)

    async def copy(self, ident: str) -> Message:
        (found,) = await self.store.read(mail.show, ident)
        return found

    async def in_state(self, ident: str, *states: str) -> Task:
        """The task, once it is in one of these states."""

        async def is_there() -> bool:
            return (await self.task(ident)).state in states

        await until(is_there)
        return await self.task(ident)

    async def handled(self, ident: str) -> None:
        """Return once the message is handled."""

        async def is_handled() -> bool:
            return (await self.copy(ident)).state == "handled"

        await until(is_handled)

    async def gone(self) -> tuple[str, int]:
        """Why and with which code its process was told to leave."""
        return await asyncio.wait_for(asyncio.shield(self.left), BOUND_S)


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    """Return once it is true; fail after a bound."""
    async with asyncio.timeout(BOUND_S):
        while not await true():  # noqa: ASYNC110 - the store is what is waited for
            await asyncio.sleep(0.01)


@asynccontextmanager
async def office(
    store: Store,
    brain: Brain,
    /,
    *,
    name: str = "coder",
    settings: Settings = QUICK,
    clock: Clock | None = None,
    **more: Any,
) -> AsyncIterator[Office]:
    """The agent at work until the end; `more` are further settings of its own."""
    usual = settings.agent(name)
    me = Identity.of(os.getpid())
    assert usual is not None
    assert me is not None
    await store.write(living.arrive, name, node="here", pid=me.pid, start_ticks=me.start_ticks, boot_id=me.boot_id, port=usual.port)
    opened = Office(store, msgspec.structs.replace(usual, **more), settings, brain, clock or SystemClock(), me.pid)
    await opened.runner.start()
    try:
        yield opened
    finally:
        await opened.runner.stop()
