"""The controller dies: its agents go on, the fleet says that nobody looks after it, and the next one adopts them and goes on (H7b, H8, H9)."""

from __future__ import annotations

import urllib.error
import urllib.request
from typing import Any

import pytest

from covey.healing import incidents
from covey.nodes import records
from covey.store import Statement, Transaction, events
from tests.rules import rule
from tests.scenarios.conftest import RunningFleet, wait_until

pytestmark = pytest.mark.scenario

NAMES = ("chief", "coder")
ALL = Statement("test:incidents", "SELECT id FROM incidents ORDER BY seq")


def status_of(fleet: RunningFleet, path: str) -> int:
    """What the fleet's port answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{fleet.base_port}{path}", timeout=5) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def cycle(fleet: RunningFleet) -> int:
    """How many cycles were done."""
    row: Any = fleet.read(records.leader)
    return 0 if row is None else int(row.cycle)


def _kinds(tx: Transaction) -> list[str]:
    return [incidents.find(tx, row.id).kind for row in tx.all(ALL)]


@rule("H7b", "H8", "H9")
@pytest.mark.timeout(120)
def test_a_fleet_whose_controller_is_killed_works_on_says_so_and_is_looked_after_again(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    fleet.configure("[fleet]\ncycle_s = 1\n\n" + "\n".join(f'[agents.{name}]\nbrain = "brain:think"\nplan = false\n' for name in NAMES))
    fleet.up()
    wait_until(lambda: cycle(fleet) >= 2, 30, lambda: f"no cycle was done\n{fleet.logs()}")
    assert status_of(fleet, "/readyz") == 200
    before = {name: fleet.marker(name) for name in NAMES}
    fleet.kill("node")
    wait_until(lambda: status_of(fleet, "/readyz") == 503, 30, "nobody noticed that the cycle is late")
    assert status_of(fleet, "/healthz") == 200
    task = fleet.add("coder", "go on")
    wait_until(lambda: fleet.task(task).state == "done", 30, lambda: f"the agents do not go on\n{fleet.logs()}")
    done = cycle(fleet)
    fleet.up()
    wait_until(lambda: cycle(fleet) > done, 30, lambda: f"no cycle was done by the next one\n{fleet.logs()}")
    wait_until(lambda: status_of(fleet, "/readyz") == 200, 30, "it is still not ready")
    assert {name: fleet.marker(name) for name in NAMES} == before
    for name in NAMES:
        kinds = [event.kind for event in fleet.read(events.of_agent, name)]
        assert kinds.count("agent.started") == 1
    assert set(fleet.read(_kinds)) <= {"excessive_idle", "cycle_late"}
