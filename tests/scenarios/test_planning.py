"""Restarts plan nothing anew, and no brain that costs money is started unasked (P3, P3a)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from covey.reports import spending
from covey.tasks import reading
from covey.tasks.model import Task
from tests.rules import rule
from tests.scenarios.conftest import RunningFleet, wait_until

pytestmark = pytest.mark.scenario

TEMPLATES = """
[chief]
pending = { text = "Prioritize pending tasks across agents" }
status = { text = "Report the status of all agents" }

[coder]
failures = { text = "Review failed tasks and their causes" }

[sales]
news = { text = "Read the news" }
"""
FLEET = """
[fleet]
cycle_s = 1

[planning]
templates = "mine.toml"
mode = "replace"

[agents.chief]

[agents.coder]

[agents.sales]
brain = { kind = "command", command = ["sh", "-c", "echo started >> started.txt; cat > /dev/null; echo done"] }
"""
RESTARTS = 10


def generated(fleet: RunningFleet) -> list[Task]:
    return [each for each in fleet.read(reading.listed, limit=500).items if each.origin == "generated"]


def looked_at(fleet: RunningFleet, name: str) -> float:
    found = fleet.read(spending.look_at, name)
    return float(found.at) if found is not None else 0.0


@rule("P3a", "P3", "P2")
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_ten_restarts_make_no_extra_task_and_start_no_paid_brain(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    (fleet.folder / "mine.toml").write_text(TEMPLATES)
    fleet.configure(FLEET)
    fleet.up()
    wait_until(
        lambda: len([each for each in generated(fleet) if each.state == "done"]) == 3,
        60,
        lambda: f"{[(each.description, each.state) for each in generated(fleet)]}\n{fleet.logs()}",
    )
    before = {each.task_id for each in generated(fleet)}
    for _ in range(RESTARTS):
        fleet.down()
        fleet.up()
    restarted = time.time()
    wait_until(  # they count as active for a minute after they did something; then they are looked at
        lambda: all(looked_at(fleet, name) > restarted for name in ("chief", "coder")),
        120,
        lambda: f"nobody looked\n{fleet.covey('budget', 'show').stdout}\n{fleet.logs()}",
    )
    assert {each.task_id for each in generated(fleet)} == before
    assert "generated tasks: 24 an agent (default); turns of paid brains: 0 of 200 used" in fleet.covey("up", "--detach").stdout
    shown = {each["agentId"]: each for each in fleet.json("budget", "show")["agents"]}
    assert shown["coder"]["why"] == "all that it can do was done a short while ago"
    assert shown["coder"]["spent"] == 1
    assert not Path(fleet.folder / "started.txt").exists(), "nobody asked the paid brain for anything"
    assert "its command brain may cost money" in fleet.covey("why", "sales").stdout
    fleet.covey("task", "wait", fleet.add("sales", "sell something"), "--timeout", "30")
    assert Path(fleet.folder / "started.txt").read_text() == "started\n"
