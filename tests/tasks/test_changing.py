"""What people and leads do to a task: cancel, retry, reassign, approve, refuse, hand over, deadlines (K5a, K7)."""

from __future__ import annotations

import pytest

from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.errors import Conflict, Forbidden, IllegalMove, Invalid, LeaseLost, NotFound, Unknown
from covey.messages import handling, sending
from covey.messages.model import draft
from covey.tasks import changing, reading, working
from covey.tasks.model import TaskDraft
from tests.inline import Hand
from tests.rules import rule
from tests.tasks.work import add, break_, do, notices, now, state_of, take, taken


@rule("K7")
def test_a_cancelled_task_takes_its_token_its_parts_and_its_runner_along(hand: Hand) -> None:
    whole = add(hand, "whole")
    _, token = taken(hand)
    parts = hand(working.split, "coder", token, [TaskDraft(description="a", agent="ops"), TaskDraft(description="b", agent="ops")])
    _, running = taken(hand, "ops")
    found = hand(changing.cancel, whole.task_id, THE_OPERATOR, "not wanted")
    assert (found.state, found.error) == ("cancelled", "not wanted")
    assert "ops" in hand.bells
    assert [state_of(hand, part) for part in parts] == ["cancelled", "cancelled"]
    assert whole.task_id in str(now(hand, parts[0]).error)
    with pytest.raises(LeaseLost):
        hand(working.finish, "ops", running, "too late")
    assert not hand(working.renew, running, lease_s=60.0)


@rule("K1")
def test_what_has_ended_can_not_be_cancelled(hand: Hand) -> None:
    task = add(hand)
    do(hand)
    with pytest.raises(IllegalMove) as caught:
        hand(changing.cancel, task.task_id, THE_OPERATOR)
    assert (caught.value.code, caught.value.face.http) == ("illegal_move", 409)
    with pytest.raises(NotFound):
        hand(changing.cancel, "task_none", THE_OPERATOR)


@rule("K5")
def test_a_failed_task_is_tried_again_by_hand_with_all_its_attempts(hand: Hand) -> None:
    task = add(hand, max_attempts=1)
    break_(hand)
    found = hand(changing.retry, task.task_id, THE_OPERATOR)
    assert (found.state, found.attempts, found.error, found.finished_at) == ("queued", 0, None, None)
    assert hand.bells >= {"coder.tasks"}
    assert do(hand).state == "done"
    with pytest.raises(IllegalMove):
        hand(changing.retry, task.task_id, THE_OPERATOR)


@rule("K6")
def test_a_retry_does_not_open_a_second_task_of_one_key(hand: Hand) -> None:
    task = add(hand, dedupe_key="daily")
    break_(hand)
    other = add(hand, dedupe_key="daily")
    with pytest.raises(Conflict) as caught:
        hand(changing.retry, task.task_id, THE_OPERATOR)
    assert caught.value.details["open"] == other.task_id
    do(hand)
    assert hand(changing.retry, task.task_id, THE_OPERATOR).state == "queued"


@rule("K5a")
def test_a_task_that_wants_approval_waits_for_the_operator_alone(hand: Hand) -> None:
    task = add(hand, approval=True, by="chief")
    assert (task.state, task.approval) == ("blocked", "wanted")
    assert take(hand) is None
    for name in ("coder", "chief", "ops"):
        for verb in (changing.approve, changing.refuse):
            with pytest.raises(Forbidden):
                hand(verb, task.task_id, as_agent(name))
    found = hand(changing.approve, task.task_id, THE_OPERATOR)
    assert (found.state, found.approval) == ("queued", "approved")
    with pytest.raises(Conflict):
        hand(changing.approve, task.task_id, THE_OPERATOR)


@rule("K5a")
def test_a_refused_task_is_cancelled_with_the_reason(hand: Hand) -> None:
    task = add(hand, approval=True)
    found = hand(changing.refuse, task.task_id, THE_OPERATOR, "too dear")
    assert (found.state, found.approval) == ("cancelled", "refused")
    assert "too dear" in str(found.error)


@rule("K5a")
def test_an_approval_and_needs_are_waited_for_both(hand: Hand) -> None:
    first = add(hand)
    task = add(hand, agent="ops", needs=[first], approval=True)
    hand(changing.approve, task.task_id, THE_OPERATOR)
    assert state_of(hand, task) == "blocked"
    do(hand)
    assert state_of(hand, task) == "queued"


@rule("K5a")
def test_a_retry_is_no_way_round_an_approval(hand: Hand) -> None:
    task = add(hand, approval=True, deadline=hand.now + 5)
    hand.clock.at += 5
    assert hand(changing.fail_overdue) == [task.task_id]
    found = hand(changing.retry, task.task_id, THE_OPERATOR)
    assert (found.state, found.approval, found.deadline) == ("blocked", "wanted", None)
    assert take(hand) is None


@rule("K1")
def test_only_its_creator_its_agent_the_lead_and_the_operator_change_a_task(hand: Hand) -> None:
    task = add(hand, by="sales", agent="coder")
    for verb in (changing.cancel, changing.retry):
        with pytest.raises(Forbidden):
            hand(verb, task.task_id, as_agent("ops"))
    with pytest.raises(Forbidden):
        hand(changing.reassign, task.task_id, "ops", as_agent("ops"))
    for name in ("sales", "coder", "chief"):
        hand(changing.reprioritise, task.task_id, "high", as_agent(name))
    hand(changing.cancel, task.task_id, as_agent("sales"))


@rule("K1", "H4")
def test_waiting_work_is_given_to_another_and_running_work_is_not(hand: Hand) -> None:
    """adk-python#3736, camel#2723: an assignment is checked before anything changes."""
    task = add(hand)
    with pytest.raises(Unknown):
        hand(changing.reassign, task.task_id, "opps", THE_OPERATOR)
    with pytest.raises(Invalid) as caught:
        hand(changing.reassign, task.task_id, "@juggling", THE_OPERATOR)
    assert caught.value.field == "to"
    assert state_of(hand, task) == "queued"
    assert hand(changing.reassign, task.task_id, "ops", THE_OPERATOR).agent == "ops"
    assert hand.bells == {"ops.tasks"}
    taken(hand, "ops")
    with pytest.raises(Conflict) as busy:
        hand(changing.reassign, task.task_id, "coder", THE_OPERATOR)
    assert "ops" in busy.value.message
    with pytest.raises(Conflict):
        hand(changing.reprioritise, task.task_id, "low", THE_OPERATOR)


@rule("A2")
def test_the_work_of_one_who_leaves_goes_to_another_in_its_order(hand: Hand) -> None:
    """automaton PR#110: a hand-over purged the backlog."""
    tasks = [add(hand, f"{number}") for number in range(4)]
    blocked = add(hand, "later", needs=[tasks[0]])
    hand(sending.send, draft("coder", "mail stays"), as_agent("chief"))
    assert hand(changing.hand_over, "coder", "ops", THE_OPERATOR) == 5
    assert [task.description for task in hand(reading.queue_of_agent, "ops")] == ["0", "1", "2", "3", "later"]
    assert hand(reading.queue_of_agent, "coder") == []
    assert now(hand, blocked).agent == "ops"


@rule("A2")
def test_one_who_is_at_work_does_not_leave(hand: Hand) -> None:
    add(hand, agent=None)
    taken(hand)
    with pytest.raises(Conflict) as caught:
        hand(changing.hand_over, "coder", "ops", THE_OPERATOR)
    assert "covey stop coder" in caught.value.message
    with pytest.raises(Invalid):
        hand(changing.hand_over, "ops", "ops", THE_OPERATOR)
    with pytest.raises(Unknown):
        hand(changing.hand_over, "ops", "nobody", THE_OPERATOR)


@rule("K1")
def test_what_still_waits_at_its_deadline_fails_and_what_runs_goes_on(hand: Hand) -> None:
    running = add(hand, "running", deadline=hand.now + 10)
    taken(hand)
    waiting = add(hand, "waiting", deadline=hand.now + 10)
    blocked = add(hand, "blocked", needs=[running], deadline=hand.now + 10)
    hand.clock.at += 9.999
    assert hand(changing.fail_overdue) == []
    hand.clock.at += 0.001
    assert sorted(hand(changing.fail_overdue)) == sorted([waiting.task_id, blocked.task_id])
    assert hand(changing.fail_overdue) == []
    assert [state_of(hand, task) for task in (running, waiting, blocked)] == ["running", "failed", "failed"]
    assert "deadline" in str(now(hand, waiting).error)


# who is told


@rule("K5")
def test_a_failure_is_told_to_the_creator_and_the_lead_once(hand: Hand) -> None:
    """agentscope PR#2386: a leader waits for a report that never comes."""
    task = add(hand, "ship", by="sales", agent="coder", max_attempts=2)
    _, token = taken(hand)
    hand(working.fail, "coder", token, "first")
    assert notices(hand, "sales") == notices(hand, "chief") == []
    hand.clock.at += 60
    _, token = taken(hand)
    hand(working.fail, "coder", token, "the server is down")
    for name in ("sales", "chief"):
        (notice,) = notices(hand, name)
        assert notice.content["subject"] == "Task failed: ship"
        assert "the server is down" in notice.body
        assert notice.context["relatedTasks"] == [task.task_id]
    assert notices(hand, "coder") == []


@rule("M4b", "K5")
def test_the_end_of_a_task_wakes_who_gave_it_and_nobody_else(hand: Hand) -> None:
    add(hand, "given", by="sales", agent="coder")
    add(hand, "its own", by="coder", agent="coder")
    add(hand, "the operator's", agent="coder")
    for _ in range(3):
        do(hand, summary="42 pages")
    (notice,) = notices(hand, "sales")
    assert "42 pages" in notice.body
    claimed = hand(handling.claim, "sales", "run", lease_s=60.0, digest_s=900.0)
    assert claimed is not None
    assert claimed.main is not None
    assert claimed.main.message_id == notice.message_id
    assert [notices(hand, name) for name in ("coder", "chief", "operator")] == [[], [], []]


@rule("K5")
def test_an_operators_failed_task_is_told_to_the_operator(hand: Hand) -> None:
    add(hand, "mine")
    break_(hand)
    assert len(notices(hand, "operator")) == len(notices(hand, "chief")) == 1


@rule("K3", "K5")
def test_a_storm_of_failures_is_one_notice_for_each(hand: Hand) -> None:
    first = add(hand, "root", by="chief")
    for number in range(20):
        add(hand, f"after {number}", by="chief" if number % 2 else "sales", needs=[first])
    break_(hand)
    (lead,) = notices(hand, "chief")
    (sales,) = notices(hand, "sales")
    assert "root" in lead.body
    assert lead.body.count("is failed too") == 10
    assert len(sales.context["relatedTasks"]) == 10


@rule("K7")
def test_who_cancels_is_not_told_of_it_and_who_gave_it_is(hand: Hand) -> None:
    task = add(hand, by="sales", agent="coder")
    hand(changing.cancel, task.task_id, as_agent("sales"))
    assert notices(hand, "sales") == []
    other = add(hand, by="sales", agent="coder")
    hand(changing.cancel, other.task_id, THE_OPERATOR)
    assert len(notices(hand, "sales")) == 1
