"""A2A with real processes: found by the card on an agent's own port, served by the gateway, which is killed in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from covey.base.settings import GATEWAY_OFFSET
from tests.rules import rule
from tests.scenarios.conftest import RunningFleet, fleet_in, wait_until

pytestmark = pytest.mark.scenario

CONFIG = """
[agents.chief]
[agents.coder]
brain = "think:think"
"""
BRAIN = """
import time

def think(turn):
    if turn.task is not None:
        time.sleep(3 if "slowly" in turn.task.description else 0)
        return f"did {turn.task.description}"
"""


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[RunningFleet]:
    """Two agents with a gateway, at work."""
    (tmp_path / "covey.toml").write_text(CONFIG)
    (tmp_path / "think.py").write_text(BRAIN)
    with fleet_in(tmp_path) as found:
        found.env["COVEY_GATEWAY"] = "auto"
        found.up()
        yield found


def asked(fleet: RunningFleet, method: str, params: Any) -> dict[str, Any]:
    """What the gateway answers over JSON-RPC."""
    token = fleet.covey("token", "show", "operator").stdout.strip()
    answer = httpx.post(
        url_of(fleet),
        json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
        headers={"Authorization": f"Bearer {token}", "A2A-Version": "1.0"},
        timeout=60,
    )
    found: dict[str, Any] = answer.json()["result"]
    return found


def url_of(fleet: RunningFleet) -> str:
    """Where the coder is asked: the card on its own port says so."""
    card = httpx.get(f"http://127.0.0.1:{fleet.base_port + 2}/.well-known/agent-card.json", timeout=20).json()
    url: str = card["supportedInterfaces"][0]["url"]
    assert url == f"http://127.0.0.1:{fleet.base_port + GATEWAY_OFFSET}/a2a/coder"
    return url


def message(ident: str, text: str, *, wait: bool = True) -> dict[str, Any]:
    given = {"role": "ROLE_USER", "messageId": ident, "parts": [{"text": text}]}
    return {"message": given, "configuration": {"returnImmediately": not wait}}


@rule("M3", "T3")
def test_a_task_outlives_the_gateway_that_took_it(fleet: RunningFleet) -> None:
    url = url_of(fleet)
    wait_until(lambda: is_served(url), 60, "the gateway answers")
    task = asked(fleet, "SendMessage", message("m1", "it slowly", wait=False))["task"]
    before = fleet.kill("gateway")
    fleet.serving_again("gateway", before)
    again = asked(fleet, "SendMessage", message("m1", "it slowly"))["task"]
    assert again["id"] == task["id"]
    assert again["status"]["state"] == "TASK_STATE_COMPLETED"
    assert again["artifacts"][0]["parts"] == [{"text": "did it slowly"}]
    assert [each["id"] for each in asked(fleet, "ListTasks", {})["tasks"]] == [task["id"]]


def is_served(url: str) -> bool:
    try:
        return httpx.post(url, timeout=5).status_code == 401
    except httpx.HTTPError:
        return False
