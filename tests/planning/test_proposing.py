"""A planner's brain proposes tasks; the same rules and bounds apply to what it proposes (P4)."""

from __future__ import annotations

import pytest

from covey.agents import living
from covey.agents.model import THE_OPERATOR, THE_SYSTEM, as_agent
from covey.base.settings import BrainSettings, PlanningSettings, Settings
from covey.brains.model import Outcome
from covey.planning import planning, proposing
from covey.planning.model import topic_of
from covey.reports import spending
from covey.runner import settling, taking
from covey.runner.work import Limits, Work
from covey.store import events
from covey.tasks import adding, changing, reading
from covey.tasks.model import Task, TaskDraft
from tests.inline import Hand
from tests.planning.idle import COMMAND, PYTHON, add, finish_all, fleet_of, later, plan, set_up
from tests.rules import rule

PLANNING = PlanningSettings(planner="chief", tasks=5)
SETTINGS = fleet_of({"chief": {"brain": PYTHON}, "coder": {"brain": COMMAND}, "sales": {"brain": PYTHON}}, planning=PLANNING)
DOABLE = "Review the dead letters"


def limits(settings: Settings) -> Limits:
    chief = settings.agent("chief")
    assert chief is not None
    return Limits.of(settings, chief)


def asked(hand: Hand, settings: Settings = SETTINGS) -> Work:
    """The planner is asked, and takes it up."""
    (ident,) = plan(hand, "chief", settings).tasks
    work = hand(taking.take, "chief", "task", "n1", 4000, limits(settings))
    assert work is not None
    assert work.item == ident
    return work


def propose(hand: Hand, work: Work, *drafts: TaskDraft, settings: Settings = SETTINGS) -> None:
    """Its outcome."""
    hand(settling.settle, work, Outcome(summary="proposed", tasks=list(drafts)), limits(settings), 4000)


def refusals(hand: Hand) -> list[str]:
    found = hand(events.after, events.START, kinds=("plan.refused",), limit=1000).events
    return [str(each.data["why"]) for each in found]


def queue(hand: Hand, agent: str) -> list[Task]:
    return hand(reading.queue_of_agent, agent)


@rule("P4")
def test_the_planner_is_asked_about_those_who_have_nothing_to_do(hand: Hand) -> None:
    set_up(hand, SETTINGS)
    add(hand, "ops")
    work = asked(hand)
    assert work.task is not None
    names = [each["id"] for each in work.task.data["planned"]["for"]]
    assert names == ["sales", "finance", "intel", "devops", "comms"], "not the planner, not who has work, not whose planning is off"
    assert work.task.data["planned"]["for"][1]["capabilities"] == ["budget", "report", "forecast", "general"]
    assert proposing.is_asked(work.task)


@rule("P4", "P3", "K5a")
def test_what_it_proposes_becomes_tasks_counted_on_the_agents_budget(hand: Hand) -> None:
    set_up(hand, SETTINGS)
    propose(
        hand,
        asked(hand),
        TaskDraft(description=DOABLE, agent="comms", priority="medium", estimated_seconds=60),
        TaskDraft(
            description="Write to the customers", agent="sales", priority="urgent", dedupe_key="mine", dependencies=["x"], data={"a": 1}
        ),
    )
    assert refusals(hand) == []
    (done,) = queue(hand, "comms")
    assert (done.origin, done.state, done.priority, done.estimated_seconds, done.created_by) == (
        "generated",
        "queued",
        "medium",
        60,
        "system",
    )
    (waits,) = queue(hand, "sales")
    assert (waits.state, waits.approval, waits.priority, waits.dependencies) == ("blocked", "wanted", "low", [])
    assert waits.dedupe_key is not None
    assert waits.dedupe_key.startswith("planned:propose.")
    assert hand(spending.tasks_of, "comms").spent == hand(spending.tasks_of, "sales").spent == hand(spending.tasks_of, "chief").spent == 1


@rule("P4", "P2", "P1")
def test_the_same_rules_and_bounds_apply(hand: Hand) -> None:
    set_up(hand, SETTINGS)
    add(hand, "ops", not_before=hand.now + 10_000)
    work = asked(hand)
    hand(living.pause, "intel", THE_OPERATOR, "lunch")
    four = ["Review the dead letters", "Security audit", "Monitor system health", "Workflow documentation"]
    propose(
        hand,
        work,
        TaskDraft(description="Write a poem", agent="finance"),
        TaskDraft(description=DOABLE, agent="coder"),
        TaskDraft(description=DOABLE, agent="ops"),
        TaskDraft(description=DOABLE, agent="intel"),
        TaskDraft(description=DOABLE, agent="nobody"),
        TaskDraft(description=DOABLE, agent="@general"),
        TaskDraft(description=DOABLE),
        *(TaskDraft(description=text, agent="devops") for text in four),
    )
    assert [len(queue(hand, name)) for name in ("finance", "coder", "ops", "intel", "devops")] == [0, 0, 1, 0, 3]
    why = refusals(hand)
    assert len(why) == 8
    assert "finance's rules brain can't do that" in why
    assert any(each.startswith("planning is off for it: its command brain") for each in why)
    assert any(each.startswith("its queue is not empty") for each in why)
    assert "it is paused: lunch" in why
    assert sum("there is no agent" in each for each in why) == 3
    notes = [each for each in hand(events.after, events.START, kinds=("plan.refused",), limit=100).events if each.data["by"] == "chief"]
    assert len(notes) == 8


@rule("P4", "P3")
def test_a_proposal_is_not_made_again_within_a_day_nor_over_a_budget(hand: Hand) -> None:
    settings = set_up(hand, SETTINGS)
    propose(hand, asked(hand), TaskDraft(description=DOABLE, agent="devops"))
    finish_all(hand, "devops")
    later(hand, 21_601, settings)
    others = ["Security audit", "Monitor system health", "Workflow documentation"]
    propose(
        hand,
        asked(hand),
        TaskDraft(description="review THE  dead letters", agent="devops"),
        *(TaskDraft(description=text, agent="devops") for text in others),
    )
    assert refusals(hand) == ["devops has that to do already, or had it in the last 24 hours"]
    finish_all(hand, "devops")
    later(hand, 21_601, settings)
    propose(
        hand,
        asked(hand),
        *(TaskDraft(description=text, agent="devops") for text in ("Prepare budget analysis", "Check for resource conflicts")),
    )
    assert len(queue(hand, "devops")) == 1
    assert refusals(hand)[-1].startswith("the budget is spent: 5 of 5 generated tasks in 24 hours")


@rule("P4")
def test_what_was_proposed_long_ago_is_forgotten(hand: Hand) -> None:
    settings = set_up(hand, SETTINGS)
    for number in range(4):
        propose(hand, asked(hand), TaskDraft(description=f"Write letter {number}", agent="sales"))
        (task,) = queue(hand, "sales")
        hand(changing.refuse, task.task_id, THE_OPERATOR, "no")
        later(hand, 90_000, settings)
    with hand.transaction() as tx:
        assert len([row for row in tx.all(planning.PASTS, agent="sales") if row.template.startswith("propose.")]) == 1


@rule("P4", "P2")
def test_it_is_asked_no_more_often_than_configured_and_gets_other_work_meanwhile(hand: Hand) -> None:
    settings = set_up(hand, SETTINGS)
    propose(hand, asked(hand))
    later(hand, 61, settings)
    again = plan(hand, "chief", settings)
    texts = [hand(reading.show, ident).data["planned"]["template"] for ident in again.tasks]
    assert texts
    assert "propose" not in texts


@rule("P4")
@pytest.mark.parametrize("brain", [BrainSettings(), COMMAND])
def test_a_planner_that_cannot_think_or_costs_money_unasked_is_not_asked(hand: Hand, brain: BrainSettings) -> None:
    settings = set_up(hand, fleet_of({"chief": {"brain": brain}}, planning=PLANNING))
    found = plan(hand, "chief", settings)
    assert not any(proposing.is_asked(hand(reading.show, ident)) for ident in found.tasks)


@rule("P4", "M12")
def test_nobody_becomes_a_planner_by_saying_so(hand: Hand) -> None:
    set_up(hand, SETTINGS)
    said = {"planned": {"template": "propose", "for": []}}
    key = topic_of("propose", "chief")
    by_agent = hand(adding.add, TaskDraft(description="x", agent="chief", data=said, dedupe_key=key), as_agent("sales"), origin="generated")
    by_schedule = hand(adding.add, TaskDraft(description="x", agent="chief", data=said), THE_SYSTEM, origin="generated", schedule="nightly")
    assert not proposing.is_asked(by_agent)
    assert not proposing.is_asked(by_schedule)
