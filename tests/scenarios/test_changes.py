"""A running fleet takes over other settings, restarts whom it is told to, and keeps its agents in fewer processes (A2, A7, H7a)."""

from __future__ import annotations

import os
import signal

import pytest

from covey.base.markers import Marker
from tests.rules import rule
from tests.scenarios.conftest import RunningFleet, answers, wait_until

pytestmark = pytest.mark.scenario

AGENT = '[agents.{name}]\nbrain = "brain:think"\n{more}\n'


def fleet_of(*names: str, **more: str) -> str:
    """covey.toml of these agents; `more` are further lines of an agent's."""
    return "\n".join(AGENT.format(name=name, more=more.get(name, "")) for name in names)


def who(fleet: RunningFleet, *names: str) -> dict[str, Marker | None]:
    """Which process is each name."""
    return {name: fleet.marker(name) for name in names}


@rule("A2", "H7a", "M5")
def test_changed_settings_restart_only_whom_they_concern_and_lose_nothing(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    fleet.configure(fleet_of("chief", "coder", "sales"))
    fleet.up()
    before = who(fleet, "chief", "coder", "sales", "console", "node")
    for name in ("coder", "sales"):
        fleet.covey("pause", name)
    tasks = [fleet.add("coder", "keep me"), fleet.add("sales", "hand me over")]
    fleet.covey("send", "coder", "keep me too", "--id", "kept")
    fleet.configure(fleet_of("chief", "coder", "ops", coder="max_context = 9000"))
    fleet.covey("config", "apply", "--tasks-to", "ops")
    wait_until(lambda: answers(fleet.base_port + 3) and fleet.marker("ops") is not None, 30, lambda: f"ops is not there\n{fleet.logs()}")
    wait_until(lambda: fleet.marker("coder") not in (None, before["coder"]), 30, lambda: f"the coder is the old one\n{fleet.logs()}")
    wait_until(lambda: fleet.marker("sales") is None, 30, "sales is there still")
    assert dict(who(fleet, "chief", "console", "node").items()) == {name: before[name] for name in ("chief", "console", "node")}
    wait_until(lambda: fleet.task(tasks[1]).state == "done", 30, lambda: f"the task of who left is not done\n{fleet.logs()}")
    assert fleet.task(tasks[1]).result["by"] == "ops"
    assert fleet.task(tasks[0]).state == "queued", "the coder is paused still"
    fleet.covey("resume", "coder")
    wait_until(lambda: fleet.task(tasks[0]).state == "done", 30, lambda: f"the coder's task is not done\n{fleet.logs()}")
    wait_until(lambda: all(each["state"] == "handled" for each in fleet.json("inbox", "coder")["items"]), 30, "mail is left")
    shown = fleet.json("config", "show")
    assert "ops" in str(shown)
    assert "sales" not in str(shown)


@rule("H7a", "A7")
def test_a_restart_is_another_process_with_the_same_flags(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    fleet.configure(fleet_of("chief", "coder"))
    fleet.up()
    before = fleet.marker("coder")
    assert before is not None
    fleet.covey("stop", "coder", "--reason", "smoke")
    task = fleet.add("coder", "wait for resume")
    fleet.covey("restart", "coder")
    fleet.serving_again("coder", before)
    assert fleet.json("status", "coder")["flags"]["stopped"]
    assert fleet.task(task).state == "queued"
    fleet.covey("resume", "coder")
    wait_until(lambda: fleet.task(task).state == "done", 30, lambda: f"not done after resume\n{fleet.logs()}")


@rule("H4", "A5")
def test_agents_that_share_a_process_live_and_die_together_each_on_its_port(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    names = ("chief", "coder", "sales", "finance")
    fleet.configure(f"[fleet]\nprocesses = 2\n\n{fleet_of(*names)}")
    fleet.up()
    before = who(fleet, *names)
    pids = {name: marker.pid for name, marker in before.items() if marker is not None}
    assert len(pids) == 4
    assert len(set(pids.values())) == 2
    assert all(answers(fleet.base_port + 1 + place) for place in range(4))
    dead = [name for name in names if pids[name] == pids["coder"]]
    os.kill(pids["coder"], signal.SIGKILL)
    for name in dead:
        found = before[name]
        assert found is not None
        fleet.serving_again(name, found)
    assert {name: fleet.marker(name) for name in names if name not in dead} == {name: before[name] for name in names if name not in dead}
    for name in names:
        assert f"{name} read hello" in fleet.covey("ask", name, "hello").stdout
    fleet.down()
    assert fleet.processes() == []


@rule("A2")
@pytest.mark.slow
@pytest.mark.timeout(150)
def test_two_hundred_agents_come_up_in_one_process(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    names = [f"a{number}" for number in range(200)]
    fleet.room_for(len(names) + 2)
    fleet.configure("[fleet]\nprocesses = 1\n" + fleet_of(*names))
    fleet.up()
    assert len({marker.pid for name in names if (marker := fleet.marker(name)) is not None}) == 1
    assert all(answers(fleet.base_port + 1 + place) for place in (0, 99, 199))
    assert "a150 read hello" in fleet.covey("ask", "a150", "hello").stdout
    fleet.down()
    assert fleet.processes() == []
