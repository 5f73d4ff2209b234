"""Short words for a fleet that has nothing to do, so that a test of planning reads as a story."""

from __future__ import annotations

from typing import Any

import msgspec

from covey.agents import configuring, living
from covey.agents.model import THE_OPERATOR
from covey.base.settings import AgentSettings, BrainSettings, PlanningSettings, ProjectSettings, Settings
from covey.planning import budgets, planning
from covey.planning.model import Planned
from covey.store import Transaction
from covey.tasks import adding, reading, runs, working
from covey.tasks.model import Task, TaskDraft
from tests.conftest import EIGHT
from tests.inline import Hand

COMMAND = BrainSettings(kind="command", command=("true",))
PYTHON = BrainSettings(kind="python", target="brain:think")
RUN = 0


def fleet_of(brains: dict[str, AgentSettings | dict[str, Any]] | None = None, **more: Any) -> Settings:
    """The eight, some of them with other settings."""
    given = brains or {}
    agents = tuple(msgspec.structs.replace(each, **given[each.id]) if each.id in given else each for each in EIGHT.agents)  # type: ignore[arg-type]
    return msgspec.structs.replace(EIGHT, agents=agents, **more)


def set_up(hand: Hand, settings: Settings = EIGHT) -> Settings:
    """The fleet as configured, all of it alive and idle."""
    hand.clock.at += 10_000
    hand(configuring.configure, settings)
    hand(budgets.configure, settings.planning)
    for number, agent in enumerate(settings.agents):
        hand(living.arrive, agent.id, node="n1", pid=4000 + number, start_ticks=7, boot_id="a-boot", port=agent.port)
    return settings


def beat(hand: Hand, settings: Settings = EIGHT) -> None:
    """Every heart beats."""
    for number, agent in enumerate(settings.agents):
        hand(living.beat, agent.id, pid=4000 + number)


def later(hand: Hand, seconds: float, settings: Settings = EIGHT) -> None:
    """Time goes by, and everybody lives on."""
    hand.clock.at += seconds
    beat(hand, settings)


def plan(hand: Hand, agent: str, settings: Settings = EIGHT) -> Planned:
    """What an agent is given."""
    return hand(planning.plan, agent, settings)


def task(hand: Hand, ident: str) -> Task:
    """A task as it stands."""
    return hand(reading.show, ident)


def add(hand: Hand, agent: str, text: str = "a task", **more: Any) -> Task:
    """The operator's task."""
    return hand(adding.add, TaskDraft(description=text, agent=agent, **more), THE_OPERATOR)


def finish_all(hand: Hand, agent: str) -> list[str]:
    """The ids of what the agent did: all that waits for it."""
    done = []
    while (found := hand(_finish, agent)) is not None:
        done.append(found)
    return done


def _finish(tx: Transaction, agent: str) -> str | None:
    claimed = working.claim(tx, agent, tx.new_id("run"), lease_s=60)
    if claimed is None:
        return None
    working.finish(tx, agent, claimed[1], "done")
    return claimed[0].task_id


def paid_turns(hand: Hand, agent: str, count: int, usd: float | None = None) -> None:
    """An agent's brain ran so many times, and cost so much each time."""
    with hand.transaction() as tx:
        for _ in range(count):
            run = tx.new_id("run")
            runs.open_run(tx, run, item="task_x", kind="task", agent=agent, node="n1", attempt=1)
            runs.close(tx, run, "done", cost_usd=usd)


PROJECTS = (ProjectSettings(name="site", path="/srv/site", agents=("coder", "chief")),)
TIGHT = PlanningSettings(tasks=4, turns=3, usd=1.0)
