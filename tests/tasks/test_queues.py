"""Own, global and urgent queues, and the order in which they are served (K2)."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.agents import living
from covey.agents.model import THE_OPERATOR
from covey.messages.model import TASK_LEVEL_S
from covey.tasks import changing, reading, working
from tests.inline import Hand
from tests.rules import rule
from tests.tasks.work import add, now, take, taken

PRIORITIES = ("urgent", "high", "medium", "low")


@rule("K2")
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(PRIORITIES), st.sampled_from(["coder", "@code", "@general", None]), st.floats(0, 9 * 3600)), max_size=10
    )
)
def test_an_agents_queues_are_served_as_one_line(hand: Hand, tasks: list[tuple[str, str | None, float]]) -> None:
    level = {"high": 0.0, "medium": 6 * 3600.0, "low": 12 * 3600.0}
    made = []
    for priority, agent, pause in tasks:
        hand.clock.at += pause
        made.append((add(hand, agent=agent, priority=priority).task_id, priority, hand.now))
    urgent = [ident for ident, priority, _ in made if priority == "urgent"]
    rest = sorted((each for each in made if each[1] != "urgent"), key=lambda each: each[2] + level[each[1]])
    assert [taken(hand)[0].task_id for _ in made] == urgent + [each[0] for each in rest]
    assert take(hand) is None


@rule("K2")
def test_work_for_a_capability_goes_to_the_first_who_has_it(hand: Hand) -> None:
    task = add(hand, agent="@deploy")
    assert task.queue == "global:deploy"
    assert take(hand, "coder") is None
    assert taken(hand, "devops")[0].task_id == task.task_id
    anyones = add(hand, agent=None)
    assert taken(hand, "sales")[0].task_id == anyones.task_id


@rule("K2")
def test_urgent_work_for_a_capability_has_a_queue_of_its_own_before_all_else(hand: Hand) -> None:
    add(hand, agent="devops", priority="high")
    hand.clock.at += 1e6
    task = add(hand, agent="@deploy", priority="urgent")
    assert task.queue == "urgent:deploy"
    assert [each.task_id for each in hand(reading.waiting_in, "urgent")] == [task.task_id]
    assert taken(hand, "devops")[0].task_id == task.task_id


@rule("K2")
def test_old_low_work_is_not_starved(hand: Hand) -> None:
    old = add(hand, priority="low")
    hand.clock.at += 2 * TASK_LEVEL_S
    add(hand, priority="high")
    assert taken(hand)[0].task_id == old.task_id


@rule("K2", "K5")
def test_a_retry_keeps_its_place(hand: Hand) -> None:
    first, second = add(hand, "first"), add(hand, "second")
    _, token = taken(hand)
    hand(working.fail, "coder", token, "no luck")
    hand.clock.at += 2
    assert [taken(hand)[0].task_id for _ in range(2)] == [first.task_id, second.task_id]


@rule("K2")
def test_what_is_not_yet_to_begin_waits(hand: Hand) -> None:
    add(hand, not_before=hand.now + 10)
    assert take(hand) is None
    hand.clock.at += 10
    assert take(hand) is not None


@rule("K2")
def test_running_and_blocked_work_is_in_no_queue(hand: Hand) -> None:
    """gascity PR#3616: a claimed task is offered again, since its routing tag stayed."""
    running = add(hand, "running")
    taken(hand)
    add(hand, "blocked", needs=[running])
    waiting = add(hand, "waiting")
    assert hand(reading.queue_lengths) == {"coder": 1}
    assert [task.description for task in hand(reading.queue_of_agent, "coder")] == ["waiting", "blocked"]
    current = hand(reading.current, "coder")
    assert current is not None
    assert current.task_id == running.task_id
    assert now(hand, waiting).state == "queued"


@rule("A7", "K2")
def test_an_agent_that_is_paused_or_stopped_is_given_nothing(hand: Hand) -> None:
    add(hand, agent=None)
    for flag in (living.pause, living.stop):
        hand(flag, "coder", THE_OPERATOR)
        assert take(hand) is None
        hand(living.resume, "coder", THE_OPERATOR)
    assert take(hand) is not None


@rule("K2")
def test_another_priority_or_queue_keeps_the_age(hand: Hand) -> None:
    old, young = add(hand, "old", agent="ops", priority="low"), None
    hand.clock.at += 100
    young = add(hand, "young", priority="high")
    hand(changing.reassign, old.task_id, "coder", THE_OPERATOR)
    assert hand.bells == {"coder.tasks"}
    hand.clock.at += 100
    hand(changing.reprioritise, old.task_id, "high", THE_OPERATOR)
    assert [taken(hand)[0].task_id for _ in range(2)] == [old.task_id, young.task_id]


@rule("K2")
def test_work_that_becomes_urgent_moves_to_the_urgent_queue(hand: Hand) -> None:
    task = add(hand, agent="@review")
    assert hand(changing.reprioritise, task.task_id, 2, THE_OPERATOR).queue == "urgent:review"
    assert hand(changing.reprioritise, task.task_id, "low", THE_OPERATOR).queue == "global:review"
    assert hand(changing.reassign, task.task_id, "@code", THE_OPERATOR).queue == "global:code"
    assert hand(changing.reassign, task.task_id, "coder", THE_OPERATOR).queue == "coder"


@rule("K2")
def test_each_add_rings_those_who_may_take_it(hand: Hand) -> None:
    add(hand, agent="@review")
    assert hand.bells == {"chief.tasks", "coder.tasks"}
    add(hand, agent="ops")
    assert hand.bells == {"ops.tasks"}
    add(hand, agent="ops", approval=True)
    assert hand.bells == set()


def test_tasks_are_listed_page_by_page_by_state_and_agent(hand: Hand) -> None:
    made = [add(hand, f"{number}", agent=("coder", "ops")[number % 2]).task_id for number in range(9)]
    taken(hand, "ops")
    found, before = [], None
    while True:
        page = hand(reading.listed, before=before, limit=4)
        found += [task.task_id for task in page.items]
        if page.cursor is None:
            break
        before = page.cursor
    assert found == made[::-1]
    assert len(hand(reading.listed, agent="ops").items) == 4
    assert len(hand(reading.listed, agent="ops", state="queued").items) == 3
    assert len(hand(reading.listed, state="open").items) == 9
    assert hand(reading.counts) == {"queued": 8, "running": 1}
