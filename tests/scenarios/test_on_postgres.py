"""A whole fleet on PostgreSQL: one value moves it there, and it outlives the death of the server (N1, M3)."""

from __future__ import annotations

import os
import signal

import pytest

from covey import Fleet
from tests import postgres as servers
from tests.rules import rule
from tests.scenarios.conftest import RunningFleet, run, wait_until

pytestmark = pytest.mark.scenario


async def fill(fleet: RunningFleet) -> list[str]:
    """The ids of work for some seconds."""
    async with Fleet.open(fleet.folder, environ=fleet.env) as opened:
        return [(await opened.add_task("coder", f"slowly {number}")).task_id for number in range(15)]


@rule("N1", "M3", "H4", "K4b")
@pytest.mark.timeout(150)
def test_a_fleet_on_postgresql_outlives_the_death_of_its_server_and_of_its_agents(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    fleet.configure("\n".join(f'[agents.{name}]\nbrain = "brain:think"\n' for name in ("chief", "coder")))
    try:
        with servers.running(fsync=True) as server:
            fleet.env["COVEY_STORE"] = server.url
            fleet.up()
            before = {name: fleet.marker(name) for name in ("chief", "coder", "node", "console")}
            tasks = run(fill(fleet))
            server.kill()
            server.start()
            wait_until(lambda: all(fleet.task(each).state == "done" for each in tasks), 60, lambda: f"not all is done\n{fleet.logs()}")
            assert {name: fleet.marker(name) for name in before} == before, "nobody had to be started again"
            coder = before["coder"]
            assert coder is not None
            os.kill(coder.pid, signal.SIGKILL)
            fleet.serving_again("coder", coder)
            assert "coder read hello" in fleet.covey("ask", "coder", "hello").stdout
            fleet.down()
            assert fleet.processes() == []
    except servers.NoPostgres as missing:
        pytest.skip(str(missing))
