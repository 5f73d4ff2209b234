"""Who must wait for whom: a verb that checks before it acts keeps others from changing what it checked, until its commit (PostgreSQL)."""

from __future__ import annotations

import pytest

from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.errors import Cycle, IdTaken
from covey.messages import sending
from covey.messages.model import draft
from covey.tasks import adding, reading, working
from covey.tasks.model import TaskDraft
from tests.inline import Hand
from tests.lock_waits import blocks, other
from tests.messages.mail import ask
from tests.rules import rule
from tests.tasks.work import add, now, taken

__all__ = ["other"]

pytestmark = pytest.mark.parametrize("database", ["postgres"], indirect=True)  # on SQLite one process writes at a time


@rule("M7", "K1")
def test_a_reply_waits_for_a_task_that_is_about_to_wait_for_it(hand: Hand, other: Hand) -> None:
    task = add(hand)
    _, token = taken(hand)
    asked = ask(hand, "coder", "ops").message_id
    blocks(
        hand,
        lambda tx: working.wait_for_answer(tx, "coder", token, asked),
        lambda: other(sending.send, draft(None, "yes", in_reply_to=asked), as_agent("ops")),
    )
    assert hand(working.answer_came, "coder", asked) == [task.task_id]


@rule("K3")
def test_the_end_of_a_need_waits_for_the_task_that_names_it(hand: Hand, other: Hand) -> None:
    need = add(hand)
    _, token = taken(hand)
    blocks(
        hand,
        lambda tx: adding.add(tx, TaskDraft(description="after", task_id="after", dependencies=[need.task_id]), THE_OPERATOR),
        lambda: other(working.finish, "coder", token, "ok"),
    )
    assert hand(reading.show, "after").state == "queued"
    assert now(hand, need).state == "done"


@rule("K6")
def test_a_second_task_of_a_key_waits_for_the_first(hand: Hand, other: Hand) -> None:
    found = []
    wanted = TaskDraft(description="x", dedupe_key="k")
    blocks(hand, lambda tx: adding.add(tx, wanted, THE_OPERATOR), lambda: found.append(other(adding.add, wanted, THE_OPERATOR)))
    assert [task.known for task in found] == [True]


@rule("T3")
def test_a_second_thing_of_an_id_waits_for_the_first(hand: Hand, other: Hand) -> None:
    refused = []

    def task() -> None:
        try:
            other(adding.add, TaskDraft(description="x", task_id="one"), as_agent("chief"))
        except IdTaken as error:
            refused.append(error.field)

    blocks(hand, lambda tx: sending.send(tx, draft("coder", "x", message_id="one"), as_agent("chief")), task)
    assert refused == ["taskId"]


@rule("M7")
def test_a_wait_the_other_way_round_waits_for_the_first(hand: Hand, other: Hand) -> None:
    refused = []

    def ask_back() -> None:
        try:
            other(sending.send, draft("chief", "x", requires_response=True), as_agent("coder"))
        except Cycle as error:
            refused.append(error.details["circle"])

    blocks(hand, lambda tx: sending.send(tx, draft("coder", "x", requires_response=True), as_agent("chief")), ask_back)
    assert refused == [["coder", "chief", "coder"]]
