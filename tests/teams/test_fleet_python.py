"""Teams as a Python program calls them: what is of the wrong type is refused with its field, and nothing is stored (Q2, Q4)."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest

from covey import Fleet
from covey.base.errors import Invalid, Unknown
from tests.rules import rule

RUNS: list[tuple[dict[str, Any], str]] = [
    ({"goal": 5}, "goal"),
    ({"workers": "intel,comms"}, "workers"),
    ({"workers": [1]}, "workers[0]"),
    ({"parts": "dig"}, "parts"),
    ({"parts": [3]}, "parts[0]"),
    ({"parts": [{"description": "dig", "needs": "1"}]}, "parts[0].needs"),
    ({"span": "x"}, "span"),
    ({"strict": "no"}, "strict"),
    ({"estimated_seconds": object()}, ""),
]
VOTES: list[tuple[dict[str, Any], str]] = [
    ({"voters": "coder"}, "voters"),
    ({"voters": [1]}, "voters[0]"),
    ({"options": "AB"}, "options"),
    ({"options": [1]}, "options[0]"),
    ({"expertise": ["coder"]}, "expertise"),
    ({"expertise": {"coder": 1.7e308}}, "expertise.coder"),
    ({"expertise": {"coder": math.nan}}, "expertise.coder"),
    ({"quorum": 0.5}, "quorum"),
    ({"deadline_s": "soon"}, "deadlineS"),
]


@rule("Q2")
@pytest.mark.parametrize(("given", "field"), RUNS)
async def test_a_run_of_the_wrong_types_is_refused_with_its_field(given: dict[str, Any], field: str, tmp_path: Path) -> None:
    words: dict[str, Any] = {"goal": "g", "strict": False, "timeout_s": 0} | given
    async with Fleet.open(tmp_path, environ={}) as fleet:
        with pytest.raises(Invalid) as refused:
            await asyncio.wait_for(fleet.supervise(**words), 10)
    assert refused.value.field == field


@rule("Q4")
@pytest.mark.parametrize(("given", "field"), VOTES)
async def test_a_vote_of_the_wrong_types_is_refused_with_its_field(given: dict[str, Any], field: str, tmp_path: Path) -> None:
    words: dict[str, Any] = {"topic": "t", "voters": ["coder"], "options": ["A", "B"]} | given
    async with Fleet.open(tmp_path, environ={}) as fleet:
        with pytest.raises(Invalid) as refused:
            await asyncio.wait_for(fleet.vote(**words), 10)
    assert refused.value.field == field


@rule("M11", "Q2")
@pytest.mark.parametrize("name", ["nobody", "Coder", "system", ""])
async def test_a_program_acts_as_the_operator_or_an_agent_that_there_is(name: str, tmp_path: Path) -> None:
    async with Fleet.open(tmp_path, environ={}) as fleet:
        calls: list[Any] = [
            fleet.send("ops", "hello", by=name),
            fleet.add_task("ops", "tidy up", by=name),
            fleet.supervise("g", workers=["ops"], strict=False, timeout_s=0, by=name),
            fleet.vote("t", ["ops"], ["A"], by=name),
        ]
        for call in calls:
            with pytest.raises(Unknown, match="there is no agent") as refused:
                await asyncio.wait_for(call, 10)
            assert refused.value.field == "by"
        assert (await fleet.add_task("ops", "tidy up", by="coder")).created_by == "coder"
