"""What a turn on a task comes to: done, failed, split, waiting; with what rode along, and what it sends (K1, K3, K4, K5, M7)."""

from __future__ import annotations

import os

import pytest

from covey.agents.model import THE_OPERATOR
from covey.base.errors import LeaseLost, TooLarge
from covey.brains.model import Outcome, failure
from covey.messages import handling
from covey.messages.checking import DATA_BYTES
from covey.runner import holding
from covey.tasks import changing
from covey.tasks.model import TaskDraft
from tests.rules import rule
from tests.runner.desk import Desk, message, question


@rule("K1", "K3")
def test_a_done_task_keeps_its_result_sends_its_mail_and_makes_its_tasks(desk: Desk) -> None:
    task = desk.add("write it")
    after = desk.add("read it", "ops", dependencies=[task])
    work = desk.begin("coder")
    made = TaskDraft(description="check it", agent="intel")
    desk.settle(work, Outcome(summary="written", data={"pages": 3}, messages=[message("chief", "it is there")], tasks=[made]))
    done = desk.task(task)
    assert (done.state, done.result) == ("done", {"summary": "written", "data": {"pages": 3}, "by": "coder"})
    assert desk.task(after).state == "queued"
    assert [each.body for each in desk.inbox("chief")] == ["it is there"]
    follow_up = desk.take("intel", "task").task
    assert follow_up is not None
    assert (follow_up.description, follow_up.visited) == ("check it", ["coder"])
    assert any("written" in text for text in desk.context("coder"))


@rule("K1", "M6")
def test_a_done_task_is_done_though_what_it_sends_is_refused(desk: Desk) -> None:
    task = desk.add()
    desk.settle(
        desk.begin("coder"), Outcome(summary="done", messages=[message("nobody")], tasks=[TaskDraft(description="x", agent="nobody")])
    )
    assert desk.task(task).state == "done"
    assert desk.kinds(task).count("message.refused") == 1
    assert desk.kinds(task).count("task.refused") == 1


@rule("K5")
def test_a_failed_try_is_queued_again_and_sends_nothing(desk: Desk) -> None:
    task = desk.add()
    outcome = Outcome(kind="failed", error="no paper", messages=[message("chief")], decisions=["buy paper"])
    desk.settle(desk.begin("coder"), outcome)
    found = desk.task(task)
    assert (found.state, found.attempts, found.error) == ("queued", 1, "no paper")
    assert desk.inbox("chief") == []
    assert any("no paper" in text for text in desk.context("coder"))
    assert "decision: buy paper" in desk.context("coder")


@rule("K5")
def test_a_failure_without_a_reason_says_that_there_is_none(desk: Desk) -> None:
    task = desk.add()
    desk.settle(desk.begin("coder"), Outcome(kind="failed"))
    assert desk.task(task).error == "its brain failed and gave no reason"


@rule("K5")
def test_a_permanent_failure_is_not_tried_again(desk: Desk) -> None:
    task = desk.add()
    desk.settle(desk.begin("coder"), failure("never", permanent=True))
    assert desk.task(task).state == "failed"


@rule("Q3")
def test_a_handoff_to_nobody_is_a_failed_try_that_says_why(desk: Desk) -> None:
    task = desk.add()
    desk.settle(desk.begin("coder"), Outcome(kind="handoff", summary="for ops"))
    found = desk.task(task)
    assert (found.state, found.attempts) == ("queued", 1)
    assert "does not say to whom" in (found.error or "")


@rule("K1", "H3")
def test_a_split_task_waits_for_its_parts_and_is_joined_of_their_results(desk: Desk) -> None:
    task = desk.add("all of it")
    parts = [TaskDraft(description="one half", agent="ops"), TaskDraft(description="other half", agent="intel")]
    desk.settle(desk.begin("coder"), Outcome(kind="split", tasks=parts, messages=[message("chief", "split")]))
    assert (desk.task(task).state, desk.task(task).attempts) == ("blocked", 0)
    assert [each.body for each in desk.inbox("chief")] == ["split"]
    desk.settle(desk.begin("ops"), Outcome(summary="first result"))
    assert desk.task(task).state == "blocked"
    desk.settle(desk.begin("intel"), Outcome(summary="second result"))
    joined = desk.task(task)
    assert (joined.state, joined.result["summary"]) == ("done", "first result\n\nsecond result")


@rule("K1")
@pytest.mark.parametrize(
    ("parts", "why"), [([], "no parts"), ([TaskDraft(description="fine"), TaskDraft(description="x", agent="nobody")], "nobody")]
)
def test_a_split_that_is_refused_is_a_failed_try_of_which_nothing_is_left(desk: Desk, parts: list[TaskDraft], why: str) -> None:
    task = desk.add()
    desk.settle(desk.begin("coder"), Outcome(kind="split", tasks=parts, messages=[message("chief", "split it")]))
    found = desk.task(task)
    assert (found.state, found.attempts) == ("queued", 1)
    assert why in (found.error or "")
    assert desk.inbox("chief") == []
    assert desk.try_to_take("ops", "task") is None


@rule("M7", "K4")
def test_a_task_waits_for_an_answer_and_goes_on_with_it(desk: Desk) -> None:
    task = desk.add("write to ops")
    desk.settle(desk.begin("coder"), Outcome(kind="waiting", messages=[question("ops", "which colour?"), message("chief", "I asked")]))
    waits = desk.task(task)
    assert (waits.state, waits.attempts, waits.holder) == ("blocked", 0, None)
    assert [each.body for each in desk.inbox("chief")] == ["I asked"]
    asked = desk.take("ops", "mail")
    assert asked.main is not None
    assert waits.waiting_for == asked.item
    assert desk.try_to_take("coder", "task") is None
    desk.settle(asked, Outcome(summary="blue"))
    assert desk.try_to_take("coder", "mail") is None, "the answer comes with the task, not as mail of its own"
    again = desk.begin("coder")
    turn = desk.turn(again)
    assert turn.answer is not None
    assert (turn.answer.message.body, turn.answer.message.from_, turn.attempt) == ("blue", "ops", 1)
    assert "blue" in turn.answer.enveloped
    assert any("blue" in text for text in desk.context("coder"))
    desk.settle(again, Outcome(summary="wrote it in blue"))
    assert desk.task(task).state == "done"


@rule("M7")
def test_a_wait_that_is_given_up_wakes_its_task_with_the_reason(desk: Desk) -> None:
    desk.add("write to ops")
    desk.settle(desk.begin("coder"), Outcome(kind="waiting", messages=[question("ops", "which colour?")]))
    desk.pass_time(3599)
    desk.sweep()
    assert desk.try_to_take("coder", "mail") is None
    desk.pass_time(2)
    desk.sweep()
    assert desk.try_to_take("coder", "mail") is None
    answer = desk.turn(desk.begin("coder")).answer
    assert answer is not None
    assert answer.message.from_ == "system"
    assert "ops did not answer" in answer.message.body


@rule("M7", "M8")
def test_a_question_that_ends_as_a_dead_letter_wakes_the_task_that_waits(desk: Desk) -> None:
    desk.add("write to ops")
    desk.settle(desk.begin("coder"), Outcome(kind="waiting", messages=[question("ops")]))
    for _ in range(5):
        desk.settle(desk.take("ops", "mail"), failure("broken"))
        desk.pass_time(60)
    assert desk.try_to_take("coder", "mail") is None
    answer = desk.turn(desk.begin("coder")).answer
    assert answer is not None
    assert "broken" in answer.message.body


@rule("M7")
def test_an_answer_that_nobody_fetched_for_its_task_sets_it_free_in_the_end(desk: Desk) -> None:
    task = desk.add("write to ops")
    desk.settle(desk.begin("coder"), Outcome(kind="waiting", messages=[question("ops")]))
    desk.settle(desk.take("ops", "mail"), Outcome(summary="blue"))
    (reply,) = desk.answers(desk.task(task).waiting_for or "")
    desk.hand(handling.acknowledge, "coder", reply.message_id)
    desk.sweep()
    assert desk.task(task).state == "blocked"
    desk.pass_time(61)
    assert desk.sweep() > 0
    assert desk.task(task).state == "queued"


@rule("M7", "M12")
def test_a_stranger_who_answers_unasked_does_not_wake_the_task(desk: Desk) -> None:
    task = desk.add("write to ops")
    desk.settle(desk.begin("coder"), Outcome(kind="waiting", messages=[question("ops")]))
    asked = desk.task(task).waiting_for or ""
    meddling = desk.send("coder", "green, I say", sender="sales", in_reply_to=asked, priority="urgent")
    work = desk.take("coder", "mail")
    assert work.item == meddling
    assert desk.task(task).state == "blocked"
    desk.settle(work)
    desk.settle(desk.take("ops", "mail"), Outcome(summary="blue"))
    desk.send("coder", "green, I say again", sender="sales", in_reply_to=asked)
    assert desk.try_to_take("coder", "mail") is None
    answer = desk.turn(desk.begin("coder")).answer
    assert answer is not None
    assert answer.message.body == "blue"


@rule("M7")
def test_a_late_answer_is_worth_more_than_the_notice_that_none_came(desk: Desk) -> None:
    desk.add("write to ops")
    desk.settle(desk.begin("coder"), Outcome(kind="waiting", messages=[question("ops")]))
    asked = desk.take("ops", "mail")
    desk.pass_time(3601)
    desk.sweep()
    desk.settle(asked, Outcome(summary="blue, though late"))
    assert desk.take("coder", "mail").main is not None, "the late answer is mail, once the notice has set the task free"
    answer = desk.turn(desk.begin("coder")).answer
    assert answer is not None
    assert answer.message.body == "blue, though late"


@rule("L10")
def test_what_a_turn_sends_and_makes_carries_the_chain_that_led_to_it(desk: Desk) -> None:
    desk.send("coder", "pass it on", sender="chief", priority="urgent")
    desk.settle(
        desk.take("coder", "mail"), Outcome(messages=[message("ops", "pass it on")], tasks=[TaskDraft(description="x", agent="intel")])
    )
    assert desk.inbox("ops")[0].visited == ["chief", "coder"]
    work = desk.begin("intel")
    assert work.visited == ("chief", "coder")
    desk.settle(work, Outcome(messages=[message("devops", "and on")], tasks=[TaskDraft(description="y", agent="sales")]))
    assert desk.inbox("devops")[0].visited == ["chief", "coder", "intel"]
    assert desk.begin("sales").visited == ("chief", "coder", "intel")


@rule("M4b", "M7")
def test_quiet_mail_beside_an_answer_is_not_lost_with_it(desk: Desk) -> None:
    desk.add("write to ops")
    desk.settle(desk.begin("coder"), Outcome(kind="waiting", messages=[question("ops")]))
    quiet = desk.send("coder", "by the way", sender="chief")
    desk.settle(desk.take("ops", "mail"), Outcome(summary="blue"))
    assert desk.try_to_take("coder", "mail") is None
    copy = desk.copy(quiet, "coder")
    assert (copy.state, copy.attempts) == ("delivered", 0)
    assert [each.message_id for each in desk.take("coder", "task").riders] == [quiet]


@rule("M7")
@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([], "no message of its outcome requires a response"),
        ([message("ops", "by the way")], "no message of its outcome requires a response"),
        ([message("chief", "I ask"), question("nobody")], "nobody"),
    ],
)
def test_a_wait_for_an_answer_that_nobody_was_asked_for_is_a_failed_try(desk: Desk, messages: list[object], why: str) -> None:
    task = desk.add()
    desk.settle(desk.begin("coder"), Outcome(kind="waiting", messages=messages))  # type: ignore[arg-type]
    found = desk.task(task)
    assert (found.state, found.attempts) == ("queued", 1)
    assert why in (found.error or "")
    assert desk.inbox("chief") == []
    assert desk.inbox("ops") == []


@rule("M7")
def test_a_wait_that_would_close_a_circle_fails_the_try_and_names_the_circle(desk: Desk) -> None:
    desk.ask("coder", sender="ops")
    task = desk.add()
    desk.settle(desk.begin("coder"), Outcome(kind="waiting", messages=[question("ops")]))
    assert "circle" in (desk.task(task).error or "")


@rule("T3", "M7")
def test_waiting_again_for_an_answer_that_has_come_is_a_failed_try_and_no_endless_loop(desk: Desk) -> None:
    task = desk.add()
    desk.settle(desk.begin("coder"), Outcome(kind="waiting", messages=[question("ops", message_id="q-1")]))
    desk.settle(desk.take("ops", "mail"), Outcome(summary="blue"))
    assert desk.try_to_take("coder", "mail") is None
    desk.settle(desk.begin("coder"), Outcome(kind="waiting", messages=[question("ops", message_id="q-1")]))
    found = desk.task(task)
    assert (found.state, found.attempts) == ("queued", 1)
    assert "no answer yet" in (found.error or "")


@rule("K4", "M4b")
def test_what_rides_with_a_task_goes_back_with_it_and_is_handled_when_it_settles(desk: Desk) -> None:
    quiet = desk.send("coder", "by the way", sender="chief")
    task = desk.add()
    work = desk.begin("coder")
    assert [each.message_id for each in work.riders] == [quiet]
    assert desk.hand(holding.give_back, work, "shutdown")
    assert (desk.task(task).state, desk.task(task).attempts) == ("queued", 0)
    assert (desk.copy(quiet, "coder").state, desk.copy(quiet, "coder").attempts) == ("delivered", 0)
    desk.settle(desk.begin("coder"))
    assert desk.copy(quiet, "coder").state == "handled"
    assert any("by the way" in text for text in desk.context("coder"))


@rule("M4b", "M8")
def test_what_rides_with_a_task_whose_try_fails_waits_on_unblamed(desk: Desk) -> None:
    quiet = desk.send("coder", "by the way", sender="chief")
    desk.add()
    desk.settle(desk.begin("coder"), failure("no"))
    copy = desk.copy(quiet, "coder")
    assert (copy.state, copy.attempts) == ("delivered", 0)


@rule("K4", "K7")
def test_a_cancelled_task_drops_the_whole_outcome(desk: Desk) -> None:
    quiet = desk.send("coder", "by the way", sender="chief")
    task = desk.add()
    work = desk.begin("coder")
    desk.hand(changing.cancel, task, THE_OPERATOR)
    assert desk.hand(holding.renew, "coder", os.getpid(), [work], 60.0) == [work.run_id], "though what rides along is leased still"
    with pytest.raises(LeaseLost):
        desk.settle(work, Outcome(summary="late", messages=[message("chief")], decisions=["late"]))
    assert desk.task(task).state == "cancelled"
    assert desk.inbox("chief") == []
    assert "decision: late" not in desk.context("coder")
    desk.hand(holding.drop, work)
    assert (desk.copy(quiet, "coder").state, desk.copy(quiet, "coder").attempts) == ("delivered", 0)
    assert desk.run_of(work).outcome == "lost"


@rule("K4")
def test_settling_a_task_twice_is_refused(desk: Desk) -> None:
    task = desk.add()
    work = desk.begin("coder")
    desk.settle(work, Outcome(summary="once"))
    with pytest.raises(LeaseLost):
        desk.settle(work, Outcome(summary="twice", messages=[message("chief")]))
    assert desk.task(task).result["summary"] == "once"
    assert desk.inbox("chief") == []


@rule("M10")
def test_data_over_its_bound_refuses_the_outcome_as_a_whole(desk: Desk) -> None:
    task = desk.add()
    work = desk.begin("coder")
    with pytest.raises(TooLarge):
        desk.settle(work, Outcome(summary="big", data={"x": "y" * DATA_BYTES}))
    assert desk.task(task).state == "running"
