"""What a turn on mail comes to: all of it in one commit, once; what is refused of it stops nothing else (M3, M4a, M7, M8)."""

from __future__ import annotations

import pytest

from covey.base.errors import Conflict, LeaseLost
from covey.brains.model import Cost, Outcome, failure
from covey.contexts.entries import size_of as _size
from covey.messages.checking import DATA_BYTES
from covey.runner import holding, settling
from covey.store import Statement
from covey.tasks.model import TaskDraft
from tests.rules import rule
from tests.runner.desk import LIMITS, Desk, message, question

_COUNT = Statement("count", "SELECT message_id FROM copies WHERE receiver = :receiver")


@rule("M3", "M4a")
def test_settled_mail_is_handled_and_the_reply_is_sent_in_the_same_commit(desk: Desk) -> None:
    asked = desk.ask("coder", "how far?")
    work = desk.take("coder", "mail")
    assert desk.copy(asked, "coder").state == "seen"
    desk.settle(work, Outcome(summary="half way", data={"share": 0.5}, cost=Cost(usd=0.25, tokens_in=3, tokens_out=4), exit_code=0))
    assert desk.copy(asked, "coder").state == "handled"
    (reply,) = desk.answers(asked)
    assert (reply.from_, reply.receiver, reply.body, reply.content["data"]) == ("coder", "operator", "half way", {"share": 0.5})
    run = desk.run_of(work)
    assert (run.outcome, run.cost_usd, run.tokens, run.exit_code) == ("done", 0.25, 7, 0)


@rule("M7")
def test_no_reply_is_sent_where_none_was_asked_for(desk: Desk) -> None:
    told = desk.send("coder", "for your information")
    desk.settle(desk.take("coder", "mail"), Outcome(summary="noted"))
    assert desk.answers(told) == []
    assert desk.inbox("operator") == []


@rule("M7")
def test_a_turn_that_says_nothing_still_answers_who_waits(desk: Desk) -> None:
    asked = desk.ask("coder")
    desk.settle(desk.take("coder", "mail"), Outcome())
    (reply,) = desk.answers(asked)
    assert "nothing to say" in reply.body


@rule("M4c")
def test_a_brain_that_replies_itself_is_not_doubled(desk: Desk) -> None:
    asked = desk.ask("coder")
    own = message(None, "in my own words", in_reply_to=asked)
    desk.settle(desk.take("coder", "mail"), Outcome(summary="I answered", messages=[own]))
    assert [reply.body for reply in desk.answers(asked)] == ["in my own words"]


@rule("M4c", "M7")
def test_a_refused_own_reply_is_made_good_by_the_automatic_one(desk: Desk) -> None:
    asked = desk.ask("coder")
    too_much = message(None, "own words", in_reply_to=asked, data={"x": "y" * DATA_BYTES})
    other = message("chief", "something else")
    desk.settle(desk.take("coder", "mail"), Outcome(summary="the answer", messages=[other, too_much]))
    assert [reply.body for reply in desk.answers(asked)] == ["the answer"]
    assert [each.body for each in desk.inbox("chief")] == ["something else"]


@rule("M7", "M10")
def test_an_answer_gets_through_even_if_its_data_is_too_much_for_a_message(desk: Desk) -> None:
    asked = desk.ask("coder")
    desk.settle(desk.take("coder", "mail"), Outcome(summary="the answer", data={"x": "y" * DATA_BYTES}))
    (reply,) = desk.answers(asked)
    assert reply.body.startswith("the answer")
    assert "data is left out" in reply.body
    assert reply.content["data"] == {}


@rule("M6", "M10")
def test_what_is_refused_of_an_outcome_does_not_lose_the_rest(desk: Desk) -> None:
    asked = desk.ask("coder")
    outcome = Outcome(
        summary="answered",
        messages=[message("nobody-there"), message("chief", "first"), message("", "x"), message("ops", "last")],
        tasks=[TaskDraft(description="   "), TaskDraft(description="real work", agent="ops"), TaskDraft(description="x", agent="nobody")],
        decisions=["we go on"],
        notes=["remember this"],
    )
    work = desk.take("coder", "mail")
    desk.settle(work, outcome)
    assert [each.body for each in desk.inbox("chief")] == ["first"]
    assert [each.body for each in desk.inbox("ops")] == ["last"]
    assert [reply.body for reply in desk.answers(asked)] == ["answered"]
    assert desk.take("ops", "task").task is not None
    assert desk.kinds(work.item).count("message.refused") == 2
    assert desk.kinds(work.item).count("task.refused") == 2
    context = desk.context("coder")
    assert "decision: we go on" in context
    assert "note: remember this" in context
    assert sum("was refused" in text for text in context) == 4
    assert any("nobody-there" in text for text in context)


@rule("M6")
def test_a_copy_that_is_refused_is_told_to_the_sender_and_the_others_go(desk: Desk) -> None:
    to_two = message("chief", "to two")
    to_two.to = ["chief", "nobody-there"]
    desk.send("coder")
    desk.settle(desk.take("coder", "mail"), Outcome(messages=[to_two]))
    assert [each.body for each in desk.inbox("chief")] == ["to two"]
    assert any("nobody-there was not sent" in text for text in desk.context("coder"))


@rule("M10")
def test_more_messages_than_one_outcome_may_send_are_refused_aloud(desk: Desk) -> None:
    desk.send("coder")
    work = desk.take("coder", "mail")
    desk.settle(work, Outcome(messages=[message("chief", f"number {number}") for number in range(103)]))
    assert len(desk.hand(lambda tx: tx.all(_COUNT, receiver="chief"))) == 100
    assert any("3 messages was refused" in text for text in desk.context("coder"))


@rule("M8")
def test_a_failed_turn_is_tried_again_and_dead_after_the_fifth(desk: Desk) -> None:
    asked = desk.ask("coder", sender="chief")
    for attempt in range(1, 6):
        work = desk.take("coder", "mail")
        assert work.attempt == attempt
        desk.settle(work, failure("out of order"))
        assert desk.try_to_take("coder", "mail") is None
        desk.pass_time(60)
    assert desk.copy(asked, "coder").state == "dead"
    (told,) = [each for each in desk.inbox("chief") if each.from_ == "system"]
    assert "out of order" in told.body
    assert told.in_reply_to == asked
    (alert,) = [each for each in desk.inbox("operator") if each.type == "alert"]
    assert f"covey dead requeue {asked}" in alert.body


@rule("M8", "M4b")
def test_a_failing_message_does_not_blame_what_rode_along(desk: Desk) -> None:
    quiet = desk.send("coder", "by the way", sender="chief")
    desk.ask("coder")
    work = desk.take("coder", "mail")
    assert [each.message_id for each in work.riders] == [quiet]
    desk.settle(work, failure("no"))
    copy = desk.copy(quiet, "coder")
    assert (copy.state, copy.attempts) == ("delivered", 0)


@rule("M4b")
def test_quiet_mail_rides_along_and_is_handled_with_the_turn(desk: Desk) -> None:
    quiet = [desk.send("coder", f"by the way {number}", sender="chief") for number in range(2)]
    assert desk.try_to_take("coder", "mail") is None
    desk.send("coder", "now")
    work = desk.take("coder", "mail")
    assert [each.message_id for each in work.riders] == quiet
    assert [asked.message.message_id for asked in desk.turn(work).also] == quiet
    desk.settle(work)
    assert {desk.copy(each, "coder").state for each in quiet} == {"handled"}
    assert sum("by the way" in text for text in desk.context("coder")) == 2


@rule("M4b")
def test_quiet_mail_alone_comes_as_one_digest_when_it_has_waited(desk: Desk) -> None:
    quiet = [desk.send("coder", f"by the way {number}", sender="chief") for number in range(3)]
    assert desk.try_to_take("coder", "mail") is None
    desk.pass_time(900)
    work = desk.take("coder", "mail")
    turn = desk.turn(work)
    assert (work.kind, turn.kind, turn.message) == ("digest", "digest", None)
    assert [asked.message.message_id for asked in turn.also] == quiet
    desk.settle(work)
    assert {desk.copy(each, "coder").state for each in quiet} == {"handled"}


@rule("M7")
def test_a_turn_on_mail_that_waits_for_an_answer_does_not_answer_for_the_time_being(desk: Desk) -> None:
    asked = desk.ask("coder")
    desk.settle(desk.take("coder", "mail"), Outcome(kind="waiting", messages=[question("ops")]))
    assert desk.answers(asked) == []
    assert desk.copy(asked, "coder").state == "handled"
    assert [each.body for each in desk.inbox("ops")] == ["what do you say?"]


@rule("M7")
def test_a_turn_on_mail_whose_question_is_refused_answers_all_the_same(desk: Desk) -> None:
    asked = desk.ask("coder")
    desk.settle(desk.take("coder", "mail"), Outcome(kind="waiting", messages=[question("nobody")]))
    assert len(desk.answers(asked)) == 1


@rule("K4")
def test_settling_twice_is_refused_and_changes_nothing(desk: Desk) -> None:
    asked = desk.ask("coder")
    work = desk.take("coder", "mail")
    desk.settle(work, Outcome(summary="once"))
    with pytest.raises(LeaseLost):
        desk.settle(work, Outcome(summary="twice", messages=[message("chief", "again")], decisions=["again"]))
    assert [reply.body for reply in desk.answers(asked)] == ["once"]
    assert desk.inbox("chief") == []
    assert not any("again" in text for text in desk.context("coder"))


@rule("A8")
def test_a_process_that_is_no_longer_the_agent_settles_nothing(desk: Desk) -> None:
    asked = desk.ask("coder")
    work = desk.take("coder", "mail")
    with pytest.raises(Conflict):
        desk.hand(settling.settle, work, Outcome(summary="late"), LIMITS, 999_999)
    assert desk.copy(asked, "coder").state == "seen"
    assert desk.answers(asked) == []


@rule("L10")
def test_a_handoff_of_mail_is_a_failed_try_that_says_so(desk: Desk) -> None:
    asked = desk.ask("coder")
    desk.settle(desk.take("coder", "mail"), Outcome(kind="handoff", summary="not mine"))
    copy = desk.copy(asked, "coder")
    assert (copy.state, copy.attempts) == ("delivered", 1)
    assert copy.reason is not None
    assert "only tasks are handed over" in copy.reason


@rule("C1", "C3a")
def test_what_is_remembered_keeps_to_the_agents_own_bound(desk: Desk) -> None:
    small = LIMITS._replace(max_context=600)
    for number in range(4):
        desk.send("coder", f"{number} " + "words " * 150, sender="operator")
        work = desk.take("coder", "mail", small)
        desk.settle(work, Outcome(decisions=["d" * 3000], notes=["n" * 3000], messages=[message("nobody")]), small)
        assert desk.hand(_size, "coder") <= 600
    desk.add("x" * 5000)
    work = desk.take("coder", "task", small)
    desk.settle(work, Outcome(summary="r" * 3000), small)
    assert desk.hand(_size, "coder") <= 600


@rule("K4", "M3")
def test_mail_that_is_given_back_waits_as_if_it_had_not_been_taken(desk: Desk) -> None:
    asked = desk.ask("coder")
    quiet = desk.send("coder", "by the way", sender="chief")
    work = desk.take("coder", "mail")
    assert desk.hand(holding.give_back, work, "shutdown")
    assert [desk.copy(each, "coder").attempts for each in (asked, quiet)] == [0, 0]
    assert desk.run_of(work).outcome == "returned"
    assert desk.take("coder", "mail").attempt == 1
