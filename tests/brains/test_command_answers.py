"""What known programs print, read by pure functions: answers, errors, costs; and bounded streams."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.base.errors import LeaseLost
from covey.brains import assistants
from covey.brains.command import outcome_of
from covey.brains.model import Cost, Outcome
from covey.brains.pipes import Kept, Lines, Outflow, plain, text_of
from covey.brains.running import Ended
from covey.brains.telling import Teller
from tests.brains.turns import Noted, until
from tests.rules import rule


def printed(*events: Any) -> str:
    """JSON, one a line."""
    return "\n".join(json.dumps(event) for event in events)


def ended(out: str, code: int | None = 0, err: str = "", *, timed_out: bool = False) -> Ended:
    return Ended(code, out, 0, err, timed_out)


CLAUDE: dict[str, Any] = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "duration_ms": 2500,
    "num_turns": 1,
    "result": "Three tests fail.",
    "session_id": "a",
    "total_cost_usd": 0.0375,
    "usage": {
        "input_tokens": 4,
        "cache_creation_input_tokens": 1000,
        "cache_read_input_tokens": 200,
        "output_tokens": 30,
        "service_tier": "standard",
    },
    "permission_denials": [],
}
CLAUDE_COST = Cost(usd=0.0375, tokens_in=1204, tokens_out=30)
CODEX = [
    {"type": "thread.started", "thread_id": "t"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "0", "type": "reasoning", "text": "hm"}},
    {"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": "I look."}},
    {"type": "item.completed", "item": {"id": "2", "type": "command_execution", "command": "ls", "exit_code": 0}},
    {"type": "item.completed", "item": {"id": "3", "type": "agent_message", "text": "Two files."}},
    {"type": "turn.completed", "usage": {"input_tokens": 24763, "cached_input_tokens": 24448, "output_tokens": 122}},
]
OLD_CODEX = [
    {"model": "m", "provider": "p"},
    {"id": "0", "msg": {"type": "agent_message", "message": "Two files."}},
    {
        "id": "0",
        "msg": {
            "type": "token_count",
            "info": {
                "total_token_usage": {"input_tokens": 26549, "output_tokens": 1590},
                "last_token_usage": {"total_tokens": 6652},
                "model_context_window": 272000,
            },
        },
    },
]


@pytest.mark.parametrize(
    ("out", "summary", "cost", "session"),
    [
        (printed(CLAUDE), "Three tests fail.", CLAUDE_COST, "a"),
        (json.dumps(CLAUDE, indent=1), "Three tests fail.", CLAUDE_COST, "a"),
        (json.dumps([{"type": "system"}, {"type": "assistant"}, CLAUDE]), "Three tests fail.", CLAUDE_COST, "a"),
        (
            printed({"type": "system", "session_id": "a"}, {"type": "assistant", "message": {}}, CLAUDE),
            "Three tests fail.",
            CLAUDE_COST,
            "a",
        ),
        (printed(*CODEX), "Two files.", Cost(tokens_in=24763, tokens_out=122), "t"),
        (printed(*OLD_CODEX), "Two files.", Cost(tokens_in=26549, tokens_out=1590, context_tokens=6652, context_limit=272000), ""),
        (printed(*CODEX) + "\n{cut off", "Two files.", Cost(tokens_in=24763, tokens_out=122), "t"),
    ],
)
def test_an_assistants_answer_and_cost_are_read_from_its_json(out: str, summary: str, cost: Cost, session: str) -> None:
    assert outcome_of(ended(out)) == Outcome(summary=summary, cost=cost, session=session, exit_code=0)


@pytest.mark.parametrize(
    ("out", "error"),
    [
        (printed(CLAUDE | {"is_error": True, "result": "Credit balance is too low"}), "Credit balance is too low"),
        (
            printed(
                {key: value for key, value in CLAUDE.items() if key != "result"} | {"subtype": "error_max_turns", "errors": ["7 turns"]}
            ),
            "7 turns",
        ),
        (printed({key: value for key, value in CLAUDE.items() if key != "result"} | {"subtype": "error_max_turns"}), "error_max_turns"),
        (printed(*CODEX[:2], {"type": "turn.failed", "error": {"message": "stream disconnected"}}), "stream disconnected"),
        (printed(*CODEX[:2], {"type": "error", "message": "no such model"}), "no such model"),
    ],
)
def test_an_assistant_that_says_that_it_failed_has_failed_whatever_its_exit_code(out: str, error: str) -> None:
    for code in (0, 1):
        outcome = outcome_of(ended(out, code, err="warning: old version"))
        assert outcome.kind == "failed"
        assert error in outcome.error
        assert outcome.cost is not None
        assert outcome.exit_code == code


def test_an_error_on_the_way_that_was_overcome_is_none() -> None:
    out = printed(*CODEX[:2], {"type": "error", "message": "reconnecting"}, *CODEX[2:])
    assert outcome_of(ended(out)).kind == "done"


@pytest.mark.parametrize("fence", ["{}", "```json\n{}\n```", "```\n{}\n```\n"])
def test_an_assistants_answer_may_itself_be_an_outcome(fence: str) -> None:
    answer = fence.replace("{}", '{"kind": "split", "tasks": [{"description": "one"}, {"description": "two"}]}')
    outcome = outcome_of(ended(printed(CLAUDE | {"result": answer})))
    assert outcome.kind == "split"
    assert [task.description for task in outcome.tasks] == ["one", "two"]
    assert outcome.cost == CLAUDE_COST
    assert outcome_of(ended(answer)).kind == "split"


@pytest.mark.parametrize("answer", ['{"summary": "x", "users": [1]}', '```json\n{"summary": "x"}\n```'])
def test_an_assistants_json_of_its_own_is_text(answer: str) -> None:
    assert outcome_of(ended(printed(CLAUDE | {"result": answer}))).summary == answer


@pytest.mark.parametrize(
    "wrong",
    [
        {"total_cost_usd": "much"},
        {"total_cost_usd": -1},
        {"total_cost_usd": True},
        {"total_cost_usd": 1e999},
        {"usage": None},
        {"usage": [1]},
    ],
)
def test_a_cost_that_can_not_be_read_is_none(wrong: dict[str, Any]) -> None:
    cost = outcome_of(ended(json.dumps(CLAUDE | wrong))).cost
    assert cost is not None
    assert (cost.usd == 0.0) is ("total_cost_usd" in wrong)
    assert (cost.tokens_in == 0) is ("usage" in wrong)


def test_an_outcomes_own_cost_stands() -> None:
    assert outcome_of(ended('{"kind": "done", "cost": {"usd": 2}}')).cost == Cost(usd=2.0)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["result", "turn.completed", "agent_message", "token_count"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "item", "msg", "usage", "info", "result", "session_id", "errors", "error", "subtype", "text", "input_tokens"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(events=st.lists(JSON, max_size=4), junk=st.text(max_size=20))
def test_whatever_is_printed_is_read_without_an_error(events: list[Any], junk: str) -> None:
    assistants.read(junk + printed(*events))
    assistants.read(printed(*events) + junk)
    outcome_of(ended(printed(*events)))


def test_a_run_that_took_too_long_keeps_its_cost_and_its_last_words() -> None:
    outcome = outcome_of(ended(printed(*CODEX), -15, "still at it\n", timed_out=True), 60.0)
    assert outcome.error == "timed out: it did not end within 60 s and was ended: still at it"
    assert outcome.cost == Cost(tokens_in=24763, tokens_out=122)


# Streams


@given(chunks=st.lists(st.binary(max_size=40), max_size=30), half=st.integers(1, 50))
def test_head_and_tail_are_kept_within_the_bound_and_the_rest_is_counted(chunks: list[bytes], half: int) -> None:
    kept, whole = Kept(2 * half), b"".join(chunks)
    for chunk in chunks:
        kept.add(chunk)
    assert kept.total == len(whole)
    if len(whole) <= 2 * half:
        assert kept.text() == text_of(whole)
    else:
        assert kept.left_out == len(whole) - 2 * half
        assert f"({kept.left_out:,} bytes left out)" in kept.text()
        assert len(kept.text().encode()) <= 3 * 2 * half + 60


@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\0\ufffd"), min_size=40, max_size=80))
def test_a_cut_tears_no_character_apart(text: str) -> None:
    kept = Kept(20)
    kept.add(text.encode())
    assert "\ufffd" not in kept.text()


async def test_what_lies_in_a_pipe_when_it_is_closed_is_taken() -> None:
    taken: list[bytes] = []
    reading, writing = os.pipe()
    flow = Outflow(os.fdopen(reading, "rb", 0), taken.append)
    os.write(writing, b"last words")
    flow.close()
    os.close(writing)
    assert taken == [b"last words"]


def test_of_many_lines_the_last_that_says_something_counts() -> None:
    told: list[str] = []
    lines = Lines(told.append)
    for chunk in (b"one\ntw", b"o\r", b"thr", b"ee\n\n  \n", b"x" * 10_000 + b"\n", b"unfinished"):
        lines.add(chunk)
    assert told[:3] == ["one", "two", "three"]
    assert told[3:] == ["x" * 4096]


def test_colours_and_control_characters_are_taken_out_of_a_line() -> None:
    assert plain("\x1b[1;32mok\x1b[0m \x07\x1b]0;title\x07done\x00 ä") == "ok done ä"


class Held:
    """A clock on which a second passes when the test says so."""

    def __init__(self) -> None:
        self.seconds = asyncio.Semaphore(0)

    def wall(self) -> float:
        return 0.0

    def boot(self) -> float:
        return 0.0

    def boot_id(self) -> str:
        return ""

    async def sleep(self, seconds: float) -> None:
        assert seconds == 1.0
        await self.seconds.acquire()


@rule("K4a")
async def test_progress_is_told_once_a_second_at_most_and_the_latest_word_counts() -> None:
    hands, clock = Noted(), Held()
    teller = Teller(hands, clock)
    for word in ("one", "two", "three"):
        teller.say(word)
        for _ in range(10):
            await asyncio.sleep(0)
    assert hands.said == ["one"]
    clock.seconds.release()
    await until(lambda: len(hands.said) == 2)
    assert hands.said == ["one", "three"]
    clock.seconds.release()
    teller.say("four")
    await until(lambda: len(hands.said) == 3)
    teller.say("five")
    teller.close()
    clock.seconds.release()
    await asyncio.sleep(0)
    assert hands.said == ["one", "three", "four"]


async def test_progress_that_is_refused_is_followed_by_the_next() -> None:
    class Refusing(Noted):
        async def progress(self, text: str) -> None:
            await super().progress(text)
            raise LeaseLost("old")

    hands, clock = Refusing(), Held()
    teller = Teller(hands, clock)
    teller.say("one")
    await until(lambda: bool(hands.said))
    teller.say("two")
    clock.seconds.release()
    await until(lambda: hands.said == ["one", "two"])
    teller.close()
