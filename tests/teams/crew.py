"""A fleet whose agents work at the test's word: each takes what is next and settles it, by the runner's own verbs."""

from __future__ import annotations

from typing import Any

import msgspec

from covey.agents import configuring, living
from covey.agents.model import THE_OPERATOR, Caller
from covey.base.settings import BrainSettings, Settings
from covey.brains.model import Outcome, failure
from covey.runner.settling import settle
from covey.runner.taking import take
from covey.runner.work import Limits, Work
from covey.store import Store
from covey.tasks import reading as tasks
from covey.tasks.model import Task
from covey.teams.runs import driving, reading, starting
from covey.teams.runs.model import TeamDraft, TeamRun
from tests.conftest import EIGHT, ManualClock

NAMES = tuple(agent.id for agent in EIGHT.agents)
LIMITS = Limits(lease_s=60.0, digest_s=900.0, wait_s=3600.0, hard_cap_s=86400.0, max_context=8192)


def of_python(settings: Settings = EIGHT) -> Settings:
    """The fleet with brains that can do anything."""
    brain = BrainSettings(kind="python", target="brain:think")
    return msgspec.structs.replace(settings, agents=tuple(msgspec.structs.replace(agent, brain=brain) for agent in settings.agents))


class Crew:
    """The eight at work, on a store whose time the test moves."""

    def __init__(self, store: Store, clock: ManualClock) -> None:
        self.store = store
        self.clock = clock
        self.settings = of_python()

    async def arrive(self, *names: str) -> None:
        """These agents' processes run, all if none is named."""
        for name in names or NAMES:
            await self.store.write(
                living.arrive, name, node="here", pid=1000 + NAMES.index(name), start_ticks=1, boot_id="a-boot", port=8000
            )

    async def beat(self, *names: str) -> None:
        """Their hearts beat."""
        for name in names or NAMES:
            await self.store.write(living.beat, name, pid=1000 + NAMES.index(name))

    async def later(self, seconds: float, *alive: str) -> None:
        """Time passes; those who are alive beat; the sweep looks after the runs."""
        self.clock.at += seconds
        await self.beat(*alive)
        await self.sweep()

    async def sweep(self) -> int:
        """What the leader does each second for runs."""
        return await self.store.write(driving.advance_due)

    async def start(self, goal: str = "the goal", *, by: Caller = THE_OPERATOR, **more: Any) -> TeamRun:
        return await self.store.write(starting.start, TeamDraft(goal=goal, **more), by)

    async def run(self, ident: str) -> TeamRun:
        return await self.store.read(reading.show, ident)

    async def task(self, ident: str) -> Task:
        return await self.store.read(tasks.show, ident)

    async def take(self, agent: str) -> Work | None:
        """What the agent does next."""
        return await self.store.write(take, agent, "task", "here", 1000 + NAMES.index(agent), LIMITS)

    async def settle(self, work: Work, outcome: Outcome) -> None:
        await self.store.write(settle, work, outcome, LIMITS, 1000 + NAMES.index(work.agent))

    async def do(self, agent: str, outcome: Outcome | str | None = None) -> Work:
        """The agent does its next task."""
        work = await self.take(agent)
        assert work is not None, f"{agent} has nothing to do"
        done = Outcome(summary=outcome or f"{agent} did {work.item}") if not isinstance(outcome, Outcome) else outcome
        await self.settle(work, done)
        return work

    async def fail(self, agent: str, why: str = "it broke", **more: Any) -> Work:
        return await self.do(agent, failure(why, **more))

    async def do_all(self, *names: str) -> list[str]:
        """They work until nobody has anything to do; what was done, in order."""
        done = []
        more = True
        while more:
            more = False
            for name in names or NAMES:
                work = await self.take(name)
                if work is not None:
                    await self.settle(work, Outcome(summary=f"{name} did {work.item}"))
                    done.append(work.item)
                    more = True
        return done


async def crew_of(store: Store, clock: ManualClock, *alive: str) -> Crew:
    """The eight, at work."""
    found = Crew(store, clock)
    await store.write(configuring.configure, found.settings)
    await found.arrive(*alive)
    return found
