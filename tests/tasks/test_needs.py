"""Dependencies: blocked until all are done, no circle, failing together unless told otherwise; split tasks and their parts (K3, K1)."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.agents.model import THE_OPERATOR
from covey.base.errors import Conflict, Cycle, Invalid
from covey.store import events
from covey.tasks import adding, changing, reading, working
from covey.tasks.model import Task, TaskDraft
from tests.inline import Hand
from tests.rules import rule
from tests.tasks.work import add, break_, do, now, state_of, take, taken


@rule("K3")
def test_a_task_is_blocked_until_all_it_needs_are_done(hand: Hand) -> None:
    one, other = add(hand, "one"), add(hand, "other")
    last = add(hand, "last", agent="ops", needs=[one, other])
    assert (last.state, last.blockers, sorted(last.dependencies)) == ("blocked", 2, sorted([one.task_id, other.task_id]))
    assert take(hand, "ops") is None
    do(hand)
    assert (now(hand, last).state, now(hand, last).blockers) == ("blocked", 1)
    assert [task.task_id for task in hand(reading.open_needs, last.task_id)] == [other.task_id]
    do(hand)
    assert hand.bells >= {"ops.tasks"}
    assert (now(hand, last).state, now(hand, last).blockers) == ("queued", 0)
    assert taken(hand, "ops")[0].task_id == last.task_id


@rule("K3")
def test_a_need_that_is_done_already_does_not_block(hand: Hand) -> None:
    one = add(hand)
    do(hand)
    assert add(hand, needs=[one, one]).state == "queued"


@rule("K3")
@pytest.mark.parametrize("how", ["fails", "is cancelled"])
def test_when_a_need_fails_what_needed_it_fails_with_the_reason(hand: Hand, how: str) -> None:
    """claude-code#23629: tasks that are not complete block what depends on them for ever."""
    first = add(hand, "first")
    second = add(hand, "second", needs=[first])
    third = add(hand, "third", needs=[second])
    aside = add(hand, "aside", agent="ops", needs=[first], anyway=True)
    if how == "fails":
        break_(hand, error="the disk is full")
    else:
        hand(changing.cancel, first.task_id, THE_OPERATOR, "not wanted")
    assert [state_of(hand, task) for task in (second, third)] == ["failed", "failed"]
    assert first.task_id in str(now(hand, second).error)
    assert ("the disk is full" if how == "fails" else "not wanted") in str(now(hand, third).error)
    assert state_of(hand, aside) == "queued"


@rule("K3", "Q5")
def test_the_last_of_a_long_chain_still_says_what_went_wrong_at_its_head(hand: Hand) -> None:
    chain = [add(hand, "0")]
    for number in range(1, 60):
        chain.append(add(hand, str(number), needs=[chain[-1]]))
    break_(hand, error="the disk is full")
    said = str(now(hand, chain[-1]).error)
    assert said == f"it needs {chain[-2].task_id}, which is failed, as that needs {chain[0].task_id}, which is failed: the disk is full"
    assert now(hand, chain[1]).error == f"it needs {chain[0].task_id}, which is failed: the disk is full"


@rule("K3")
def test_a_diamond_fails_each_task_once(hand: Hand) -> None:
    top = add(hand)
    sides = [add(hand, needs=[top]) for _ in range(2)]
    bottom = add(hand, needs=sides)
    break_(hand)
    kinds = [event.kind for event in hand(events.of_subject, bottom.task_id)]
    assert kinds.count("task.failed") == 1
    assert state_of(hand, bottom) == "failed"


@rule("K3")
def test_a_need_that_can_never_be_met_is_refused_at_once_unless_anyway(hand: Hand) -> None:
    broken = add(hand)
    break_(hand)
    with pytest.raises(Invalid) as caught:
        add(hand, needs=[broken])
    assert caught.value.field == "dependencies"
    assert add(hand, needs=[broken], anyway=True).state == "queued"


@rule("K3")
def test_a_task_that_needs_itself_is_refused(hand: Hand) -> None:
    with pytest.raises(Cycle) as caught:
        hand(adding.add, TaskDraft(description="x", task_id="t1", dependencies=["t1"]), THE_OPERATOR)
    assert caught.value.details["circle"] == ["t1", "t1"]


@rule("K3")
def test_a_circle_over_parts_and_needs_is_refused_with_its_path(hand: Hand) -> None:
    """beads#6506, #4814: a parent waits on its child, the cycle checker is blind to mixed kinds of edges."""
    parent = add(hand, "parent", task_id="parent")
    middle = add(hand, "middle", task_id="middle", agent="ops", needs=[parent])
    add(hand, "end", task_id="end", agent="ops", needs=[middle])
    _, token = taken(hand)
    for parts in (
        [TaskDraft(description="a", task_id="a", dependencies=["end"])],
        [TaskDraft(description="a", task_id="a"), TaskDraft(description="b", task_id="b", dependencies=["a", "parent"])],
    ):
        with pytest.raises(Cycle) as caught:
            hand(working.split, "coder", token, parts)
        circle = caught.value.details["circle"]
        assert circle[0] == circle[-1] == "parent"
        assert " needs ".join(circle) in caught.value.message
    assert hand(reading.children, "parent") == []
    assert state_of(hand, parent) == "running"
    assert (
        len(hand(working.split, "coder", token, [TaskDraft(description="a", task_id="a"), TaskDraft(description="b", dependencies=["a"])]))
        == 2
    )


@rule("K3")
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.integers(0, 20), max_size=4), min_size=1, max_size=9))
def test_any_graph_is_worked_off_in_an_order_that_keeps_every_need(hand: Hand, graph: list[list[int]]) -> None:
    tasks: list[Task] = []
    for number, needs in enumerate(graph):
        tasks.append(add(hand, f"{number}", needs=[tasks[need] for need in needs if need < number]))
    done: list[str] = []
    while (claimed := take(hand)) is not None:
        assert set(claimed[0].dependencies) <= set(done)
        hand(working.finish, "coder", claimed[1], "ok")
        done.append(claimed[0].task_id)
    assert sorted(done) == sorted(task.task_id for task in tasks)


@rule("K1", "H3", "Q6")
def test_a_split_task_waits_for_its_parts_and_is_joined_of_their_results(hand: Hand) -> None:
    whole = add(hand, "whole", project_id=None)
    _, token = taken(hand)
    parts = hand(working.split, "coder", token, [TaskDraft(description=f"part {number}", agent="ops") for number in range(3)])
    found = now(hand, whole)
    assert (found.state, found.attempts, found.blockers, found.holder) == ("blocked", 0, 3, None)
    assert [(part.parent_id, part.origin, part.created_by) for part in parts] == [(whole.task_id, "split", "coder")] * 3
    for number in range(3):
        assert state_of(hand, whole) == "blocked"
        do(hand, "ops", f"result {number}")
    found = now(hand, whole)
    assert found.state == "done"
    assert found.result["summary"] == "result 0\n\nresult 1\n\nresult 2"
    assert [part["result"]["summary"] for part in found.result["parts"]] == ["result 0", "result 1", "result 2"]


@rule("K1")
def test_a_split_task_fails_with_a_part_and_is_joined_after_that_part_was_tried_again(hand: Hand) -> None:
    whole = add(hand, "whole")
    after = add(hand, "after", agent="sales", needs=[whole])
    _, token = taken(hand)
    hand(working.split, "coder", token, [TaskDraft(description="a", agent="ops"), TaskDraft(description="b", agent="ops")])
    broken = break_(hand, "ops")
    assert [state_of(hand, task) for task in (whole, after)] == ["failed", "failed"]
    with pytest.raises(Conflict) as caught:
        hand(changing.retry, whole.task_id, THE_OPERATOR)
    assert broken.task_id in caught.value.message
    hand(changing.retry, broken.task_id, THE_OPERATOR)
    assert (hand(changing.retry, whole.task_id, THE_OPERATOR).state, now(hand, whole).blockers) == ("blocked", 2)
    assert hand(changing.retry, after.task_id, THE_OPERATOR).state == "blocked"
    do(hand, "ops"), do(hand, "ops")
    assert [state_of(hand, task) for task in (whole, after)] == ["done", "queued"]


@rule("K1")
def test_a_failed_whole_whose_parts_are_all_done_is_joined_by_a_retry(hand: Hand) -> None:
    whole = add(hand, "whole")
    _, token = taken(hand)
    hand(working.split, "coder", token, [TaskDraft(description="a", agent="ops")])
    part = break_(hand, "ops")
    hand(changing.retry, part.task_id, THE_OPERATOR)
    do(hand, "ops", "at last")
    assert state_of(hand, whole) == "failed"
    found = hand(changing.retry, whole.task_id, THE_OPERATOR)
    assert (found.state, found.result["summary"]) == ("done", "at last")


@rule("K1")
def test_a_waiting_task_can_be_split_by_hand_and_keeps_its_needs_and_approval(hand: Hand) -> None:
    first = add(hand, "first")
    whole = add(hand, "whole", needs=[first], approval=True)
    hand(changing.split, whole.task_id, [TaskDraft(description="a", agent="ops")], THE_OPERATOR)
    assert now(hand, whole).blockers == 3
    do(hand), do(hand, "ops")
    assert (state_of(hand, whole), now(hand, whole).blockers) == ("blocked", 1)
    assert hand(changing.approve, whole.task_id, THE_OPERATOR).state == "done"


@rule("K1")
def test_a_split_into_nothing_into_what_has_ended_or_into_too_many_is_refused(hand: Hand) -> None:
    add(hand, task_id="ended", by="coder")
    do(hand)
    whole = add(hand, "whole", by="coder")
    _, token = taken(hand)
    for parts in ([], [TaskDraft(description="work", agent="coder", task_id="ended")], [TaskDraft(description="x")] * 101):
        with pytest.raises(Invalid) as caught:
            hand(working.split, "coder", token, parts)
        assert caught.value.field == "parts"
    assert state_of(hand, whole) == "running"
    assert hand(reading.children, whole.task_id) == []


@rule("K3", "K6")
def test_a_part_that_is_open_already_is_waited_for_once(hand: Hand) -> None:
    add(hand, "shared", agent="ops", dedupe_key="k", by="coder")
    whole = add(hand, "whole")
    _, token = taken(hand)
    parts = [
        TaskDraft(description="shared", agent="ops", dedupe_key="k"),
        TaskDraft(description="shared again", agent="ops", dedupe_key="k"),
    ]
    assert len(hand(working.split, "coder", token, parts)) == 1
    assert now(hand, whole).blockers == 1
    do(hand, "ops")
    assert state_of(hand, whole) == "done"


@rule("K3")
def test_a_failed_task_that_is_tried_again_waits_again_for_what_it_needs(hand: Hand) -> None:
    first = add(hand, "first")
    second = add(hand, "second", needs=[first])
    break_(hand)
    hand(changing.retry, first.task_id, THE_OPERATOR)
    found = hand(changing.retry, second.task_id, THE_OPERATOR)
    assert (found.state, found.blockers) == ("blocked", 1)
    do(hand)
    assert state_of(hand, second) == "queued"
