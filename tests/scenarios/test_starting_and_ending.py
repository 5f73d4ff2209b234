"""`covey up` and `covey down`, at once, twice, in each other's way, with strangers on the ports; nothing is left, nothing is lost."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from covey.base.markers import markers
from covey.base.processes import alive
from tests.rules import rule
from tests.scenarios.conftest import NAMES, RunningFleet, wait_until

pytestmark = pytest.mark.scenario

FORKS = "#!/bin/sh\n(trap '' TERM; sleep 300) &\nsh -c 'sleep 300 & sleep 300' &\nsetsid sleep 300 < /dev/null > /dev/null 2>&1 &\ntouch begun\nwait\n"


def forking(fleet: RunningFleet) -> str:
    """A fleet whose coder is a program that forks; the id of a task that it works on, once it does."""
    script = fleet.folder / "forks.sh"
    script.write_text(FORKS)
    script.chmod(0o755)
    fleet.configure('[fleet]\ngrace_s = 1\n\n[agents.coder]\nbrain = { command = ["./forks.sh"] }\n\n[agents.ops]\nbrain = "brain:think"\n')
    fleet.up()
    task = fleet.add("coder", "fork")
    wait_until((fleet.folder / "begun").exists, 30, lambda: f"the brain did not begin\n{fleet.logs()}")
    assert len(sleeping(fleet)) >= 3
    return task


def sleeping(fleet: RunningFleet) -> list[int]:
    """The programs that the fleet's brain has left: they run in its folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cwd").readlink() == fleet.folder and b"sleep" in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


@rule("A7a", "H7a")
def test_of_two_ups_at_once_one_starts_the_fleet_and_both_print_its_addresses(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    fleet.json("task", "list")  # the store is there, so that the two meet as late as can be
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: fleet.covey("up", "--detach", check=False), range(2)))
    assert [each.returncode for each in both] == [0, 0], "\n".join(each.stdout + each.stderr for each in both)
    assert all(f"http://127.0.0.1:{fleet.base_port + 2}" in each.stdout for each in both)
    running = markers(fleet.folder / ".covey" / "run")
    assert sorted(each.name for each in running) == sorted((*NAMES, "node", "console"))
    fleet.down()
    assert fleet.processes() == []


@rule("K4", "K4c", "H7a")
def test_down_ends_every_program_of_a_brain_and_gives_its_work_back_uncounted(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    task = forking(fleet)
    fleet.down()
    assert sleeping(fleet) == []
    assert fleet.processes() == []
    found = fleet.task(task)
    assert (found.state, found.attempts) == ("queued", 0)
    again = fleet.covey("down")
    assert "nothing of it is left running" in again.stdout


@rule("K4", "K4c", "M3")
def test_down_without_a_node_ends_the_agents_and_what_a_dead_one_left(fleet_folder: RunningFleet) -> None:
    """The node and the coder are dead: its program is ended, the try counts. The other agents end in good order."""
    fleet = fleet_folder
    task = forking(fleet)
    fleet.kill("node")
    fleet.kill("coder")
    wait_until(lambda: fleet.marker("coder") is None, 10, "the coder lives")
    assert sleeping(fleet)
    fleet.down()
    assert sleeping(fleet) == []
    assert fleet.processes() == []
    found = fleet.task(task)
    assert (found.state, found.attempts) == ("queued", 1)


@rule("K4", "H7a")
def test_two_downs_at_once_while_an_agent_is_killed_leave_nothing_and_lose_no_try(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    task = forking(fleet)
    coder, ops, node = (fleet.marker(name) for name in ("coder", "ops", "node"))
    assert coder is not None
    assert ops is not None
    assert node is not None
    os.kill(coder.pid, signal.SIGSTOP)  # so that it can't end in good order
    first = fleet.begin("down")
    second = fleet.begin("down")
    wait_until(lambda: not alive(ops.identity), 30, "ops lives")
    os.kill(coder.pid, signal.SIGKILL)
    for each in (first, second):
        out, err = each.communicate(timeout=90)
        assert each.returncode == 0, out + err
    assert not alive(node.identity)
    assert sleeping(fleet) == []
    assert fleet.processes() == []
    found = fleet.task(task)
    assert (found.state, found.attempts) == ("queued", 0), "it was alive when `down` came"


@rule("H7a")
def test_sigterm_to_the_node_is_a_down(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    fleet.up()
    node = fleet.marker("node")
    assert node is not None
    os.kill(node.pid, signal.SIGTERM)
    wait_until(lambda: fleet.processes() == [], 60, lambda: f"left: {fleet.processes()}\n{fleet.logs()}")


@rule("H7a")
def test_a_down_in_the_middle_of_an_up_leaves_nothing_running(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    starting = fleet.begin("up", "--detach")
    wait_until(lambda: fleet.marker("node") is not None, 60, "no node came up")
    fleet.down()
    out, err = starting.communicate(timeout=90)
    assert starting.returncode in (0, 1), out + err
    assert "Traceback" not in err
    assert fleet.processes() == []


@rule("H7a")
def test_a_node_that_is_only_just_being_started_when_down_comes_does_not_come_up(fleet_folder: RunningFleet) -> None:
    """The node's process is there, its lock is not yet: `down` sees nobody, and leaves word."""
    fleet = fleet_folder
    fleet.covey("up", "--detach")
    fleet.down()
    held = subprocess.Popen(
        [fleet.python, "-c", "import time; time.sleep(2)\nfrom covey.app.noding import main; raise SystemExit(main('.covey/run/settings.json'))"],
        cwd=fleet.folder, env=fleet.env, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    fleet.down()
    _, err = held.communicate(timeout=60)
    assert held.returncode == 0, err
    assert "taken down while it was starting" in err
    assert fleet.processes() == []


@rule("A10")
def test_a_stranger_on_an_agents_port_is_named_and_nothing_is_started(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    with socket.create_server(("127.0.0.1", fleet.base_port + 3)):
        refused = fleet.covey("up", "--detach", check=False)
        assert refused.returncode == 1
        said = refused.stdout + refused.stderr
        assert f"port {fleet.base_port + 3}" in said
        assert f"pid {os.getpid()}" in said
        assert fleet.processes() == []
        assert markers(fleet.folder / ".covey" / "run") == []
    fleet.up()


@rule("A10", "H7", "A3")
@pytest.mark.timeout(120)
def test_a_stranger_that_takes_a_dead_agents_port_ends_its_restarts_until_resume(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    fleet.up()
    port = fleet.base_port + 2
    before = fleet.kill("coder")
    stranger = taken(port)
    try:
        wait_until(lambda: fleet.json("status", "coder")["status"] == "error", 90, lambda: f"no error was seen\n{fleet.logs()}")
        why = fleet.covey("why", "coder").stdout
        assert f"port {port}" in why
        assert f"pid {os.getpid()}" in why
        assert "alive?" in fleet.covey("ask", "ops", "alive?").stdout
    finally:
        stranger.close()
    fleet.covey("resume", "coder")
    fleet.serving_again("coder", before)
    wait_until(lambda: fleet.json("status", "coder")["status"] != "error", 30, "the error stays")


def taken(port: int) -> socket.socket:
    """The port, as soon as it can be had."""
    found: list[socket.socket] = []

    def take() -> bool:
        try:
            found.append(socket.create_server(("127.0.0.1", port)))
        except OSError:
            return False
        return True

    while not take():
        pass
    return found[0]
