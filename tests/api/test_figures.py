"""Figures over time as the fleet's port gives them."""

from __future__ import annotations

import msgspec
import pytest

from covey.api.fleet_figures import OverTime
from covey.figures.recording import Recorder
from tests.api.world import World, bearer, problem_of
from tests.rules import rule

PATH = "/api/v1/metrics/history"


@rule("A6")
@pytest.mark.parametrize(("window", "steps"), [("15m", 15), ("1h", 60), ("6h", 72), ("24h", 96), ("7d", 168)])
async def test_a_window_is_answered_step_by_step(world: World, window: str, steps: int) -> None:
    answer = await world.fleet.post("/api/v1/messages", json={"to": "coder", "content": {"body": "look"}}, headers=bearer("operator"))
    assert answer.status_code == 201
    await Recorder(world.store).one_round()
    for more, sent in ({}, 1), ({"agent": "ops"}, 0):
        answer = await world.fleet.get(PATH, params={"window": window, **more}, headers=bearer("operator"))
        found = msgspec.convert(answer.json(), OverTime)
        assert (len(found.steps), found.total.messages.sent, found.agent_id) == (steps, sent, more.get("agent"))
        assert found.steps[-1].messages.sent == sent


@pytest.mark.parametrize(
    ("asked", "status", "field"),
    [
        ({"window": "2h"}, 400, "window"),
        ({"window": ""}, 400, "window"),
        ({"agent": "../etc"}, 400, "agent"),
        ({"agent": "nobody"}, 404, "agent"),
        ({"agent": "' OR 1=1"}, 400, "agent"),
        ({"since": "7"}, 400, "since"),
    ],
    ids=str,
)
async def test_what_is_not_understood_is_refused_by_name(world: World, asked: dict[str, str], status: int, field: str) -> None:
    answer = await world.fleet.get(PATH, params=asked, headers=bearer("operator"))
    problem = problem_of(answer)
    assert (answer.status_code, problem.get("field")) == (status, field), problem
