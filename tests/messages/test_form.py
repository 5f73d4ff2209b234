"""The message is the seed's: its shape, its defaults, its bounds; a wrong one is refused by name and leaves nothing behind."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from covey.agents import configuring
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base import wire
from covey.base.errors import CoveyError, Forbidden, Invalid, TooLarge
from covey.messages import reading, sending
from covey.messages.checking import BATCH, BODY_BYTES, DATA_BYTES, SUBJECT_CHARS
from covey.messages.model import Content, Context, Draft, draft
from covey.store import events
from tests.inline import Hand
from tests.messages.mail import caller, inbox, say, state_of
from tests.rules import rule


def shown(hand: Hand, ident: str) -> dict[str, Any]:
    """The message as JSON shows it."""
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(hand(reading.show, ident)[0]))
    return found


def refused(hand: Hand, wanted: Draft, sender: str = "chief") -> CoveyError:
    """The error with which it is refused; nothing is stored and nothing has happened."""
    before = hand(events.last)
    with pytest.raises(CoveyError) as caught:
        hand(sending.send, wanted, caller(sender))
    assert hand(reading.latest) == []
    assert hand(events.last) == before
    return caught.value


@rule("M1", "T1")
def test_a_stored_message_has_every_field_of_the_seed_also_by_default(hand: Hand) -> None:
    receipt = hand(sending.send, wire.decode(Draft, '{"to": "coder", "content": {"body": "hello"}}'), as_agent("chief"))
    found = shown(hand, receipt.message_id)
    assert {name: found[name] for name in ("messageId", "from", "to", "type", "priority", "timestamp")} == {
        "messageId": receipt.message_id,
        "from": "chief",
        "to": "coder",
        "type": "notification",
        "priority": "medium",
        "timestamp": hand.now,
    }
    assert found["content"] == {"subject": "", "body": "hello", "data": {}, "requiresResponse": False, "deadline": None}
    assert {name: found["context"][name] for name in ("threadId", "projectId", "relatedTasks")} == {
        "threadId": "dm:chief:coder",
        "projectId": None,
        "relatedTasks": [],
    }
    assert {name: found[name] for name in ("inReplyTo", "visited", "expiresAt", "traceparent", "sentAt")} == {
        "inReplyTo": None,
        "visited": ["chief"],
        "expiresAt": None,
        "traceparent": None,
        "sentAt": None,
    }


@rule("M1")
def test_a_full_message_comes_back_as_it_was_sent_and_the_store_sets_the_time(hand: Hand) -> None:
    wanted = Draft(
        message_id="msg_12345",
        from_="chief",
        to="coder",
        type="question",
        priority="urgent",
        timestamp=1703275200,
        content=Content(
            body="Wie geht's? ¿Qué? 😀", subject="Übung", data={"b": [1, {"c": None}]}, requires_response=True, deadline=hand.now + 9
        ),
        context=Context(thread_id="thread_123", project_id="project_a", related_tasks=["task_123"]),
        expires_at=hand.now + 99,
        traceparent="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    )
    hand(sending.send, wanted, as_agent("chief"))
    found = shown(hand, "msg_12345")
    assert (found["timestamp"], found["sentAt"]) == (hand.now, 1703275200)
    assert found["content"] == {
        "subject": "Übung",
        "body": "Wie geht's? ¿Qué? 😀",
        "data": {"b": [1, {"c": None}]},
        "requiresResponse": True,
        "deadline": hand.now + 9,
    }
    assert found["context"]["relatedTasks"] == ["task_123"]
    assert (found["context"]["projectId"], found["expiresAt"], found["traceparent"]) == ("project_a", hand.now + 99, wanted.traceparent)


@rule("M1")
def test_a_deadline_is_kept_also_when_no_answer_is_required(hand: Hand) -> None:
    receipt = say(hand, "chief", "coder", deadline=hand.now + 50)
    assert shown(hand, receipt.message_id)["content"]["deadline"] == hand.now + 50


@rule("M1")
def test_the_seeds_own_example_with_its_past_deadline_is_taken(hand: Hand) -> None:
    receipt = hand(sending.send, draft("coder", "Please review", requires_response=True, deadline=1703278800), as_agent("chief"))
    assert receipt.status == "delivered"


PRIORITIES: dict[str | int, str] = {
    **{word: word for word in ("urgent", "high", "medium", "low")},
    0: "medium",
    1: "high",
    2: "urgent",
    3: "urgent",
    10**30: "urgent",
    -1: "low",
    -(10**30): "low",
}
TYPES = ("task", "question", "update", "notification", "buddy-check", "request", "response", "handover", "feedback", "alert")


@rule("M2")
def test_priorities_and_types_of_both_seeds_are_understood(hand: Hand) -> None:
    for given, meant in PRIORITIES.items():
        assert hand(reading.show, say(hand, "chief", "coder", priority=given).message_id)[0].priority == meant
    for kind in TYPES:
        assert hand(reading.show, say(hand, "chief", "coder", type=kind).message_id)[0].type == kind


@rule("M1", "M2")
def test_the_type_is_told_from_what_the_message_does(hand: Hand) -> None:
    question = hand(sending.send, draft("coder", "well?", requires_response=True), as_agent("chief"))
    answer = hand(sending.send, draft(None, "well.", in_reply_to=question.message_id), as_agent("coder"))
    assert [hand(reading.show, each.message_id)[0].type for each in (question, answer)] == ["question", "response"]


BOUNDS: list[tuple[dict[str, Any], str]] = [
    ({"body": "x" * BODY_BYTES}, "content.body"),
    ({"body": "\U0001f600" * (BODY_BYTES // 4)}, "content.body"),
    ({"body": "x", "subject": "é" * SUBJECT_CHARS}, "content.subject"),
    ({"body": "x", "data": {"a": "x" * (DATA_BYTES - len('{"a":""}'))}}, "content.data"),
    ({"body": "x", "data": {"a": "é" * ((DATA_BYTES - len('{"a":""}')) // 2)}}, "content.data"),
]


@rule("M10")
def test_each_bound_is_exact_to_one_more(hand: Hand) -> None:
    over_all = [one_over(good, field) for good, field in BOUNDS]
    for (_, field), over in zip(BOUNDS, over_all, strict=True):
        error = refused(hand, Draft(to="coder", content=Content(**over)))
        assert isinstance(error, TooLarge)
        assert (error.field, error.face.http) == (field, 413)
    for good, field in BOUNDS:
        receipt = hand(sending.send, Draft(to="coder", content=Content(**good)), as_agent("chief"))
        name = field.removeprefix("content.")
        assert hand(reading.show, receipt.message_id)[0].content[name] == good[name]


def one_over(good: dict[str, Any], field: str) -> dict[str, Any]:
    """The same content with one character more in that field."""
    name = field.removeprefix("content.")
    value = {name: good[name]["a"] if name == "data" else good[name]}[name]
    longer = value + value[0]
    return good | {name: {"a": longer} if name == "data" else longer}


@rule("M10", "M6")
def test_a_hundred_receivers_are_taken_and_not_one_more(hand: Hand) -> None:
    names = [f"nobody-{number}" for number in range(BATCH)]
    assert refused(hand, draft([*names, "coder"], "x")).field == "to"
    assert len(say(hand, "chief", [*names[1:], "coder"]).outcomes) == BATCH


@rule("M10", "T3")
def test_an_id_of_the_wrong_form_is_refused(hand: Hand) -> None:
    for ident in ("", "a b", "ä", "a/b", "x" * 129, "a\n", "msg_1\0"):
        assert refused(hand, draft("coder", "x", message_id=ident)).field == "messageId"
        assert refused(hand, draft("coder", "x", thread_id=ident)).field == "context.threadId"
        assert refused(hand, draft("coder", "x", in_reply_to=ident)).field == "inReplyTo"
        assert refused(hand, draft("coder", "x", related_tasks=["task_1", ident])).field == "context.relatedTasks"


@rule("T3")
def test_an_id_of_128_characters_is_taken(hand: Hand) -> None:
    ident = "A.z_9:-" + "x" * 121
    assert say(hand, "chief", "coder", message_id=ident).message_id == ident


NAN, INF = float("nan"), float("inf")


WRONG: list[tuple[Draft, str]] = [
    (draft("coder", ""), "content.body"),
    (draft("coder", " \n"), "content.body"),
    (draft("coder", "a\0b"), "content.body"),
    (draft("coder", "a\ud800b"), "content.body"),
    (draft("coder", "x", subject="\udfff"), "content.subject"),
    (draft("coder", "x", data={"a": NAN}), "content.data.a"),
    (draft("coder", "x", data={"a": {"b": [1.0, INF]}}), "content.data.a.b[1]"),
    (draft("coder", "x", data={"a": "\ud800"}), "content.data.a"),
    (draft("coder", "x", data={"a": object()}), "content.data"),
    (draft("coder", "x", deadline=NAN), "content.deadline"),
    (draft("coder", "x", deadline=INF), "content.deadline"),
    (draft("coder", "x", deadline=1_796_028_000_000.0), "content.deadline"),
    (draft("coder", "x", deadline=600.0), "content.deadline"),
    (Draft(to="coder", content=Content(body="x"), timestamp=INF), "timestamp"),
    (Draft(to="coder", content=Content(body="x"), expires_at=NAN), "expiresAt"),
    (Draft(to="coder", content=Content(body="x"), expires_at=60.0), "expiresAt"),
    (Draft(to="coder", content=Content(body="x"), traceparent="x" * 200), "traceparent"),
    (Draft(to="coder", content=Content(body="x"), context=Context(project_id="p" * 129)), "context.projectId"),
    (Draft(to="coder", content=Content(body="x"), visited=["ops"]), "visited"),
    (draft("coder", "x", type="poem"), "type"),
    (draft("coder", "x", priority="soon"), "priority"),
    (draft("x" * 1000, "x"), "to"),
    (draft(["coder", "\ud800"], "x"), "to"),
    (draft([], "x"), "to"),
    (draft(None, "x"), "to"),
    (draft("chief", "x"), "to"),
    (draft("system", "x"), "to"),
    # what only a Python caller can bring
    (draft("coder", 7), "content.body"),  # type: ignore[arg-type]
    (draft("coder", "x", subject=None), "content.subject"),  # type: ignore[arg-type]
    (draft("coder", "x", data=[1]), "content.data"),  # type: ignore[arg-type]
    (draft("coder", "x", requires_response=1), "content.requiresResponse"),  # type: ignore[arg-type]
    (draft("coder", "x", deadline="soon"), "content.deadline"),  # type: ignore[arg-type]
    (draft("coder", "x", deadline=True), "content.deadline"),
    (draft("coder", "x", priority=True), "priority"),
    (draft("coder", "x", priority=1.5), "priority"),  # type: ignore[arg-type]
    (draft(["coder", 5], "x"), "to"),  # type: ignore[list-item]
    (draft("coder", "x", message_id=5), "messageId"),  # type: ignore[arg-type]
]


@rule("M10")
def test_a_wrong_value_is_refused_by_name_and_nothing_is_stored(hand: Hand) -> None:
    for wanted, field in WRONG:
        error = refused(hand, wanted)
        assert isinstance(error, Invalid), wanted
        assert error.field == field, wanted


@rule("M10")
def test_data_that_nests_for_ever_is_refused(hand: Hand) -> None:
    endless: dict[str, Any] = {}
    endless["a"] = endless
    assert refused(hand, draft("coder", "x", data=endless)).field == "content"


@rule("M11")
def test_who_sends_is_who_the_token_says(hand: Hand) -> None:
    wanted = draft("ops", "x")
    for sender, claimed in (("coder", "chief"), ("coder", "operator"), ("operator", "chief"), ("coder", "system")):
        wanted.from_ = claimed
        error = refused(hand, wanted, sender)
        assert isinstance(error, Forbidden)
        assert (error.field, error.face.http) == ("from", 403)
    wanted.from_ = "coder"
    assert hand(reading.show, hand(sending.send, wanted, as_agent("coder")).message_id)[0].from_ == "coder"


@rule("A1b")
def test_a_project_must_be_one_of_the_fleets_if_it_has_any(hand: Hand) -> None:
    say(hand, "chief", "coder")
    wanted = Draft(to="coder", content=Content(body="x"), context=Context(project_id="nowhere"))
    hand(sending.send, wanted, THE_OPERATOR)
    with hand.transaction() as tx:
        tx.run(configuring.SET_PROJECT, name="site", path="/srv", agents="[]", now=tx.now)
    with pytest.raises(Invalid) as caught:
        hand(sending.send, wanted, THE_OPERATOR)
    assert caught.value.field == "context.projectId"


@rule("M3")
def test_a_refused_verb_leaves_the_others_of_its_transaction_alone(hand: Hand) -> None:
    with hand.transaction() as tx:
        sending.send(tx, draft("coder", "one", message_id="m1"), as_agent("chief"))
        with pytest.raises(Invalid), tx.attempt():
            sending.send(tx, draft("coder", "", message_id="m2"), as_agent("chief"))
        sending.send(tx, draft("coder", "three", message_id="m3"), as_agent("chief"))
    assert [message.message_id for message in inbox(hand, "coder")] == ["m3", "m1"]
    assert state_of(hand, "m1", "coder") == "delivered"
