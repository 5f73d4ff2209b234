"""The scripted brain that users' tests get: covey.testing."""

from __future__ import annotations

import asyncio
from pathlib import Path

from covey import testing
from covey.brains.loading import step_of
from covey.brains.model import Outcome
from covey.testing import Script, fail, message_turn, plan, say, task_turn


async def test_the_first_line_that_fits_answers() -> None:
    think = Script(
        say("for sales", agent="sales"), say("42", when="the ANSWER"), say("$agent did $text", kind="task"), say("hello", kind="message")
    )
    assert (await think(task_turn("what is the answer?"))).summary == "42"
    assert (await think(task_turn("anything", agent="sales"))).summary == "for sales"
    assert (await think(task_turn("wash up"))).summary == "coder did wash up"
    assert (await think(message_turn("hi"))).summary == "hello"
    assert [(call.agent, call.text) for call in think.calls] == [
        ("coder", "what is the answer?"),
        ("sales", "anything"),
        ("coder", "wash up"),
        ("coder", "hi"),
    ]


async def test_a_line_may_hold_for_the_first_tries_or_for_some_times_only() -> None:
    think = Script(fail("flaky", attempts=2), say("once", times=1), say("then"))
    assert [(await think(task_turn("x", attempt=attempt))).kind for attempt in (1, 2)] == ["failed", "failed"]
    assert [(await think(task_turn("x", attempt=3))).summary for _ in range(2)] == ["once", "then"]


async def test_what_no_line_fits_is_a_permanent_failure_that_names_the_lines() -> None:
    outcome = await Script(say("42", when="answer"))(task_turn("something else"))
    assert (outcome.kind, outcome.permanent) == ("failed", True)
    assert "'answer'" in outcome.error


async def test_a_plan_is_an_outcome_that_splits() -> None:
    outcome = await Script(plan("a", "b"))(task_turn("plan"))
    assert (outcome.kind, [task.description for task in outcome.tasks]) == ("split", ["a", "b"])


async def test_each_turn_is_in_the_log_before_it_is_answered(tmp_path: Path) -> None:
    think = Script(say(), log=tmp_path / "calls.jsonl")
    await think(task_turn("a"))
    await think(task_turn("b", attempt=2))
    assert [(call.text, call.attempt) for call in testing.read_log(tmp_path / "calls.jsonl")] == [("a", 1), ("b", 2)]


def test_a_script_is_taken_as_a_brain_that_is_async() -> None:
    step = step_of(Script(say("yes")), task_turn("x"))
    assert step.is_async
    outcome: Outcome = asyncio.run(step.call())
    assert outcome.summary == "yes"
