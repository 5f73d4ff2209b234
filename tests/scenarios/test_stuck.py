"""Agents that hold up the others, or hang in their own brain's code: ended, started again, and nothing is done twice (K4a, H7a, H1)."""

from __future__ import annotations

import pytest

from tests.rules import rule
from tests.scenarios.conftest import RunningFleet, answers, wait_until

pytestmark = pytest.mark.scenario

BRAIN = """
import fcntl, os, time
from pathlib import Path

def think(turn):
    if turn.task is None:
        return f"{turn.agent} read {turn.message.message.body}"
    done = Path("done.txt")
    with done.open("a") as file:
        file.write(turn.task.description + chr(10))
    if turn.task.description == "grab" and turn.attempt == 1:
        lock = os.open(".covey/store.db.lock", os.O_RDWR)
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.pwrite(lock, b"%-20d %-20.3f\\n" % (os.getpid(), time.clock_gettime(time.CLOCK_BOOTTIME)), 0)
        time.sleep(600)
    if turn.task.description == "hang" and turn.attempt == 1:
        time.sleep(600)
    return "done"
"""


@rule("H7a", "K4a")
@pytest.mark.timeout(120)
def test_an_agent_stuck_with_the_write_lock_and_one_that_ignores_its_end_are_replaced(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    (fleet.folder / "brain.py").write_text(BRAIN)
    fleet.configure(
        "[fleet]\ngrace_s = 0.5\n\n"
        + "\n".join(f'[agents.{name}]\nbrain = "brain:think"\n' for name in ("chief", "sales"))
        + '[agents.coder]\nbrain = { kind = "python", target = "brain:think", timeout_s = 1.0 }\n'
    )
    fleet.up()
    hangs, grabs = fleet.marker("coder"), fleet.marker("sales")
    assert hangs is not None
    assert grabs is not None
    hung = fleet.add("coder", "hang")
    fleet.serving_again("coder", hangs, 40)
    wait_until(lambda: fleet.task(hung).state == "done", 40, lambda: f"the task that hung was not done\n{fleet.logs()}")
    assert fleet.task(hung).attempts == 2
    grabbed = fleet.add("sales", "grab")
    fleet.serving_again("sales", grabs, 60)
    wait_until(lambda: fleet.task(grabbed).state == "done", 40, lambda: f"the other task was not done\n{fleet.logs()}")
    assert fleet.task(grabbed).attempts == 2
    said = (fleet.folder / "done.txt").read_text().split()
    assert sorted(said) == ["grab", "grab", "hang", "hang"]
    assert "chief read hello" in fleet.covey("ask", "chief", "hello").stdout


@rule("A7", "A5")
def test_an_emergency_stop_lasts_over_a_kill_and_a_restart_of_the_fleet(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    fleet.configure("\n".join(f'[agents.{name}]\nbrain = "brain:think"\n' for name in ("chief", "coder")))
    fleet.up()
    fleet.covey("stop", "--all", "--reason", "smoke")
    before = fleet.kill("coder")
    fleet.serving_again("coder", before)
    fleet.down()
    fleet.up()
    task = fleet.add("coder", "wait")
    asked = fleet.json("send", "coder", "wait too")
    assert fleet.json("status", "coder")["flags"]["stopped"]
    assert answers(fleet.base_port + 2)
    assert fleet.task(task).state == "queued"
    fleet.covey("resume", "--all")
    wait_until(lambda: fleet.task(task).state == "done", 30, lambda: f"not done after resume\n{fleet.logs()}")
    wait_until(lambda: fleet.json("inbox", "coder")["items"][0]["state"] == "handled", 30, f"{asked} is not handled")
