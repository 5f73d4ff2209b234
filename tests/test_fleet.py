"""`covey.Fleet`, as a Python program uses it: what it answers, and what it raises, without a process of the fleet running."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from covey import Fleet
from covey.agents import living
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.errors import Failed, Invalid
from covey.links import verbs
from covey.links.model import LinkChange
from covey.messages import sending
from covey.messages.model import draft
from covey.teams.runs import reading as runs
from tests.conftest import Database
from tests.rules import rule
from tests.runner.office import until


@rule("L13", "M7")
async def test_a_question_that_is_refused_is_an_error_at_once(database: Database, tmp_path: Path) -> None:
    async with Fleet.open(tmp_path, environ={}, store=database.url) as fleet:
        await fleet.write(verbs.disable, "coder", "sales", THE_OPERATOR)
        with pytest.raises(Failed) as refused:
            await asyncio.wait_for(fleet.ask("sales", "what sells?", by="coder", timeout_s=600), 10)
    assert refused.value.problem()["code"] == "disabled"
    assert "disabled" in refused.value.message


@rule("L13")
async def test_a_question_that_comes_too_soon_says_when_it_may_be_asked(database: Database, tmp_path: Path) -> None:
    async with Fleet.open(tmp_path, environ={}, store=database.url) as fleet:
        await fleet.write(verbs.change, "coder", "sales", LinkChange(debounce_s=60.0), THE_OPERATOR)
        await fleet.send("sales", "the build is green", by="coder")
        with pytest.raises(Failed) as refused:
            await asyncio.wait_for(fleet.ask("sales", "what sells?", by="coder", timeout_s=600), 10)
        now = await fleet.read(lambda tx: tx.now)
    assert refused.value.problem()["code"] == "debounced"
    assert refused.value.retry_at is not None
    assert now < refused.value.retry_at <= now + 60


@rule("M7")
async def test_a_question_is_answered_by_the_reply_to_it(database: Database, tmp_path: Path) -> None:
    async with Fleet.open(tmp_path, environ={}, store=database.url) as fleet:
        asking = asyncio.create_task(fleet.ask("coder", "is it green?", timeout_s=30))

        async def is_asked() -> bool:
            return bool(await fleet.inbox("coder"))

        await until(is_asked)
        (asked,) = await fleet.inbox("coder")
        await fleet.write(sending.send, draft(None, "it is", in_reply_to=asked.message_id), as_agent("coder"))
        answer = await asyncio.wait_for(asking, 20)
    assert (answer.from_, answer.body) == ("coder", "it is")


@rule("M7")
async def test_the_word_of_a_third_about_a_question_is_not_its_answer(database: Database, tmp_path: Path) -> None:
    async with Fleet.open(tmp_path, environ={}, store=database.url) as fleet:
        asked = await fleet.send("coder", "is it green?", requires_response=True)
        await fleet.write(sending.send, draft(None, "I think it is", in_reply_to=asked.message_id), as_agent("sales"))
        assert await fleet.answer(asked.message_id, 0) is None
        await fleet.write(sending.send, draft(None, "it is", in_reply_to=asked.message_id), as_agent("coder"))
        answer = await fleet.answer(asked.message_id, 0)
    assert answer is not None
    assert answer.from_ == "coder"


@rule("M7")
async def test_the_news_that_no_answer_comes_ends_the_wait_and_is_no_answer(database: Database, tmp_path: Path) -> None:
    async with Fleet.open(tmp_path, environ={}, store=database.url) as fleet:
        asked = await fleet.send("coder", "is it green?", requires_response=True)
        await fleet.write(sending.notify, "operator", "No answer", "coder was removed", in_reply_to=asked.message_id)
        assert await asyncio.wait_for(fleet.answer(asked.message_id, 600), 10) is None


@rule("M7")
async def test_a_question_without_a_reply_in_time_stands(database: Database, tmp_path: Path) -> None:
    async with Fleet.open(tmp_path, environ={}, store=database.url) as fleet:
        with pytest.raises(Failed, match="did not answer within") as silent:
            await fleet.ask("coder", "is it green?", timeout_s=0.01)
        ident = silent.value.details["messageId"]
        assert [each.message_id for each in await fleet.inbox("coder", unread=True)] == [ident]


@rule("A3")
async def test_the_settings_say_how_old_a_heartbeat_may_be(database: Database, tmp_path: Path) -> None:
    async with Fleet.open(tmp_path, environ={}, store=database.url, heartbeat_s=0.001, stale_s=0.002) as fleet:
        await fleet.write(living.arrive, "coder", node="here", pid=1, start_ticks=0, boot_id="", port=8002)

        async def is_stalled() -> bool:
            state = await fleet.status("coder")
            return bool(state["status"] == "stalled")

        await until(is_stalled)
        assert "stalled" in await fleet.why("coder")


@rule("Q2", "M11")
@pytest.mark.parametrize("wrong", [float("nan"), -1, "60", None, True])
async def test_how_long_to_wait_is_seconds_or_nothing_is_begun(database: Database, tmp_path: Path, wrong: Any) -> None:
    async with Fleet.open(tmp_path, environ={}, store=database.url) as fleet:
        for waiting in (
            fleet.ask("coder", "is it green?", timeout_s=wrong),
            fleet.wait_task("task_1", wrong),
            fleet.supervise("build it", timeout_s=wrong),
        ):
            with pytest.raises(Invalid, match="seconds") as refused:
                await waiting
            assert refused.value.field == "timeout_s"
        assert await fleet.inbox("coder") == []
        assert (await fleet.read(runs.listed)).items == []


@rule("Q2", "M4b")
async def test_a_program_may_hear_of_a_run_in_a_coroutine(database: Database, tmp_path: Path) -> None:
    told: list[str] = []

    async def hear(event: dict[str, Any]) -> None:
        await asyncio.sleep(0)
        told.append(event["kind"])

    async with Fleet.open(tmp_path, environ={}, store=database.url) as fleet:
        await fleet.supervise("build it", workers=["coder"], parts=["a"], strict=False, on_progress=hear, timeout_s=0)
    assert told == ["team.started", "team.planned"], "nobody is there who could be given a step"
