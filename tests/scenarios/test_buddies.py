"""Buddies with real processes: one that stands still is found, one that is cut off is covered, and work goes on (B2, B3, B5)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from covey.agents import roster
from covey.buddies import checking
from covey.healing import incidents
from covey.healing.model import Incident
from covey.messages import reading as mail
from covey.store import events
from covey.store.sqlite import turn_holder
from tests.rules import rule
from tests.scenarios.conftest import RunningFleet, answers, wait_until

pytestmark = pytest.mark.scenario

SETTINGS = """[fleet]
buddy_check_s = 1
heartbeat_s = 1
stale_s = 4
lead = "chief"
deputy = "coder"
"""
NAMES = ("chief", "coder", "devops")
ALONE = ("unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$0" "$@"')
"""Runs a program in a network of its own, which nobody else reaches and from which it reaches nobody."""


class Agents:
    """Agents without a node: nobody but their buddies looks after them, and they after each other."""

    def __init__(self, fleet: RunningFleet) -> None:
        self.fleet = fleet
        self.parts: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *before: str) -> None:
        """Start one, and wait until it is there."""
        with (self.fleet.folder / f"{name}.out").open("ab") as log:
            self.parts[name] = subprocess.Popen(
                [*before, sys.executable, "-m", "covey", "agent", name], cwd=self.fleet.folder, env=self.fleet.env, stdout=log, stderr=log
            )
        wait_until(lambda: self.beats(name), 60, (self.fleet.folder / f"{name}.out").read_text)

    def beats(self, name: str) -> bool:
        """Whether it has a process that has beaten."""
        if self.fleet.marker(name) is None:
            return False
        vitals = self.fleet.read(roster.all_vitals).get(name)
        return vitals is not None and vitals.pid is not None

    def signal(self, name: str, number: int) -> None:
        """Send it a signal, by the pid that we started."""
        self.parts[name].send_signal(number)

    def freeze(self, name: str) -> None:
        """Stop it where it does not hold the store's write lock: with that it would hold up all, and there is no node to end it."""
        lock = self.fleet.folder / ".covey" / "store.db.lock"

        def is_stopped() -> bool:
            self.signal(name, signal.SIGSTOP)
            holder = turn_holder(lock)
            if holder is None or holder[0] != self.parts[name].pid:
                return True
            self.signal(name, signal.SIGCONT)
            return False

        wait_until(is_stopped, 30, "it always held the lock")

    def incident(self, name: str) -> Incident | None:
        """The open incident about a buddy that does not answer."""
        return next(iter(self.fleet.read(incidents.open_of, name, "buddy_down")), None)

    def steps(self, name: str) -> list[str]:
        """What was done about it."""
        found = self.incident(name)
        return [step.action for step in found.steps] if found else []

    def covering(self, name: str) -> list[str]:
        """Whom it covers, as its own status says."""
        found: list[str] = self.fleet.json("status", name)["covering"]
        return found

    def told(self, *kinds: str) -> list[events.Event]:
        """What happened."""
        return self.fleet.read(events.after, events.START, kinds=kinds, limit=100_000).events

    def end(self) -> None:
        """End all of them."""
        for part in self.parts.values():
            part.send_signal(signal.SIGCONT)
            part.terminate()
        for part in self.parts.values():
            try:
                part.wait(timeout=20)
            except subprocess.TimeoutExpired:
                part.kill()
                part.wait(timeout=10)


@pytest.fixture
def agents(fleet_folder: RunningFleet) -> Iterator[Agents]:
    fleet_folder.configure(
        SETTINGS
        + '[agents.chief]\nbrain = "brain:think"\nbuddy = "coder"\n'
        + '[agents.coder]\nbrain = "brain:think"\nbuddy = "devops"\n[agents.devops]\nbrain = "brain:think"\nbuddy = "coder"\n'
    )
    found = Agents(fleet_folder)
    try:
        yield found
    finally:
        found.end()


@rule("B2", "B3", "B5", "H1")
@pytest.mark.timeout(180)
def test_an_agent_that_stands_still_is_found_by_its_buddy_covered_and_taken_back(agents: Agents) -> None:
    fleet = agents.fleet
    for name in NAMES:
        agents.start(name)
    wait_until(lambda: agents.told("buddy.checked"), 60, "nobody checked its buddy")
    agents.freeze("devops")
    wait_until(lambda: agents.steps("devops") == ["ping", "restart"], 90, lambda: f"not found: {agents.incident('devops')}")
    assert {event.agent for event in agents.told("agent.restart_asked")} == {"devops"}, "no healthy one was touched"
    urgent = fleet.json("send", "devops", "the site is down", "--priority", "urgent")["messageId"]
    done = fleet.add("coder", "go on meanwhile")
    wait_until(lambda: agents.covering("coder") == ["devops"], 60, "its buddy does not cover it")
    wait_until(
        lambda: [m for m in fleet.read(mail.inbox, "coder").items if urgent in m.content["data"].get("messageIds", [])],
        60,
        "the urgent mail was not shown to its buddy",
    )
    wait_until(lambda: fleet.task(done).state == "done", 60, "work stopped")
    assert fleet.read(mail.show, urgent)[0].state == "delivered", "it stays the agent's own"
    agents.signal("devops", signal.SIGCONT)
    wait_until(lambda: agents.incident("devops") is None, 90, lambda: f"still open: {agents.incident('devops')}")
    wait_until(lambda: agents.covering("coder") == [], 60, "it is still covered")
    wait_until(lambda: fleet.read(mail.show, urgent)[0].state == "handled", 60, "its urgent mail was not handled when it was back")
    shown = [message for message in fleet.read(mail.inbox, "coder").items if message.type == "alert" and message.from_ == "system"]
    assert len([message for message in shown if "messageIds" in message.content["data"]]) == 1, "shown once"
    assert agents.told("incident.ended")[-1].data["outcome"] == "back"


@rule("B3", "B5", "N3")
@pytest.mark.timeout(180)
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("ip"), reason="needs a network of its own")
def test_an_agent_cut_off_from_its_peers_ports_is_covered_not_restarted_and_its_tasks_go_on(agents: Agents) -> None:
    fleet = agents.fleet
    agents.start("chief")
    agents.start("coder")
    agents.start("devops", *ALONE)
    port = fleet.json("status", "devops")["port"]
    assert not answers(port), "nobody reaches it from here"

    def missed(checker: str) -> int:
        last = fleet.read(checking.last, checker)
        return last.missed_in_a_row if last is not None else 0

    wait_until(lambda: missed("coder") >= 2 and missed("devops") >= 2, 90, "neither end of the pair sees that the other is cut off")
    wait_until(lambda: "devops" in agents.covering("coder"), 60, "its buddy does not cover it")
    urgent = fleet.json("send", "devops", "deploy at once", "--priority", "urgent")["messageId"]
    cached, other = fleet.add("devops", "work on"), fleet.add("coder", "work on too")
    wait_until(lambda: fleet.task(cached).state == fleet.task(other).state == "done", 60, "tasks stopped")
    wait_until(lambda: fleet.read(mail.show, urgent)[0].state == "handled", 60, "what it holds it goes on with")
    assert agents.told("agent.restart_asked") == [], "both ends beat: nobody is restarted"
    assert agents.incident("devops") is not None
    agents.signal("devops", signal.SIGTERM)
    agents.parts["devops"].wait(timeout=30)
    agents.start("devops")
    wait_until(
        lambda: agents.incident("devops") is None and agents.incident("coder") is None, 90, "the way is open again, and it is not seen"
    )
    wait_until(lambda: agents.covering("coder") == [] == agents.covering("devops"), 60, "it is still covered")
