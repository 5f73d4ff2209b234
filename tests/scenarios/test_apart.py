"""The parts as containers run them: agents, controller and console each a process of its own on one data folder (A5, H9, N2)."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator

import pytest

from covey.agents import roster
from covey.base.ports import EX_OWN_INSTANCE
from covey.base.processes import Identity, alive
from covey.nodes import records
from tests.rules import rule
from tests.scenarios.conftest import RunningFleet, answers, wait_until

pytestmark = pytest.mark.scenario


class Apart:
    """The fleet of two agents, each part started by the test."""

    def __init__(self, fleet: RunningFleet) -> None:
        self.fleet = fleet
        self.parts: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, **env: str) -> None:
        """Start a part: `console`, `controller`, or an agent by its name, and wait until it serves."""
        words = [name] if name in ("console", "controller") else ["agent"]
        more = env if words == [name] else {"AGENT_ID": name} | env
        log = (self.fleet.folder / f"{name}.out").open("ab")
        with log:
            self.parts[name] = subprocess.Popen(
                [sys.executable, "-m", "covey", *words], cwd=self.fleet.folder, env=self.fleet.env | more, stdout=log, stderr=log
            )
        lock = "node" if name == "controller" else name
        wait_until(lambda: (found := self.fleet.marker(lock)) is not None and self.is_up(name, found.port), 60, lambda: self.said(name))

    def is_up(self, name: str, port: int) -> bool:
        """Whether it does what it is for."""
        return self.leads() if name == "controller" else answers(port)

    def leads(self) -> bool:
        """Whether somebody leads."""
        row = self.fleet.read(records.leader)
        return row is not None and row.holder == "the-controller"

    def kill(self, name: str) -> None:
        """SIGKILL, by the pid that we started."""
        self.parts[name].send_signal(signal.SIGKILL)
        self.parts[name].wait(timeout=10)

    def said(self, name: str) -> str:
        """What it printed."""
        return (self.fleet.folder / f"{name}.out").read_text()

    def end(self) -> None:
        """SIGTERM to all; each ends in good order."""
        for part in self.parts.values():
            if part.poll() is None:
                part.terminate()
        for name, part in self.parts.items():
            assert part.wait(timeout=60) in (0, -signal.SIGKILL), self.said(name)


@pytest.fixture
def apart(fleet_folder: RunningFleet) -> Iterator[Apart]:
    fleet_folder.configure('[agents.chief]\nbrain = "brain:think"\n\n[agents.coder]\nbrain = "brain:think"\n')
    fleet_folder.env |= {"COVEY_HOST": "0.0.0.0"}
    made = Apart(fleet_folder)
    yield made
    made.end()
    assert fleet_folder.processes() == []


@rule("A5", "H9", "N2", "M3")
def test_parts_apart_are_one_fleet_and_come_back_when_they_are_started_again(apart: Apart) -> None:
    fleet = apart.fleet
    other = fleet.room_for(20) + 15
    apart.start("controller", COVEY_NODE="the-controller")
    apart.start("console")
    apart.start("chief")
    apart.start("coder", PORT=str(other))
    vitals = fleet.read(roster.vitals, "coder")
    assert (vitals.pid, vitals.node) == (apart.parts["coder"].pid, "coder")
    assert answers(other)
    task = fleet.add("coder", "first")
    wait_until(lambda: fleet.task(task).state == "done", 30, lambda: apart.said("coder"))
    assert "chief read hello" in fleet.covey("ask", "chief", "hello").stdout
    for name in ("coder", "console", "controller"):
        apart.kill(name)
    waits = fleet.add("coder", "second")
    apart.start("coder", PORT=str(other))
    apart.start("console")
    apart.start("controller", COVEY_NODE="the-controller")
    wait_until(lambda: fleet.task(waits).state == "done", 30, lambda: apart.said("coder"))
    assert fleet.json("status", "coder")["pid"] == apart.parts["coder"].pid


@rule("A10")
def test_an_agent_that_runs_already_is_not_started_twice(apart: Apart) -> None:
    apart.start("coder")
    again = apart.fleet.covey("agent", "coder", check=False)
    assert again.returncode == EX_OWN_INSTANCE
    assert f"pid {apart.parts['coder'].pid}" in again.stdout + again.stderr or str(apart.parts["coder"].pid) in again.stderr


@rule("A5", "M11")
def test_a_fleet_that_others_can_reach_asks_for_tokens(apart: Apart) -> None:
    apart.start("coder")
    port = apart.fleet.base_port + 2
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=10) as answer:
        assert answer.status == 200
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=10)
    assert refused.value.code == 401
    refused.value.close()
    address = socket.gethostbyname(socket.gethostname())
    if not address.startswith("127."):
        with urllib.request.urlopen(f"http://{address}:{port}/health", timeout=10) as answer:
            assert answer.status == 200


@rule("H9", "H7a")
def test_down_ends_parts_that_were_started_apart(apart: Apart) -> None:
    apart.start("coder")
    apart.start("controller", COVEY_NODE="the-controller")
    coder = Identity.of(apart.parts["coder"].pid)
    assert coder is not None
    apart.fleet.down()
    assert not alive(coder)
    assert apart.parts["controller"].wait(timeout=10) == 0
    os.waitid(os.P_PID, apart.parts["coder"].pid, os.WEXITED | os.WNOWAIT)
