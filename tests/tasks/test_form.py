"""A task has the seeds' fields and ours, always all of them; a wrong one is refused by name and leaves nothing behind (K1, K6, T3)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from covey.agents import configuring
from covey.agents.model import as_agent
from covey.base.errors import CoveyError, Forbidden, Gone, IdTaken, Invalid, NotFound, TooLarge, Unknown
from covey.messages.checking import BODY_BYTES, DATA_BYTES
from covey.store import events
from covey.tasks import adding, reading
from covey.tasks.model import NEEDS, Repeat, Task, TaskDraft
from tests.inline import Hand
from tests.rules import rule
from tests.tasks.work import add, caller, do, now, take


def as_json(task: Task) -> dict[str, Any]:
    """The task as JSON shows it."""
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(task))
    return found


@rule("K1", "A4")
def test_a_task_has_every_field_of_the_seed_and_of_the_protocol_also_by_default(hand: Hand) -> None:
    found = as_json(add(hand, "Schedule team sync", by="ops"))
    assert {name: found[name] for name in ("description", "priority", "dependencies", "createdBy", "assignedBy", "createdAt")} == {
        "description": "Schedule team sync",
        "priority": "medium",
        "dependencies": [],
        "createdBy": "ops",
        "assignedBy": "ops",
        "createdAt": hand.now,
    }
    assert {
        name: found[name]
        for name in (
            "state",
            "parentId",
            "capability",
            "dedupeKey",
            "notBefore",
            "deadline",
            "attempts",
            "maxAttempts",
            "result",
            "error",
            "origin",
        )
    } == {
        "state": "queued",
        "parentId": None,
        "capability": None,
        "dedupeKey": None,
        "notBefore": hand.now,
        "deadline": None,
        "attempts": 0,
        "maxAttempts": 3,
        "result": None,
        "error": None,
        "origin": "agent",
    }
    assert (found["estimatedSeconds"], found["startTime"], found["estimatedCompletion"]) == (1800.0, None, None)
    assert found["taskId"].startswith("task_")


@rule("K1", "A4")
def test_a_running_task_says_since_when_and_until_when(hand: Hand) -> None:
    add(hand, estimated_seconds=600)
    hand.clock.at += 5
    claimed = take(hand)
    assert claimed is not None
    assert (claimed[0].start_time, claimed[0].estimated_completion, claimed[0].holder) == (hand.now, hand.now + 600, "coder")


@rule("K1")
def test_every_move_is_an_event_with_who_and_why(hand: Hand) -> None:
    task = add(hand)
    do(hand)
    story = [(event.kind, event.agent) for event in hand(events.of_subject, task.task_id)][::-1]
    assert story == [("task.added", "coder"), ("task.claimed", "coder"), ("task.done", "coder")]


def refused(hand: Hand, draft: TaskDraft, by: str = "operator") -> CoveyError:
    """The error with which it is refused; nothing is stored and nothing has happened."""
    before = hand(events.last), hand(reading.counts)
    with pytest.raises(CoveyError) as caught:
        hand(adding.add, draft, caller(by))
    assert (hand(events.last), hand(reading.counts)) == before
    return caught.value


NAN, INF = float("nan"), float("inf")
WRONG: list[tuple[dict[str, Any], str, type[CoveyError]]] = [
    ({"description": ""}, "description", Invalid),
    ({"description": "  "}, "description", Invalid),
    ({"description": "a\0b"}, "description", Invalid),
    ({"description": "\ud800"}, "description", Invalid),
    ({"description": 7}, "description", Invalid),
    ({"description": "x" * (BODY_BYTES + 1)}, "description", TooLarge),
    ({"description": "é" * (BODY_BYTES // 2 + 1)}, "description", TooLarge),
    ({"data": {"a": "x" * DATA_BYTES}}, "data", TooLarge),
    ({"data": {"a": NAN}}, "data.a", Invalid),
    ({"data": {"a": object()}}, "data", Invalid),
    ({"task_id": "a b"}, "taskId", Invalid),
    ({"task_id": "x" * 129}, "taskId", Invalid),
    ({"dedupe_key": ""}, "dedupeKey", Invalid),
    ({"dependencies": ["a b"]}, "dependencies", Invalid),
    ({"dependencies": ["task_none"]}, "dependencies", NotFound),
    ({"dependencies": [f"t{number}" for number in range(NEEDS + 1)]}, "dependencies", Invalid),
    ({"priority": "soon"}, "priority", Invalid),
    ({"priority": True}, "priority", Invalid),
    ({"max_attempts": 0}, "maxAttempts", Invalid),
    ({"max_attempts": 101}, "maxAttempts", Invalid),
    ({"max_attempts": True}, "maxAttempts", Invalid),
    ({"estimated_seconds": 0}, "estimatedSeconds", Invalid),
    ({"estimated_seconds": -1}, "estimatedSeconds", Invalid),
    ({"estimated_seconds": NAN}, "estimatedSeconds", Invalid),
    ({"estimated_seconds": 366 * 86400 + 1}, "estimatedSeconds", Invalid),
    ({"not_before": INF}, "notBefore", Invalid),
    ({"not_before": 1_796_028_000_000.0}, "notBefore", Invalid),
    ({"deadline": 1e300}, "deadline", Invalid),
    ({"deadline": NAN}, "deadline", Invalid),
    ({"deadline": 1.0}, "deadline", Invalid),
    ({"approval": 1}, "approval", Invalid),
    ({"anyway": "yes"}, "anyway", Invalid),
    ({"agent": "codr"}, "agent", Unknown),
    ({"agent": "x" * 200}, "agent", Invalid),
    ({"agent": "@juggling"}, "capability", Invalid),
    ({"agent": None, "capability": "juggling"}, "capability", Invalid),
    ({"project_id": "p" * 200}, "projectId", Invalid),
    ({"traceparent": "x" * 200}, "traceparent", Invalid),
    ({"from_": "chief"}, "from", Forbidden),
    ({"created_by": "chief"}, "createdBy", Forbidden),
    ({"assigned_by": "system"}, "assignedBy", Forbidden),
    ({"schedule": Repeat()}, "schedule", Invalid),
    ({"schedule": Repeat(every=60, cron="* * * * *")}, "schedule", Invalid),
    ({"schedule": Repeat(every=0.5)}, "schedule.every", Invalid),
    ({"schedule": Repeat(every=NAN)}, "schedule.every", Invalid),
    ({"schedule": Repeat(cron="61 * * * *")}, "schedule.cron", Invalid),
    ({"schedule": Repeat(cron="0 0 31 2 *")}, "schedule.cron", Invalid),
    ({"schedule": Repeat(cron="x")}, "schedule.cron", Invalid),
    ({"schedule": Repeat(cron="* * * * *" + " " * 300)}, "schedule.cron", Invalid),
    ({"schedule": Repeat(cron="0 9 * * *", time_zone="Mars/Base")}, "schedule.timeZone", Invalid),
]


@rule("M10", "K1")
def test_a_wrong_task_is_refused_by_name_and_nothing_is_stored(hand: Hand) -> None:
    for words, name, kind in WRONG:
        error = refused(hand, TaskDraft(**({"description": "x", "agent": "coder"} | words)))
        assert isinstance(error, kind), (words, error)
        assert error.field == name, (words, error)


@rule("M10")
def test_each_bound_is_taken_to_its_last_byte(hand: Hand) -> None:
    task = add(
        hand, "é" * (BODY_BYTES // 2), data={"a": "x" * (DATA_BYTES - len('{"a":""}'))}, estimated_seconds=366 * 86400.0, max_attempts=100
    )
    assert now(hand, task).description == "é" * (BODY_BYTES // 2)


@rule("M4c")
def test_an_unknown_agent_is_refused_with_the_nearest_names(hand: Hand) -> None:
    """camel#2676: tasks assigned to invented ids are silently lost; agno#9557, adk-python#3736."""
    error = refused(hand, TaskDraft(description="x", agent="codr"))
    assert isinstance(error, Unknown)
    assert "coder" in error.message
    assert error.details["nearest"] == ["coder"]


@rule("T3")
def test_a_known_id_answers_with_the_first_task(hand: Hand) -> None:
    first = add(hand, "one", task_id="t1")
    again = add(hand, "one", task_id="t1")
    other = add(hand, "two", task_id="t1")
    assert [(task.known, task.differs, task.description) for task in (first, again, other)] == [
        (False, False, "one"),
        (True, False, "one"),
        (True, True, "one"),
    ]
    assert isinstance(refused(hand, TaskDraft(description="one", agent="coder", task_id="t1"), "chief"), IdTaken)


@rule("K6")
def test_the_same_dedupe_key_while_one_is_open_is_the_open_one(hand: Hand) -> None:
    """nanobot#2797: the same task each heartbeat."""
    first = add(hand, "check", dedupe_key="daily")
    assert [add(hand, f"check {number}", dedupe_key="daily", by=by).task_id for number, by in enumerate(("operator", "chief", "ops"))] == [
        first.task_id
    ] * 3
    assert add(hand, "check", dedupe_key="weekly").task_id != first.task_id
    do(hand)
    again = add(hand, "check", dedupe_key="daily")
    assert (again.known, again.task_id != first.task_id) == (False, True)


@rule("K1")
def test_who_made_it_is_who_the_token_says(hand: Hand) -> None:
    task = hand(adding.add, TaskDraft(description="x", created_by="ops", assigned_by="ops", created_at=1.0), as_agent("ops"))
    assert (task.created_by, task.created_at, task.origin) == ("ops", hand.now, "agent")
    assert add(hand).origin == "operator"


def test_a_removed_agent_is_gone(hand: Hand) -> None:
    with hand.transaction() as tx:
        tx.run(configuring.REMOVE, id="sales", now=tx.now)
    assert isinstance(refused(hand, TaskDraft(description="x", agent="sales")), Gone)
