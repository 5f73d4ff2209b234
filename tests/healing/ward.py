"""A fleet whose agents live by hand, and the cycle of its leader over it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import msgspec

from covey.agents import living
from covey.agents.model import THE_OPERATOR
from covey.base.processes import Identity
from covey.base.settings import Settings
from covey.healing import incidents
from covey.healing.cycle import Cycle, Done, Lead
from covey.healing.model import Incident
from covey.nodes import records
from covey.planning.model import Planned
from covey.runner import holding, settling
from covey.runner.taking import take
from covey.runner.work import Work
from covey.store import Statement, Store, Transaction, events
from covey.tasks import adding
from covey.tasks.model import TaskDraft
from tests.conftest import EIGHT, ManualClock
from tests.runner.desk import LIMITS

LEAD = Lead(records.leads, records.cycled, records.cycle_age, records.unled_s)
INCIDENTS = Statement("test:incidents", "SELECT id FROM incidents ORDER BY seq")
CYCLE_S = 300.0
NODE = "here"


def nothing(_tx: Transaction, agent: str) -> Planned:
    """Nothing to plan."""
    return Planned(agent, (), "all that it can do was done a short while ago")


class Ward:
    """The default eight, alive on one node that leads."""

    def __init__(self, store: Store, clock: ManualClock, planner: Callable[[Transaction, str], Planned]) -> None:
        self.store = store
        self.clock = clock
        self.alive = [agent.id for agent in EIGHT.agents]
        self.settings: Settings = msgspec.structs.replace(EIGHT, cycle_s=CYCLE_S)
        self.deaf: set[int] = set()
        self.planner = planner
        self.cycle = self.cycle_of(NODE)

    def cycle_of(self, node: str) -> Cycle:
        """The cycle of a node."""
        return Cycle(self.store, node=node, settings=lambda: self.settings, lead=LEAD, answers=self.answers, planner=self.planner)

    async def answers(self, _host: str, port: int) -> bool:
        """Whether the agent of a port answers."""
        return port not in self.deaf

    async def enter(self) -> None:
        """The node is there and leads, its agents live."""
        me = Identity.of(os.getpid())
        assert me is not None
        await self.store.write(records.register, NODE, host="h", pid=me.pid, start_ticks=me.start_ticks, boot_id=me.boot_id, version="0")
        for name in self.alive:
            await self.arrive(name)

    async def arrive(self, name: str) -> None:
        """Its process serves."""
        await self.store.write(living.arrive, name, node=NODE, pid=os.getpid(), start_ticks=1, boot_id="b", port=1)

    async def beat(self) -> None:
        """The hearts of those alive beat."""
        for name in self.alive:
            await self.store.write(living.beat, name, pid=os.getpid())

    async def round(self) -> Done:
        """One cycle of the leader."""
        fence = await self.store.write(records.beat, NODE)
        assert fence is not None
        return await self.cycle.one_round(fence)

    async def rounds(self, seconds: float) -> None:
        """So long a time, with a cycle each five minutes."""
        for _ in range(int(seconds / CYCLE_S)):
            self.clock.at += CYCLE_S
            await self.beat()
            await self.round()

    async def add(self, agent: str, text: str = "a task", **more: Any) -> str:
        """The id of a task."""
        return (await self.store.write(adding.add, TaskDraft(description=text, agent=agent, **more), THE_OPERATOR)).task_id

    async def take(self, agent: str) -> Work | None:
        """Its next task, or None."""
        return await self.store.write(take, agent, "task", NODE, os.getpid(), LIMITS)

    async def begin(self, agent: str) -> Work:
        """Its next task, with its brain."""
        work = await self.take(agent)
        assert work is not None
        await self.store.write(holding.started, work)
        return work

    async def settle(self, work: Work, outcome: Any) -> None:
        """What its brain made of it."""
        await self.store.write(settling.settle, work, outcome, LIMITS, os.getpid())

    async def incidents(self, kind: str | None = None) -> list[Incident]:
        """All of them in order, ended ones too."""
        found = [await self.store.read(incidents.find, row.id) for row in await self.store.read(lambda tx: tx.all(INCIDENTS))]
        return [each for each in found if kind in (None, each.kind)]

    async def kinds(self, agent: str) -> list[str]:
        """What happened to an agent, in order."""
        return [event.kind for event in await self.store.read(events.of_agent, agent, limit=1000)][::-1]
