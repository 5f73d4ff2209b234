"""A brain that is a model: what it may use, what each fault of its endpoint means, how it is made and ended. Real HTTP."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from covey.base.errors import Misconfigured
from covey.brains.launching import Site
from covey.brains.making import make
from covey.brains.model import Cost
from tests.brains.asking_model import TARGET, Paused, thought
from tests.brains.endpoint import Endpoint, Reply, calls, fails, says, served
from tests.brains.turns import Noted, a_turn, settings, until
from tests.rules import rule

pytest.importorskip("pydantic_ai", reason="the extra `model` is not installed")

# What it may use


@pytest.mark.parametrize(
    ("options", "used", "requests"),
    [
        ({"requests": 4}, "4 of 4 requests", 4),
        ({"tokens": 250}, "360 of 250 tokens", 3),
        ({"usd": 0.01, "prices": {"input": 50.0, "output": 100.0}}, "$0.0140 of $0.0100", 2),
    ],
)
async def test_a_turn_that_goes_round_in_circles_is_ended_at_its_limit_and_its_cost_kept(
    options: dict[str, Any], used: str, requests: int
) -> None:
    async with served(calls(("note", {"text": "round and round"}))) as endpoint:
        outcome = await thought(endpoint, **options)
    assert (outcome.kind, outcome.permanent, outcome.not_started) == ("failed", True, False)
    assert used in outcome.error
    assert len(endpoint.asked) == requests
    assert outcome.cost is not None
    assert outcome.cost.tokens_in == 100 * requests


@rule("P3")
async def test_what_a_turn_cost_comes_from_its_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(says("ok", tokens=(1_000_000, 100_000), model="gpt-4o-mini")) as endpoint:
        outcome = await thought(endpoint, prices={"input": 0.5, "output": 2.0}, tokens=10**9, usd=100.0)
        assert outcome.cost == Cost(usd=0.7, tokens_in=1_000_000, tokens_out=100_000)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        known = settings(Path.cwd(), kind="model", target="openai-chat:gpt-4o-mini", options={"base_url": endpoint.url})
        brain = make(known, Site(clock=Paused()))
        by_table = await brain.think(a_turn(), Noted())
        await brain.close()
    assert by_table.cost is not None
    assert by_table.cost.usd > 0


@rule("P3")
async def test_a_model_whose_price_nobody_knows_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    async with served(says("ok")) as endpoint:
        brain = make(settings(Path.cwd(), kind="model", target=TARGET, options={"base_url": endpoint.url}), Site(clock=Paused()))
        for _ in range(2):
            await brain.think(a_turn(), Noted())
        await brain.close()
        assert [each.message for each in caplog.records if "no price" in each.message] == [
            f"no price of {TARGET} is known, so its turns count as free of charge; set `prices` in its options"
        ]
        caplog.clear()
        await thought(endpoint, prices={"input": 0, "output": 0})
        assert not [each for each in caplog.records if "no price" in each.message]


# Faults of the endpoint


@pytest.mark.parametrize(
    ("fault", "pause"),
    [
        (fails(429, "slow down", {"retry-after": "7"}), 7.0),
        (fails(429, "slow down"), 1.0),
        (fails(429, "slow down", {"retry-after": "0"}), 1.0),
        (fails(503, "loading model", {"retry-after": "3"}), 3.0),
        (fails(500, "boom"), 1.0),
        (Reply(status=502), 1.0),
    ],
)
async def test_an_endpoint_that_is_busy_is_waited_for_as_long_as_it_asks(fault: Reply, pause: float) -> None:
    clock, hands = Paused(), Noted()
    async with served(fault, says("at last")) as endpoint:
        outcome = await thought(endpoint, clock=clock, hands=hands)
    assert outcome.summary == "at last"
    assert pause in clock.pauses
    assert hands.said == [f"the model's endpoint is busy; trying again in {pause:.3g} s"]
    assert len(endpoint.asked) == 2


@pytest.mark.parametrize(
    ("fault", "says_so", "permanent", "not_started", "requests"),
    [
        (fails(429, "come back", {"retry-after": "3600"}), "asks to wait 3600 s", False, True, 1),
        (fails(429, "no credit", code="insufficient_quota", type="insufficient_quota"), "has nothing left", False, True, 1),
        (fails(500, "boom"), "did not answer as a model should", False, False, 3),
        (fails(401, "bad key"), "refuses the key", True, True, 1),
        (fails(404, "no such model"), "there is no openai-compatible:scripted", True, True, 1),
        (fails(400, "seed must be even"), "refuses the request", True, False, 1),
        (fails(400, "too long", code="context_length_exceeded"), "longer than the context", True, False, 1),
        (Reply(b'{"choices": [{'), "did not answer as a model should", False, False, None),
        (Reply(b"<html>login</html>", headers={"content-type": "text/html"}), "did not answer as a model should", False, False, None),
        (Reply({"choices": []}), "did not answer as a model should", False, False, None),
        (says(""), "did not answer as a model should", False, False, None),
        (says(None, reason="length"), "did not answer as a model should", False, False, None),
    ],
)
@rule("H6")
async def test_each_fault_says_what_it_is_and_whether_its_agent_can_work_at_all(
    fault: Reply, says_so: str, permanent: bool, not_started: bool, requests: int | None
) -> None:
    async with served(fault) as endpoint:
        outcome = await thought(endpoint)
    assert outcome.kind == "failed"
    assert says_so in outcome.error
    assert (outcome.permanent, outcome.not_started) == (permanent, not_started)
    assert requests in (None, len(endpoint.asked))
    assert len(endpoint.asked) <= 4


@rule("H6")
async def test_an_endpoint_that_is_not_there_is_a_brain_that_cant_start() -> None:
    outcome = await thought(Endpoint("http://127.0.0.1:9/v1"))
    assert (outcome.kind, outcome.not_started, outcome.permanent) == ("failed", True, False)
    assert "can't be reached" in outcome.error
    assert "is it running?" in outcome.error


@rule("M10")
async def test_an_answer_without_end_is_cut_off_at_its_bound() -> None:
    async with served(Reply(endless=b" " * 65536)) as endpoint:
        outcome = await thought(endpoint)
        await until(lambda: endpoint.open == 0)
    assert outcome.kind == "failed"
    assert "16,777,216 bytes" in outcome.error


async def test_an_endpoint_that_says_nothing_is_given_up_after_its_time() -> None:
    async with served(Reply(silent=True)) as endpoint:
        outcome = await thought(endpoint, request_s=0.2, patience_s=0.001)
        assert outcome.kind == "failed"
        await until(lambda: endpoint.open == 0)


@rule("K7")
async def test_a_turn_that_is_cancelled_lets_go_of_its_endpoint_at_once() -> None:
    async with served(Reply(silent=True)) as endpoint:
        brain = make(settings(Path.cwd(), kind="model", target=TARGET, options={"base_url": endpoint.url}), Site(grace_s=2.0))
        thinking = asyncio.create_task(brain.think(a_turn(), Noted()))
        await until(lambda: len(endpoint.asked) == 1)
        thinking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(thinking, 2.0)
        await until(lambda: endpoint.open == 0)
        await brain.close()


# How it is made


@pytest.mark.parametrize(
    ("brain", "why"),
    [
        ({"target": "gpt"}, "names no model"),
        ({"target": "openai-compatible:m"}, "needs the address of its API"),
        (
            {"target": TARGET, "options": {"base_url": "http://h/v1", "api_key_env": "NO_SUCH_KEY"}},
            "NO_SUCH_KEY, which holds its model's key, is not set",
        ),
        ({"target": TARGET, "options": {"base_url": "http://h/v1", "temprature": 1}}, "temprature"),
    ],
)
@rule("H6")
def test_a_model_brain_that_could_never_work_is_refused_when_it_is_made(tmp_path: Path, brain: dict[str, Any], why: str) -> None:
    with pytest.raises(Misconfigured, match=why):
        make(settings(tmp_path, kind="model", **brain))


@pytest.mark.parametrize(
    ("target", "why"),
    [("openai:gpt-5.2", "OPENAI_API_KEY"), ("no-such-vendor:m", "no-such-vendor"), ("anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY")],
)
@rule("H6")
async def test_a_model_whose_key_or_vendor_is_not_there_is_a_brain_that_cant_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, why: str
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    brain = make(settings(tmp_path, kind="model", target=target), Site(clock=Paused()))
    outcome = await brain.think(a_turn(), Noted())
    await brain.close()
    assert (outcome.kind, outcome.not_started, outcome.permanent) == ("failed", True, True)
    assert why in outcome.error


async def test_its_key_comes_from_the_environment_that_is_named() -> None:
    async with served(says("ok")) as endpoint:
        options = {"base_url": endpoint.url, "api_key_env": "MY_KEY"}
        brain = make(settings(Path.cwd(), kind="model", target=TARGET, options=options, env={"MY_KEY": "hush"}), Site(clock=Paused()))
        await brain.think(a_turn(), Noted())
        await brain.close()
    assert endpoint.headers[0]["authorization"] == "Bearer hush"


async def test_a_key_that_an_endpoint_echoes_is_not_told_on() -> None:
    async with served(fails(401, "the key hush-hush is wrong")) as endpoint:
        options = {"base_url": endpoint.url, "api_key_env": "MY_KEY"}
        brain = make(settings(Path.cwd(), kind="model", target=TARGET, options=options, env={"MY_KEY": "hush-hush"}), Site(clock=Paused()))
        outcome = await brain.think(a_turn(), Noted())
        await brain.close()
    assert "the key *** is wrong" in outcome.error


async def test_a_vendors_own_api_is_spoken_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": [{"type": "tool_use", "id": "tu_1", "name": "fail", "input": {"reason": "no tests"}}],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1000, "output_tokens": 100},
    }
    busy = Reply({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, 529)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "hush")
    clock = Paused()
    async with served(busy, Reply(answer)) as endpoint:
        options = {"base_url": endpoint.url.removesuffix("/v1"), "settings": {"max_tokens": 1000}}
        brain = make(settings(Path.cwd(), kind="model", target="anthropic:claude-sonnet-5", options=options), Site(clock=clock))
        outcome = await brain.think(a_turn(), Noted())
        await brain.close()
    assert (outcome.kind, outcome.error) == ("failed", "no tests")
    assert outcome.cost is not None
    assert outcome.cost.usd > 0
    assert 1.0 in clock.pauses
    assert "hush" in str(endpoint.headers[0])
    assert "Count the files" not in str(endpoint.asked[1]["system"])


async def test_settings_of_the_model_reach_it() -> None:
    async with served(says("ok")) as endpoint:
        await thought(endpoint, settings={"temperature": 0.1, "max_tokens": 77})
    assert endpoint.asked[0]["temperature"] == 0.1
    assert 77 in (endpoint.asked[0].get("max_tokens"), endpoint.asked[0].get("max_completion_tokens"))


def test_nobody_imports_pydantic_ai_who_has_no_such_brain() -> None:
    code = (
        "import sys, covey, covey.app.hosting, covey.cli, covey.brains.making, covey.brains.models.brain\n"
        "sys.exit(', '.join(name for name in ('pydantic_ai', 'pydantic', 'openai', 'httpx2') if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
