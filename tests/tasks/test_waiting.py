"""A task that waits for an answer: blocked until it comes or is given up, and never for ever (M7, K1)."""

from __future__ import annotations

import pytest

from covey.agents.model import THE_OPERATOR
from covey.base.errors import Conflict
from covey.messages import handling, sweeping
from covey.tasks import changing, reading, working
from covey.tasks.model import TaskDraft
from tests.inline import Hand
from tests.messages.mail import ask, say
from tests.rules import rule
from tests.tasks.work import add, now, state_of, take, taken


def waiting(hand: Hand) -> tuple[str, str]:
    """The ids of a task of coder and of the question to ops that it waits for."""
    task = add(hand)
    _, token = taken(hand)
    asked = ask(hand, "coder", "ops").message_id
    hand(working.wait_for_answer, "coder", token, asked)
    return task.task_id, asked


@rule("K1", "K4")
def test_a_task_that_waits_is_blocked_and_its_attempt_does_not_count(hand: Hand) -> None:
    ident, asked = waiting(hand)
    with hand.transaction() as tx:
        found = reading.show(tx, ident)
    assert (found.state, found.attempts, found.waiting_for, found.blockers, found.holder) == ("blocked", 0, asked, 1, None)
    assert take(hand) is None


@rule("K1", "M7")
def test_the_answer_sets_it_free_once(hand: Hand) -> None:
    ident, asked = waiting(hand)
    say(hand, "ops", None, "yes", in_reply_to=asked)
    assert hand(working.answer_came, "coder", asked) == [ident]
    assert hand(working.answer_came, "coder", asked) == []
    claimed, _ = taken(hand)
    assert (claimed.task_id, claimed.attempts, claimed.waiting_for) == (ident, 1, asked)


@rule("M7")
def test_a_wait_that_has_no_end_is_refused(hand: Hand) -> None:
    """openclaw#93323: no wait without a deadline."""
    task = add(hand)
    _, token = taken(hand)
    plain = say(hand, "coder", "ops").message_id
    answered = ask(hand, "coder", "ops").message_id
    say(hand, "ops", None, "yes", in_reply_to=answered)
    for ident in (plain, answered, "msg_none"):
        with pytest.raises(Conflict):
            hand(working.wait_for_answer, "coder", token, ident)
    assert state_of(hand, task) == "running"


@rule("M7", "K1")
def test_an_answer_that_nobody_fetched_sets_it_free_all_the_same(hand: Hand) -> None:
    ident, asked = waiting(hand)
    reply = say(hand, "ops", None, "yes", in_reply_to=asked).message_id
    hand(handling.acknowledge, "coder", reply)
    hand.clock.at += working.LEFT_LYING_S - 0.001
    assert hand(working.resume_answered) == []
    hand.clock.at += 0.001
    assert hand(working.resume_answered) == [ident]
    assert hand(working.resume_answered) == []


@rule("M7", "K1")
def test_a_wait_given_up_sets_it_free_too(hand: Hand) -> None:
    ident, asked = waiting(hand)
    hand.clock.at += 3600
    assert hand(working.resume_answered) == []
    assert [wait.message_id for wait in hand(sweeping.give_up_waits)] == [asked]
    assert hand(working.answer_came, "coder", asked) == [ident]


@rule("K1")
def test_a_waiting_task_that_is_split_waits_for_its_parts_alone(hand: Hand) -> None:
    ident, asked = waiting(hand)
    hand(changing.split, ident, [TaskDraft(description="a", agent="ops")], THE_OPERATOR)
    say(hand, "ops", None, "yes", in_reply_to=asked)
    assert hand(working.answer_came, "coder", asked) == []
    _, token = taken(hand, "ops")
    hand(working.finish, "ops", token, "ok")
    task = add(hand)
    assert now(hand, task).state == "queued"
    with hand.transaction() as tx:
        assert reading.show(tx, ident).state == "done"
