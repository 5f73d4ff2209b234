"""Who must wait for whom, so that no two at once go over a bound (PostgreSQL; on SQLite one process writes at a time)."""

from __future__ import annotations

import pytest

from covey.agents.model import THE_SYSTEM, as_agent
from covey.planning import planning
from covey.planning.model import Planned
from covey.reports import spending
from covey.runner import taking
from covey.runner.work import Limits, Work
from covey.store import Transaction
from covey.tasks import adding, reading
from covey.tasks.model import TaskDraft
from tests.conftest import EIGHT
from tests.inline import Hand
from tests.lock_waits import blocks, other
from tests.planning.idle import COMMAND, TIGHT, fleet_of, paid_turns, set_up
from tests.rules import rule

__all__ = ["other"]

pytestmark = pytest.mark.parametrize("database", ["postgres"], indirect=True)


@rule("P2")
def test_two_who_find_it_idle_at_once_give_it_three_tasks(hand: Hand, other: Hand) -> None:
    set_up(hand)
    found: list[Planned] = []
    blocks(
        hand,
        lambda tx: found.append(planning.plan(tx, "coder", EIGHT, THE_SYSTEM)),
        lambda: found.append(other(planning.plan, "coder", EIGHT, as_agent("devops"))),
    )
    assert sorted(len(each.tasks) for each in found) == [0, 3]
    assert len(hand(reading.queue_of_agent, "coder")) == 3
    assert hand(spending.tasks_of, "coder").spent == 3


@rule("P3")
def test_of_two_paid_brains_with_one_turn_left_one_starts(hand: Hand, other: Hand) -> None:
    settings = set_up(hand, fleet_of({"coder": {"brain": COMMAND}, "sales": {"brain": COMMAND}}, planning=TIGHT))
    paid_turns(hand, "sales", 2)
    for name in ("coder", "sales"):
        hand(adding.add, TaskDraft(description="do that for me", agent=name), as_agent("chief"))
    found: list[Work | None] = []

    def take(tx: Transaction, name: str) -> None:
        own = settings.agent(name)
        assert own is not None
        pid = 4000 + [each.id for each in settings.agents].index(name)
        found.append(taking.take(tx, name, "task", "n1", pid, Limits.of(settings, own)))

    blocks(hand, lambda tx: take(tx, "coder"), lambda: other(take, "sales"))
    assert [each is not None for each in found] == [True, False]
    assert hand(spending.turns).spent == 3
