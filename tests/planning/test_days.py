"""Whole days of planning in one process, on a clock that is moved by hand: what is done in 24 hours, and what is never gone over (P1–P3)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from covey.agents.model import OPERATOR, as_agent
from covey.base.settings import PAID_KINDS, PlanningSettings, Settings
from covey.brains.model import Cost, Outcome, Turn
from covey.brains.rules import RulesBrain
from covey.messages import reading as mail
from covey.planning import due, planning, templates
from covey.reports import spending
from covey.runner import settling, taking
from covey.runner.turning import turn_of
from covey.runner.work import Lane, Limits, Work
from covey.store import events
from covey.tasks import adding, reading
from covey.tasks.model import TaskDraft
from tests.conftest import EIGHT
from tests.inline import Hand
from tests.planning.idle import COMMAND, PYTHON, beat, fleet_of, later, set_up
from tests.rules import rule

DAY_S = 86_400.0
CYCLE_S = 300.0
LANES: tuple[Lane, ...] = ("mail", "task")


class InlineHands:
    """The hands of a run, whose reads and writes are done at once."""

    def __init__(self, hand: Hand) -> None:
        self._hand = hand

    async def progress(self, text: str) -> None:
        pass

    async def started(self, *, pid: int, pgid: int) -> None:
        pass

    async def read(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return self._hand(verb, *args, **kwargs)

    async def write(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return self._hand(verb, *args, **kwargs)


class Made(NamedTuple):
    """A task that planning made."""

    at: float
    agent: str
    template: str


class Life:
    """A fleet that lives in cycles: everybody beats, who is due is planned for, everybody does what waits for it."""

    def __init__(self, hand: Hand, settings: Settings, think: Callable[[Turn], Outcome]) -> None:
        self.hand = hand
        self.settings = settings
        self.made: list[Made] = []
        self.turns: list[tuple[float, str, str]] = []
        """When which agent's brain began on what."""
        self._think = think
        self._limits = {agent.id: Limits.of(settings, agent) for agent in settings.agents}
        self._pids = {agent.id: 4000 + number for number, agent in enumerate(settings.agents)}

    def cycle(self) -> None:
        later(self.hand, CYCLE_S / 2, self.settings)
        for name in self.hand(due.due):
            found = self.hand(planning.plan, name, self.settings)
            assert len(found.tasks) <= 3
            for ident in found.tasks:
                task = self.hand(reading.show, ident)
                self.made.append(Made(self.hand.now, name, task.data["planned"]["template"]))
            waiting = [each for each in self.hand(reading.queue_of_agent, name) if each.origin == "generated"]
            assert len(waiting) <= 3
        later(self.hand, CYCLE_S / 2, self.settings)
        for agent in self.settings.agents:
            for lane in LANES:
                while (work := self._take(agent.id, lane)) is not None:
                    self.turns.append((self.hand.now, agent.id, work.item))
                    outcome = self._think(self.hand(turn_of, work, 1800.0, DAY_S))
                    self.hand(settling.settle, work, outcome, self._limits[agent.id], self._pids[agent.id])

    def _take(self, name: str, lane: Lane) -> Work | None:
        return self.hand(taking.take, name, lane, "n1", self._pids[name], self._limits[name])


def rules_of(hand: Hand, data_dir: Path) -> Callable[[Turn], Outcome]:
    """The default fleet's own brains."""
    brains = {agent.id: RulesBrain(msgspec.structs.replace(agent, cwd=str(data_dir)), data_dir) for agent in EIGHT.agents}
    return lambda turn: asyncio.run(brains[turn.agent].think(turn, InlineHands(hand)))


@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@rule("P1", "P2", "P3", "P3a")
def test_in_a_day_each_of_the_eight_does_real_work_and_the_operator_hears_of_it(hand: Hand, tmp_path: Path) -> None:
    set_up(hand)
    life = Life(hand, EIGHT, rules_of(hand, tmp_path))
    for _ in range(int(DAY_S / CYCLE_S)):
        life.cycle()
    tasks = [each for each in hand(reading.listed, limit=1000).items if each.origin == "generated"]
    done: dict[str, list[Any]] = defaultdict(list)
    for each in tasks:
        assert each.state == "done", each.error
        assert each.agent is not None
        done[each.agent].append(each)
    for agent in EIGHT.agents:
        theirs = done[agent.id]
        assert 10 <= len(theirs) <= 24, (agent.id, len(theirs))
        assert len({each.description for each in theirs}) >= 3
        figures = {each.description for each in theirs if any(sign.isdigit() for sign in str(each.result["data"]))}
        assert len(figures) >= 3, "with figures from the records"
        assert all(each.result["data"] for each in theirs)
        assert all(len(each.result["summary"]) > 20 for each in theirs)
    ours = [each for each in hand(mail.inbox, OPERATOR, limit=100).items if each.from_ == "comms"]
    assert [each.state for each in ours] == ["delivered"], "one digest, and a newer one would have replaced it"
    assert "Today (UTC)" in ours[0].body
    assert not any(each.kind == "task.failed" for each in hand(events.after, events.START, limit=50_000).events)
    partners = hand(events.after, events.START, kinds=("message.sent",), limit=50_000).events
    assert len(partners) > 8, "partners are told"
    assert hand(reading.counts)["done"] == len(tasks), "nothing else was made"
    assert hand(spending.turns).spent == 0


MIXED = fleet_of(
    {
        "coder": {"brain": COMMAND},
        "sales": {"brain": COMMAND, "plan": True},
        "intel": {"brain": PYTHON},
        "comms": {"brain": PYTHON},
        "ops": {"plan": False},
    },
    planning=PlanningSettings(tasks=9, turns=12, usd=1.5),
)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@rule("P2", "P3")
def test_a_fortnight_never_goes_over_a_budget_a_cool_down_or_three_at_a_time(hand: Hand) -> None:
    set_up(hand, MIXED)
    asked: set[str] = set()

    def think(turn: Turn) -> Outcome:
        """Costs money where the brain would; the paid planned one hands work on, to anybody, over and over."""
        agent = MIXED.agent(turn.agent)
        assert agent is not None
        paid = agent.brain.kind in PAID_KINDS
        unasked = turn.agent == "sales" and turn.kind == "task"
        more = [TaskDraft(description="Review the dead letters", agent=to) for to in ("coder", "devops", "sales")] if unasked else []
        return Outcome(summary="done", data={"n": 1}, tasks=more, cost=Cost(usd=0.2) if paid else None)

    life = Life(hand, MIXED, think)
    for number in range(int(14 * DAY_S / CYCLE_S)):
        if number % 100 == 0:  # a colleague asks the paid one for something in its own work
            hand(adding.add, TaskDraft(description="look at this", agent="coder", task_id=f"peer{number}"), as_agent("finance"))
            asked.add(f"peer{number}")
        life.cycle()
        beat(hand, MIXED)
    _check_cool_downs(life)
    counted: dict[str, list[float]] = defaultdict(list)
    for each in hand(events.after, events.START, kinds=("task.added",), limit=200_000).events:
        task = hand(reading.show, str(each.subject))
        if task.origin == "generated":
            counted[task.created_by if task.created_by != "system" else str(task.agent)].append(task.created_at)
    for name, times in counted.items():
        assert _most_in_a_day(times) <= 9, name
        assert name not in ("coder", "ops"), "nothing is planned for them, and nothing goes to them on anybody's budget"
    assert all(len(counted[agent]) > 14 for agent in ("chief", "finance", "intel", "devops", "comms", "sales"))
    paid = [at for at, agent, _ in life.turns if agent in ("coder", "sales")]
    assert len(paid) > 14
    assert _most_in_a_day(paid) <= 12
    assert _most_in_a_day(paid) * 0.2 <= 1.5 + 0.2, "the turn that goes over is the last"
    assert {item for _, agent, item in life.turns if agent == "coder"} <= asked, "what nobody asked for never started it"


def _check_cool_downs(life: Life) -> None:
    every = {(each.role, each.id): each.every_s for each in templates.of(PlanningSettings()).all}
    last: dict[tuple[str, str], float] = {}
    for made in life.made:
        key = (made.agent, made.template)
        assert made.at - last.get(key, -1e18) >= every[key], key
        last[key] = made.at


def _most_in_a_day(times: list[float]) -> int:
    times = sorted(times)
    return max((sum(1 for other in times if at - DAY_S < other <= at) for at in times), default=0)
