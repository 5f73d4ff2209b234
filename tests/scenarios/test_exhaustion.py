"""Resource Exhaustion, as seed 000 has it, in a fleet of real processes: a disk that fills, file handles that are used up, a context that
must keep more than fits. Each is seen and said, held within its bound, and over once its cause is (H10, C3, H1).

The fleet's data lie on a small disk of their own, which takes the right to mount one; its processes may have few files open.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from covey.healing import incidents
from covey.healing.model import Incident
from covey.store import Statement, Transaction
from tests.rules import rule
from tests.scenarios.conftest import RunningFleet, fleet_in, wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.timeout(300)]

BOUND_S = 90.0
FILES = 256
DISK_MIB, FILL_MIB = 650, 200
"""With the filling less than 500 MB are free, without it more than 600: the line and, by its hysteresis, its end (H10)."""
LONG = "the valve of the boiler was opened and closed again, " * 18
INCIDENTS = Statement("test:incidents", "SELECT id FROM incidents WHERE agent = :agent AND kind = :kind ORDER BY seq")
BRAIN = """
import os, time
from pathlib import Path
from covey.brains.model import Outcome

KEPT = []

def think(turn):
    if turn.task is None:
        return "read"
    words = turn.task.description
    if words == "leak" and turn.attempt == 1:
        while True:
            KEPT.append(os.open("/dev/null", os.O_RDONLY))
    if words == "note much":
        return Outcome(kind="failed", error="not yet", notes=[f"{number}: " + "the valve of the boiler is open again, " * 12 for number in range(8)])
    while words == "hold" and not Path("go").exists():
        time.sleep(0.05)
    return "done"
"""
CONFIG = """
[fleet]
grace_s = 0.5
cycle_s = 5
lead = "chief"
deputy = "ops"

[agents.chief]
plan = false
[agents.coder]
brain = "brain:think"
plan = false
[agents.sales]
brain = "brain:think"
plan = false
[agents.devops]
brain = "brain:think"
plan = false
max_context = 600
[agents.ops]
plan = false
"""


def _ids(tx: Transaction, agent: str, kind: str) -> list[Incident]:
    return [incidents.find(tx, row.id) for row in tx.all(INCIDENTS, agent=agent, kind=kind)]


class Pressed:
    """The fleet, and the file that fills its disk."""

    def __init__(self, fleet: RunningFleet, *, has_disk: bool) -> None:
        self.fleet = fleet
        self.has_disk = has_disk
        self.filling = fleet.folder / ".covey" / "filling"

    def story(self, agent: str, kind: str, outcome: str | None) -> Incident:
        """Its first incident of a kind, once it has come to that outcome (None: once it is open)."""

        def is_there() -> bool:
            found = self.fleet.read(_ids, agent, kind)
            return bool(found) and (outcome is None or found[0].outcome == outcome)

        wait_until(is_there, BOUND_S, lambda: f"no {kind} of {agent} that ended as {outcome}\n{self.fleet.logs()}")
        return self.fleet.read(_ids, agent, kind)[0]

    def comes_to(self, task: str, state: str) -> None:
        """Return once a task is in that state."""
        wait_until(lambda: self.fleet.task(task).state == state, BOUND_S, lambda: f"{self.fleet.task(task)}\n{self.fleet.logs()}")

    def tell(self, outcome: Incident) -> None:
        """Print how long it took."""
        print(f"{outcome.kind}: {outcome.cured_in_s or 0:.1f} s from its incident's beginning to its end; {outcome.cause}")


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """A disk of its own below a folder; whether this account may mount one."""
    folder.mkdir()
    mounted = os.geteuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m,mode=700", "none", str(folder)], capture_output=True, check=False
    ).returncode == 0  # fmt: skip
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture(scope="module")
def pressed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pressed]:
    """A fleet that has little of everything."""
    folder = tmp_path_factory.mktemp("pressed")
    with small_disk(folder / ".covey") as has_disk, fleet_in(folder) as fleet:
        (folder / "brain.py").write_text(BRAIN)
        fleet.configure(CONFIG)
        up = ["sh", "-c", f'ulimit -n {FILES} && exec "$0" -m covey up --detach', sys.executable]
        started = subprocess.run(up, cwd=folder, env=fleet.env, capture_output=True, text=True, timeout=120, check=False)
        assert started.returncode == 0, f"{started.stdout}\n{started.stderr}\n{fleet.logs()}"
        yield Pressed(fleet, has_disk=has_disk)


@rule("H1", "H8b", "H4")
def test_an_agent_that_has_used_up_its_file_handles_is_found_silent_and_replaced_and_its_task_is_done(pressed: Pressed) -> None:
    fleet = pressed.fleet
    before, other = fleet.marker("coder"), fleet.marker("ops")
    assert before is not None
    leak = fleet.add("coder", "leak")
    fleet.serving_again("coder", before, BOUND_S)
    pressed.tell(pressed.story("coder", "hung", "back"))
    pressed.comes_to(leak, "done")
    assert fleet.marker("ops") == other, "nobody else is touched"


@rule("C3", "A3")
def test_a_context_that_must_keep_more_than_fits_is_an_error_that_says_so_until_it_fits_again(pressed: Pressed) -> None:
    fleet, before = pressed.fleet, pressed.fleet.marker("devops")
    held_up = fleet.add("sales", "hold")
    urgent = [fleet.add("devops", f"{number}: {LONG}", "--priority", "urgent", "--needs", held_up) for number in range(4)]
    fleet.add("devops", "note much", "--priority", "urgent")
    story = pressed.story("devops", "context_overflow", None)
    assert "max_context" in story.cause
    state = fleet.json("status", "devops")
    assert state["status"] == "error"
    assert "its context is too large" in state["error"]
    shown = fleet.json("context", "show", "devops")
    assert shown["contextSize"] <= 600, "the bound holds all the same"
    for task in urgent:
        fleet.covey("task", "cancel", task)
    story = pressed.story("devops", "context_overflow", "fits_again")
    pressed.tell(story)
    assert fleet.json("status", "devops")["status"] != "error"
    (fleet.folder / "go").touch()
    pressed.comes_to(held_up, "done")
    assert fleet.marker("devops") == before, "nobody is restarted for it"


@rule("H10")
def test_while_the_disk_is_nearly_full_only_urgent_and_high_work_is_taken_and_all_of_it_when_there_is_room(pressed: Pressed) -> None:
    if not pressed.has_disk:
        pytest.skip("this account may not mount a disk")
    fleet = pressed.fleet
    with pressed.filling.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, FILL_MIB << 20)
    story = pressed.story("", "resource_pressure", None)
    assert "short of disk" in story.cause
    low, high = fleet.add("coder", "can wait"), fleet.add("coder", "can not", "--priority", "high")
    pressed.comes_to(high, "done")
    assert fleet.task(low).state == "queued"
    assert "short of" in fleet.covey("why", low).stdout
    assert any("short of disk" in each["content"]["body"] for each in fleet.json("inbox", "operator")["items"]), "a person is told"
    assert "urgent_only" in fleet.covey("incident", "show", story.incident_id).stdout
    pressed.filling.unlink()
    pressed.tell(pressed.story("", "resource_pressure", "relieved"))
    pressed.comes_to(low, "done")
