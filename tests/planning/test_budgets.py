"""The budgets of a day: set, counted, spent, renewed; and what a brain that costs money may start on (P3)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as bounds
from hypothesis import strategies as st

from covey.agents.model import OPERATOR, THE_OPERATOR, THE_SYSTEM, as_agent
from covey.base.errors import BudgetSpent, Forbidden, Invalid, Unknown
from covey.base.settings import PlanningSettings, Settings
from covey.brains.model import Cost, Outcome
from covey.messages import reading as mail
from covey.messages import sending
from covey.messages.model import draft
from covey.planning import budgets, gating
from covey.reports import spending, why
from covey.runner import settling, taking
from covey.runner.work import Lane, Limits, Work
from covey.store import Transaction, events
from covey.tasks import adding, changing, reading, runs, scheduling, working
from covey.tasks.model import Repeat, TaskDraft
from tests.conftest import EIGHT
from tests.inline import Hand
from tests.planning.idle import COMMAND, PYTHON, TIGHT, add, finish_all, fleet_of, later, paid_turns, plan, set_up, task
from tests.rules import rule

DAY_S = 86_400.0
PAID = fleet_of({"coder": {"brain": COMMAND, "plan": True}, "sales": {"brain": COMMAND}}, planning=TIGHT)


def take(hand: Hand, agent: str, lane: Lane = "task", settings: Settings = PAID) -> Work | None:
    """What the agent takes up next."""
    own = settings.agent(agent)
    assert own is not None
    pid = 4000 + [each.id for each in settings.agents].index(agent)
    return hand(taking.take, agent, lane, "n1", pid, Limits.of(settings, own))


def settle(hand: Hand, work: Work, outcome: Outcome, settings: Settings = PAID) -> None:
    """What comes of it is stored."""
    own = settings.agent(work.agent)
    assert own is not None
    pid = 4000 + [each.id for each in settings.agents].index(work.agent)
    hand(settling.settle, work, outcome, Limits.of(settings, own), pid)


def happened(hand: Hand, *kinds: str) -> list[events.Event]:
    return hand(events.after, events.START, kinds=kinds, limit=10_000).events


def told(hand: Hand) -> list[str]:
    return [str(each.content["subject"]) for each in hand(mail.inbox, OPERATOR).items]


# the budget of generated tasks


@rule("P3", "K8")
def test_a_spent_budget_of_tasks_means_no_more_until_one_falls_out_of_the_day(hand: Hand) -> None:
    settings = set_up(hand, fleet_of(planning=TIGHT))
    began = hand.now
    assert len(plan(hand, "coder", settings).tasks) == 3
    finish_all(hand, "coder")
    later(hand, 61, settings)
    assert len(plan(hand, "coder", settings).tasks) == 1
    finish_all(hand, "coder")
    later(hand, 61, settings)
    found = plan(hand, "coder", settings)
    assert found.tasks == ()
    assert found.why.startswith("the budget is spent: 4 of 4 generated tasks in 24 hours; there is something again at 20")
    assert hand(spending.tasks_of, "coder").renews_at == pytest.approx(began + DAY_S, abs=1)
    said = hand(why.why, "coder").sentence
    assert (
        "Nothing more is planned for it: its budget is spent, 4 of 4 generated tasks are used in 24 hours; there is something again" in said
    )
    assert [each.agent for each in happened(hand, "budget.spent")] == ["coder"]
    assert len(plan(hand, "ops", settings).tasks) == 3, "the others have theirs"
    later(hand, DAY_S - 100, settings)
    assert len(plan(hand, "coder", settings).tasks) == 3


@rule("P3")
def test_a_budget_of_nothing_means_nothing(hand: Hand) -> None:
    settings = set_up(hand, fleet_of(planning=PlanningSettings(tasks=0)))
    found = plan(hand, "coder", settings)
    assert (found.tasks, found.why) == ((), "the budget is spent: 0 of 0 generated tasks in 24 hours")


@rule("P3")
def test_budgets_are_as_usual_as_configured_or_as_set_by_hand_which_lasts(hand: Hand) -> None:
    set_up(hand)
    shown = hand(spending.overview)
    assert (shown["tasks"], shown["turns"]["limit"], shown["usd"]["limit"]) == ({"limit": 24, "source": "default"}, 200, 5.0)
    hand(budgets.configure, PlanningSettings(turns=7))
    assert hand(spending.overview)["turns"] | {"spent": 0} == {"limit": 7, "spent": 0, "left": 7, "source": "covey.toml", "renewsAt": None}
    hand(budgets.change, THE_OPERATOR, {"turns": 9, "usd": 0.5})
    hand(budgets.change, THE_OPERATOR, {"tasks": 2}, "coder")
    hand(budgets.configure, PlanningSettings(turns=8))
    shown = hand(spending.overview)
    assert (shown["turns"]["limit"], shown["turns"]["source"], shown["usd"]["limit"]) == (9, "operator", 0.5)
    assert {each["agentId"]: each["limit"] for each in shown["agents"]}["coder"] == 2
    assert len(plan(hand, "coder").tasks) == 2
    hand(budgets.change, THE_OPERATOR, {"turns": None, "usd": None})
    assert hand(spending.overview)["turns"]["limit"] == 8
    assert hand(spending.overview)["usd"]["source"] == "default"
    assert len(happened(hand, "budget.changed")) == 5


@rule("P3")
@pytest.mark.parametrize(
    ("new", "agent", "error"),
    [
        ({"tasks": -1}, None, Invalid),
        ({"tasks": 1.5}, None, Invalid),
        ({"turns": 1e9}, None, Invalid),
        ({"usd": float("nan")}, None, Invalid),
        ({"beans": 1}, None, Invalid),
        ({"usd": 1}, "coder", Invalid),
        ({"tasks": 1}, "nobody", Unknown),
    ],
)
def test_a_budget_that_cannot_be_is_refused_and_changes_nothing(hand: Hand, new: dict[str, Any], agent: str | None, error: type) -> None:
    set_up(hand)
    before = hand(spending.overview)
    with pytest.raises(error):
        hand(budgets.change, THE_OPERATOR, new, agent)
    assert hand(spending.overview) == before


@rule("P3", "M12")
def test_no_agent_sets_a_budget(hand: Hand) -> None:
    set_up(hand)
    with pytest.raises(Forbidden):
        hand(budgets.change, as_agent("coder"), {"turns": 1000})


# turns and money


@rule("P3")
def test_turns_of_paid_brains_are_counted_from_their_runs_and_what_was_given_back_is_not(hand: Hand) -> None:
    set_up(hand, PAID)
    paid_turns(hand, "coder", 2, 0.25)
    paid_turns(hand, "ops", 5, 0.1)
    with hand.transaction() as tx:
        runs.open_run(tx, "run_back", item="x", kind="task", agent="sales", node="n", attempt=1)
        runs.close(tx, "run_back", "returned")
        runs.open_run(tx, "run_open", item="x", kind="task", agent="sales", node="n", attempt=1)
    assert hand(spending.turns).spent == 3, "of the rules brain none, of the paid ones what began"
    assert hand(spending.money).spent == pytest.approx(1.0), "money counts whoever spends it"


@rule("P3", "K8")
def test_when_the_turns_are_spent_a_paid_brain_starts_only_on_what_a_person_asked_for(hand: Hand) -> None:
    set_up(hand, PAID)
    paid_turns(hand, "sales", 3)
    generated = hand(adding.add, TaskDraft(description="made up", agent="coder"), THE_SYSTEM, origin="generated").task_id
    peers = hand(adding.add, TaskDraft(description="do that for me", agent="coder"), as_agent("chief")).task_id
    assert take(hand, "coder") is None
    said = hand(why.why, peers).sentence
    assert "The fleet's budget is spent (3 of 3 turns of paid brains in 24 hours, and there is something again in " in said
    assert "no person asked for this; `covey budget set --turns N` gives more." in said
    asked = add(hand, "coder", "please").task_id
    work = take(hand, "coder")
    assert work is not None
    assert work.item == asked
    settle(hand, work, Outcome(summary="done"))
    scheduled = hand(
        adding.add, TaskDraft(description="each night", agent="coder"), THE_SYSTEM, origin="generated", schedule="nightly"
    ).task_id
    work = take(hand, "coder")
    assert work is not None
    assert work.item == scheduled
    settle(hand, work, Outcome(summary="done"))
    assert take(hand, "coder") is None
    hand(budgets.change, THE_OPERATOR, {"turns": 100})
    assert {"coder"} <= hand.bells, "who waits is woken"
    items = []
    while (work := take(hand, "coder")) is not None:
        items.append(work.item)
        settle(hand, work, Outcome(summary="done"))
    assert items == [generated, peers]


@rule("P3", "K6a")
def test_a_schedule_that_an_agent_makes_is_no_way_round_the_budget(hand: Hand) -> None:
    set_up(hand, PAID)
    paid_turns(hand, "sales", 3)
    every = TaskDraft(description="again and again", agent="coder", schedule=Repeat(every=60))
    first = hand(adding.add, every, as_agent("coder")).task_id
    later(hand, 180.0, PAID)
    (second,) = hand(scheduling.make_due)
    assert take(hand, "coder") is None
    for ident in (first, second):
        assert "no person asked for this" in hand(why.why, ident).sentence
    hand(budgets.change, THE_OPERATOR, {"turns": 100})
    work = take(hand, "coder")
    assert work is not None
    assert work.item == first


@rule("P3", "K6a")
def test_a_schedule_that_an_agent_makes_is_no_planning_and_needs_none(hand: Hand) -> None:
    set_up(hand, PAID)
    hand(adding.add, TaskDraft(description="each minute", agent="sales", schedule=Repeat(every=60)), as_agent("chief"))
    later(hand, 180.0, PAID)
    hand(scheduling.make_due)
    items = []
    while (work := take(hand, "sales")) is not None:
        items.append(work.item)
        assert "planning is off" not in hand(why.why, work.item).sentence
        settle(hand, work, Outcome(summary="done"))
    assert len(items) == 2


@rule("P3", "K8")
def test_when_the_money_is_spent_mail_between_agents_waits_and_the_operators_does_not(hand: Hand) -> None:
    set_up(hand, PAID)
    hand(sending.send, draft("coder", "look at this", priority="urgent"), as_agent("chief"))
    work = take(hand, "coder", "mail")
    assert work is not None
    settle(hand, work, Outcome(summary="seen", cost=Cost(usd=1.25)))
    peers = hand(sending.send, draft("coder", "and at that", priority="urgent"), as_agent("chief")).message_id
    assert take(hand, "coder", "mail") is None
    assert "The fleet's budget is spent ($1.25 of $1.00 in 24 hours" in hand(why.why, peers).sentence
    assert "until then its command brain starts only on what the operator asks for" in hand(why.why, "coder").sentence
    hand(sending.send, draft("coder", "I ask you"), THE_OPERATOR)
    work = take(hand, "coder", "mail")
    assert work is not None
    assert work.main is not None
    assert work.main.from_ == OPERATOR
    settle(hand, work, Outcome(summary="yes"))
    assert [each for each in told(hand) if each.startswith("Spent")] == ["Spent: $1.25 of $1.00"], "the operator is told once"
    later(hand, DAY_S, PAID)
    work = take(hand, "coder", "mail")
    assert work is not None
    assert work.item == peers


@rule("P3")
def test_a_part_of_what_a_person_asked_for_is_asked_for_and_so_is_what_it_approved(hand: Hand) -> None:
    set_up(hand, PAID)
    paid_turns(hand, "sales", 3)
    parent = add(hand, "coder", "a large one").task_id
    hand(changing.split, parent, [TaskDraft(description="part", agent="coder")], THE_OPERATOR)
    work = take(hand, "coder")
    assert work is not None
    assert work.task is not None
    assert work.task.parent_id == parent
    settle(hand, work, Outcome(summary="done"))
    whole = add(hand, "coder", "another large one").task_id
    work = take(hand, "coder")
    assert work is not None
    settle(hand, work, Outcome(kind="split", tasks=[TaskDraft(description="part", agent="coder")]))
    work = take(hand, "coder")
    assert work is not None
    assert work.task is not None
    assert (work.task.parent_id, work.task.created_by) == (whole, "coder")
    settle(hand, work, Outcome(summary="done"))
    waits = hand(adding.add, TaskDraft(description="mend", agent="coder", approval=True), THE_SYSTEM, origin="generated").task_id
    assert take(hand, "coder") is None
    hand(changing.approve, waits, THE_OPERATOR)
    work = take(hand, "coder")
    assert work is not None
    assert work.item == waits


@rule("P3")
def test_a_brain_that_costs_nothing_goes_on_whatever_is_spent(hand: Hand) -> None:
    set_up(hand, PAID)
    paid_turns(hand, "sales", 3, 5.0)
    assert len(plan(hand, "ops", PAID).tasks) == 3
    assert take(hand, "ops") is not None


@rule("P3")
def test_a_paid_or_python_brain_gets_no_generated_tasks_when_the_fleets_budget_is_spent(hand: Hand) -> None:
    settings = msgspec.structs.replace(fleet_of({"coder": {"brain": COMMAND, "plan": True}, "sales": {"brain": PYTHON}}), planning=TIGHT)
    set_up(hand, settings)
    paid_turns(hand, "coder", 3)
    for name in ("coder", "sales"):
        found = plan(hand, name, settings)
        assert found.tasks == ()
        assert found.why.startswith("the budget is spent: 3 of 3 turns of paid brains")


@bounds(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["coder", "sales"]), st.integers(0, 40_000), st.sampled_from([None, 0.2, 0.6])), max_size=14))
@rule("P3")
def test_in_no_24_hours_more_turns_start_unasked_than_the_budget_has(hand: Hand, steps: list[tuple[str, int, float | None]]) -> None:
    settings = fleet_of({"coder": {"brain": COMMAND}, "sales": {"brain": COMMAND}}, planning=TIGHT)
    set_up(hand, settings)
    later(hand, 2 * DAY_S, settings)  # what an earlier example spent lies behind
    started: list[tuple[float, float]] = []
    for name, pause, usd in steps:
        later(hand, pause, settings)
        hand(adding.add, TaskDraft(description="do that for me", agent=name), as_agent("chief"))
        work = take(hand, name, settings=settings)
        if work is not None:
            before = [(at, cost) for at, cost in started if at > hand.now - DAY_S]
            assert len(before) < TIGHT.turns
            assert sum(cost for _, cost in before) < TIGHT.usd
            started.append((hand.now, usd or 0.0))
            settle(hand, work, Outcome(summary="done", cost=Cost(usd=usd or 0.0)), settings)


# what unasked work makes


@rule("P3")
def test_what_an_agent_delegates_counts_on_its_own_budget(hand: Hand) -> None:
    settings = set_up(hand, fleet_of(planning=TIGHT))
    plan(hand, "chief", settings)
    work = take(hand, "chief", settings=settings)
    assert work is not None
    wanted = [TaskDraft(description="Review the dead letters", agent="comms"), TaskDraft(description="Security audit", agent="devops")]
    settle(hand, work, Outcome(summary="done", tasks=wanted), settings)
    assert hand(spending.tasks_of, "chief").spent == 4
    assert hand(spending.tasks_of, "comms").spent == hand(spending.tasks_of, "devops").spent == 0
    (made,) = hand(reading.queue_of_agent, "comms")
    assert (made.origin, made.created_by, made.visited) == ("generated", "chief", ["chief"])
    (refused,) = happened(hand, "task.refused")
    assert refused.data["code"] == BudgetSpent.code
    assert "nobody asked for this, and 4 of 4 generated tasks of chief are used in 24 hours" in refused.data["why"]


@rule("P3")
def test_what_nobody_asked_for_starts_no_brain_for_which_planning_is_off(hand: Hand) -> None:
    settings = set_up(hand, fleet_of({"coder": {"brain": COMMAND}}))
    plan(hand, "chief", settings)
    work = take(hand, "chief", settings=settings)
    assert work is not None
    wanted = [TaskDraft(description="write it", agent="coder"), TaskDraft(description="write it", agent="@code")]
    settle(hand, work, Outcome(summary="done", tasks=wanted), settings)
    (refused,) = happened(hand, "task.refused")
    assert "planning is off for coder, whose command brain may cost money" in refused.data["why"]
    assert take(hand, "coder", settings=settings) is None, "what waits for anybody able is not for it either"
    hand(adding.add, TaskDraft(description="do that for me", agent="coder"), as_agent("chief"))
    assert take(hand, "coder", settings=settings) is not None, "what another agent asks for in its own work is"


@rule("P3")
def test_what_a_person_asked_for_may_be_delegated_at_will(hand: Hand) -> None:
    settings = set_up(hand, fleet_of(planning=PlanningSettings(tasks=0)))
    add(hand, "chief", "Organise it")
    work = take(hand, "chief", settings=settings)
    assert work is not None
    settle(hand, work, Outcome(summary="done", tasks=[TaskDraft(description=f"part {n}", agent="ops") for n in range(5)]), settings)
    assert happened(hand, "task.refused") == []
    assert hand(spending.tasks_of, "chief").spent == 0


def test_the_gate_says_what_may_start(hand: Hand) -> None:
    settings = set_up(hand, PAID)
    assert hand(gating.gate, "coder") == "all"
    assert hand(gating.gate, "sales") == "ungenerated"
    paid_turns(hand, "coder", 3)
    assert hand(gating.gate, "coder") == "asked"
    later(hand, DAY_S + 1, settings)
    assert hand(gating.gate, "coder") == "all"


@rule("P3", "H3")
def test_a_part_of_what_was_generated_is_as_unasked_as_the_whole(hand: Hand) -> None:
    settings = set_up(hand, fleet_of({"coder": {"brain": COMMAND}}))

    def parts(tx: Transaction) -> None:
        made = adding.add(tx, TaskDraft(description="made up", agent="ops"), THE_SYSTEM, origin="generated")
        claimed = working.claim(tx, "ops", "run_x", lease_s=60)
        assert claimed is not None
        assert claimed[0].task_id == made.task_id
        working.split(tx, "ops", claimed[1], [TaskDraft(description="part", agent="coder")])

    hand(parts)
    assert take(hand, "coder", settings=settings) is None
    part = next(each for each in hand(reading.queue_of_agent, "coder"))
    assert "Nobody asked for this, and planning is off for coder" in hand(why.why, part.task_id).sentence
    assert task(hand, part.task_id).state == "queued"
    assert EIGHT.planning.turns == 200
