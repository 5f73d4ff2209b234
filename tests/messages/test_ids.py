"""An id names one message or task in the fleet; the same one again from the same sender changes nothing (T3)."""

from __future__ import annotations

import pytest

from covey.agents import living
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.errors import IdTaken
from covey.messages import handling, reading, sending
from covey.messages.model import draft
from covey.store import events
from covey.tasks import adding
from covey.tasks.model import TaskDraft
from tests.inline import Hand
from tests.messages.mail import inbox, say, taken
from tests.rules import rule


@rule("T3")
def test_ids_say_what_they_name_and_sort_by_time(hand: Hand) -> None:
    idents = []
    for _ in range(5):
        idents.append(say(hand, "chief", "coder").message_id)
        hand.clock.at += 0.01
    assert idents == sorted(idents)
    assert len(set(idents)) == 5
    assert all(ident.startswith("msg_") and len(ident) == 36 for ident in idents)
    assert say(hand, "chief", ["coder", "ops"]).thread_id.startswith("thread_")


@rule("T3")
def test_the_same_id_again_answers_with_the_first_receipt_and_changes_nothing(hand: Hand) -> None:
    first = say(hand, "chief", "coder", "hello", message_id="m1", data={"a": 1, "b": 2})
    last = hand(events.last)
    hand.clock.at += 100
    again = say(hand, "chief", "coder", "hello", message_id="m1", data={"b": 2, "a": 1})
    assert (again.known, again.differs) == (True, False)
    assert (again.message_id, again.timestamp, again.thread_id, again.status) == (
        first.message_id,
        first.timestamp,
        first.thread_id,
        first.status,
    )
    assert hand(events.last) == last
    assert len(inbox(hand, "coder")) == 1


@rule("T3")
def test_the_same_id_with_other_content_is_marked_and_changes_nothing(hand: Hand) -> None:
    deadline = hand.now + 60
    base = {"subject": "s", "data": {"a": 1}, "priority": "high", "type": "task", "deadline": deadline, "thread_id": "t1"}
    say(hand, "chief", "coder", "hello", message_id="m1", **base)
    for change in (
        {"subject": "t"},
        {"data": {"a": 2}},
        {"priority": "low"},
        {"type": "alert"},
        {"deadline": deadline + 1},
        {"thread_id": "t2"},
    ):
        again = say(hand, "chief", "coder", "hello", message_id="m1", **(base | change))
        assert (again.known, again.differs) == (True, True), change
    assert say(hand, "chief", "ops", "hello", message_id="m1", **base).differs
    assert say(hand, "chief", "coder", "goodbye", message_id="m1", **base).differs
    assert [message.body for message in inbox(hand, "coder")] == ["hello"]
    assert inbox(hand, "ops") == []


@rule("T3", "M6")
def test_the_first_receipt_keeps_each_copys_first_outcome(hand: Hand) -> None:
    hand(living.pause, "ops", THE_OPERATOR)
    first = say(hand, "chief", ["coder", "ops", "nobody"], message_id="m1")
    taken(hand, "coder")
    hand(living.resume, "ops", THE_OPERATOR)
    again = say(hand, "chief", ["coder", "ops", "nobody"], message_id="m1")
    assert {name: outcome.status for name, outcome in again.outcomes.items()} == {"coder": "delivered", "ops": "held", "nobody": "unknown"}
    assert (again.status, again.known) == (first.status, True)


@rule("T3")
def test_an_id_that_another_sender_used_is_taken(hand: Hand) -> None:
    say(hand, "chief", "coder", message_id="m1")
    for other in ("ops", "operator"):
        with pytest.raises(IdTaken) as caught:
            say(hand, other, "coder", message_id="m1")
        assert (caught.value.field, caught.value.face.http) == ("messageId", 409)
    assert len(inbox(hand, "coder")) == 1


@rule("T3")
def test_an_id_names_one_thing_over_messages_and_tasks(hand: Hand) -> None:
    say(hand, "chief", "coder", message_id="one")
    hand(adding.add, TaskDraft(description="x", task_id="two"), as_agent("chief"))
    with pytest.raises(IdTaken) as caught:
        hand(adding.add, TaskDraft(description="x", task_id="one"), as_agent("chief"))
    assert caught.value.field == "taskId"
    with pytest.raises(IdTaken) as caught:
        say(hand, "chief", "coder", message_id="two")
    assert caught.value.field == "messageId"


@rule("T3")
def test_the_copies_of_a_message_share_its_id(hand: Hand) -> None:
    receipt = say(hand, "chief", ["coder", "ops", "sales"])
    copies = hand(reading.show, receipt.message_id)
    assert {copy.message_id for copy in copies} == {receipt.message_id}
    assert [copy.receiver for copy in copies] == ["coder", "ops", "sales"]


@rule("T3", "M4c")
def test_an_id_whose_message_was_refused_is_free(hand: Hand) -> None:
    assert say(hand, "chief", ["nobody"], message_id="m1").status == "unknown"
    again = say(hand, "chief", "coder", message_id="m1")
    assert (again.status, again.known) == ("delivered", False)


@rule("T3", "M3")
def test_a_message_that_is_sent_again_after_it_was_handled_is_not_handled_again(hand: Hand) -> None:
    """claude-code#92244, openclaw#17122: a retry keeps its id, and a second delivery is suppressed."""
    hand(sending.send, draft("coder", "do it", type="task", message_id="m1"), as_agent("chief"))
    token = taken(hand, "coder").token
    hand(handling.close, "coder", token)
    assert hand(sending.send, draft("coder", "do it", type="task", message_id="m1"), as_agent("chief")).known
    assert inbox(hand, "coder", unread=True) == []
