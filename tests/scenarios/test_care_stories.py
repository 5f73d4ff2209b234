"""Agents that are killed, hang, never end, loop or are poisoned, all in one fleet of real processes: each is healed, and nobody else is touched.

Each test reads its own agent's story; what takes long (a stopped process is noticed after some 30 s) goes on meanwhile.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from covey.base.markers import Marker
from covey.healing import incidents
from covey.healing.model import Incident
from covey.store import Statement, Transaction, events
from covey.tasks import reading
from tests.rules import rule
from tests.scenarios.conftest import RunningFleet, fleet_in, wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.timeout(240)]

BOUND_S = 90.0
STOPPED_S = 45.0
"""A stopped agent serves again within so long, at the default settings of a node's pings."""
INCIDENTS = Statement("test:incidents", "SELECT id FROM incidents WHERE agent = :agent ORDER BY seq")
BRAIN = """
import os, time
from pathlib import Path

def think(turn):
    if turn.task is None:
        return f"{turn.agent} read it"
    words = turn.task.description
    with Path("done.txt").open("a") as file:
        file.write(f"{turn.agent} {words} {turn.attempt}" + chr(10))
    if words == "die":
        os._exit(9)
    if words == "take long" and turn.attempt == 1:
        time.sleep(600)
    return f"{turn.agent} did {words}"
"""
FORKS = """#!/bin/sh
if [ -e forked ]; then echo "second time"; exit 0; fi
touch forked
setsid sleep 601 & setsid sleep 602 &
sleep 603
"""
CONFIG = """
[fleet]
grace_s = 0.5
cycle_s = 1
back_s = 3
lead = "chief"
deputy = "ops"

[agents.chief]
brain = "brain:think"
plan = false
[agents.coder]
brain = "brain:think"
plan = false
[agents.sales]
brain = "brain:think"
plan = false
[agents.finance]
brain = { kind = "command", command = ["sh", "-c", "trap '' TERM; while true; do sleep 1; done"] }
[agents.intel]
brain = { kind = "command", command = ["./forks.sh"] }
[agents.devops]
brain = "brain:think"
plan = false
max_context = 600
[agents.comms]
brain = "brain:think"
plan = false
[agents.ops]
brain = "rules"
"""


class Ill:
    """The fleet, who is healthy in it, and the tasks that were given."""

    def __init__(self, fleet: RunningFleet) -> None:
        self.fleet = fleet
        self.healthy = {name: fleet.marker(name) for name in ("chief", "ops")}
        self.long = fleet.add("coder", "take long")
        self.stopped = self.must("sales")
        os.kill(self.stopped.pid, signal.SIGSTOP)
        self.stopped_at = time.time()
        self.endless = fleet.add("finance", "never end", "--estimate", "1")
        self.forks = fleet.add("intel", "fork")
        self.poison = fleet.add("comms", "die")

    def must(self, name: str) -> Marker:
        """Which process is this agent; there must be one."""
        found = self.fleet.marker(name)
        assert found is not None, f"{name} does not run\n{self.fleet.logs()}"
        return found

    def stories(self, agent: str) -> list[Incident]:
        """Its incidents in order."""
        return self.fleet.read(_stories, agent)

    def story(self, agent: str, kind: str, outcome: str | None) -> Incident:
        """Its first incident of a kind, once it has come to that outcome."""

        def is_there() -> bool:
            found = [each for each in self.stories(agent) if each.kind == kind]
            return bool(found) and (outcome is None or found[0].outcome == outcome)

        wait_until(is_there, BOUND_S, lambda: f"{agent} has no {kind} that ended as {outcome}: {self.stories(agent)}\n{self.fleet.logs()}")
        return next(each for each in self.stories(agent) if each.kind == kind)

    def shown(self, story: Incident) -> str:
        """What `covey incident show` tells of it."""
        return self.fleet.covey("incident", "show", story.incident_id).stdout

    def is_done(self, task: str) -> None:
        """Return once it is done."""
        wait_until(lambda: self.fleet.task(task).state == "done", BOUND_S, lambda: f"{self.fleet.task(task)}\n{self.fleet.logs()}")


def _stories(tx: Transaction, agent: str) -> list[Incident]:
    return [incidents.find(tx, row.id) for row in tx.all(INCIDENTS, agent=agent)]


@pytest.fixture(scope="module")
def ill(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ill]:
    """The fleet in which everybody but chief and ops has something."""
    folder = tmp_path_factory.mktemp("ill")
    with fleet_in(folder) as fleet:
        (folder / "brain.py").write_text(BRAIN)
        script = folder / "forks.sh"
        script.write_text(FORKS)
        script.chmod(0o700)
        fleet.configure(CONFIG)
        fleet.up()
        yield Ill(fleet)


def pids_of(word: str) -> list[int]:
    """Live processes with this word on their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


@rule("H4", "H1")
def test_a_killed_agent_serves_again_and_its_running_task_is_done(ill: Ill) -> None:
    """Agent Crashes, as seed 000 has it: seen, restarted, its task put back."""
    wait_until(lambda: "coder take long 1" in (ill.fleet.folder / "done.txt").read_text(), BOUND_S, "coder did not begin")
    before = ill.fleet.kill("coder")
    ill.fleet.serving_again("coder", before)
    story = ill.story("coder", "process_died", "back")
    assert "killed by SIGKILL" in story.cause
    assert [each.action for each in story.steps] == ["restart", "put_back", "back"]
    print(f"kill to serving: {story.cured_in_s:.3f} s")
    shown = ill.shown(story)
    assert "killed by SIGKILL" in shown
    assert "put_back" in shown
    ill.is_done(ill.long)
    assert ill.fleet.task(ill.long).attempts == 2


@rule("H3")
def test_a_brain_that_never_ends_is_ended_and_its_task_done_by_another(ill: Ill) -> None:
    story = ill.story("finance", "task_timeout", "reassigned")
    assert story.steps[0].action == "asked_to_split"
    ill.is_done(ill.endless)
    task = ill.fleet.task(ill.endless)
    assert task.agent != "finance"
    assert not [each for each in ill.stories("finance") if each.kind in ("process_died", "hung")], "no restart for a slow task"
    assert str(task.agent) in ill.shown(story)


@rule("K4c", "H4")
def test_what_a_brain_forked_is_gone_before_its_task_is_tried_again(ill: Ill) -> None:
    wait_until(lambda: pids_of("601") and pids_of("602") and pids_of("603"), BOUND_S, "it did not fork")
    before = ill.fleet.kill("intel")
    ill.fleet.serving_again("intel", before)
    ill.is_done(ill.forks)
    assert not pids_of("601") + pids_of("602") + pids_of("603")
    assert ill.story("intel", "process_died", "back").steps


@rule("H7a", "H6")
def test_a_task_that_two_brains_died_of_is_quarantined(ill: Ill) -> None:
    story = ill.story("comms", "quarantined", None)
    assert story.subject == ill.poison
    task = ill.fleet.task(ill.poison)
    assert task.state == "failed"
    assert (ill.fleet.folder / "done.txt").read_text().count("comms die") == 2


@rule("H5", "P2")
def test_an_idle_agent_is_given_work_of_its_own_and_does_it(ill: Ill) -> None:
    def has_worked() -> bool:
        page = ill.fleet.read(reading.listed, agent="ops", state="done")
        return any(task.origin == "generated" and task.result for task in page.items)

    wait_until(has_worked, BOUND_S, lambda: f"ops was given nothing, or did nothing\n{ill.fleet.logs()}")


@rule("C2", "C3", "C3a")
def test_a_full_context_is_compressed_in_time_and_nothing_of_it_is_lost(ill: Ill) -> None:
    fleet, before = ill.fleet, ill.must("devops")
    for number in range(10):
        fleet.covey(
            "send",
            "devops",
            f"Ticket OPS-{number:04} says: " + f"the valve of boiler {number} was opened and closed again. " * 12,
            "--type",
            "task",
        )
    wait_until(lambda: fleet.json("context", "show", "devops")["coldEntries"] > 0, BOUND_S, lambda: f"nothing left\n{fleet.logs()}")
    assert fleet.json("context", "show", "devops")["contextSize"] <= 600
    (found,) = fleet.json("context", "recall", "devops", "OPS-0001")["items"]
    assert found["text"].count("boiler 1 ") == 12, "word for word, though it is out of sight"
    assert ill.must("devops") == before, "nobody is restarted for it"


@rule("H7", "H4")
def test_a_crash_loop_ends_and_what_waited_is_done_by_others(ill: Ill) -> None:
    for _ in range(6):
        before = ill.must("devops")
        ill.fleet.kill("devops")
        wait_until(
            lambda before=before: (
                ((found := ill.fleet.marker("devops")) is not None and found.pid != before.pid)  # type: ignore[misc]
                or [each for each in ill.stories("devops") if each.kind == "crash_loop"]
            ),
            BOUND_S,
            "devops came to nothing",
        )
    story = ill.story("devops", "crash_loop", None)
    assert "5 restarts in 10 minutes" in story.cause
    assert story.called_at is not None
    waiting = ill.fleet.add("devops", "clean up")
    ill.is_done(waiting)
    assert ill.fleet.task(waiting).agent != "devops"


@rule("H1", "H8b")
def test_an_agent_stopped_right_after_its_start_is_noticed_killed_and_serves_again(ill: Ill) -> None:
    ill.fleet.serving_again("sales", ill.stopped)
    story = ill.story("sales", "hung", "back")
    assert story.ended_at is not None
    took_s = story.ended_at - ill.stopped_at
    print(f"SIGSTOP right after the start to serving: {took_s:.1f} s, {story.cured_in_s:.3f} s of it since noticed; {story.cause}")
    assert took_s < STOPPED_S
    assert "did not answer 3 pings in a row" in story.cause
    assert [each.action for each in story.steps if each.action != "tasks_given"] == ["kill", "ended", "restart", "back"]
    assert [each.kind for each in ill.stories("sales")].count("process_died") == 0, "one incident for one trouble"


@rule("H1", "H8b")
def test_an_agent_stopped_when_it_has_been_up_for_long_is_noticed_as_soon(ill: Ill) -> None:
    before = ill.must("finance")
    os.kill(before.pid, signal.SIGSTOP)
    took_s = ill.fleet.serving_again("finance", before)
    print(f"SIGSTOP after a while to serving: {took_s:.1f} s")
    assert took_s < STOPPED_S
    assert ill.story("finance", "hung", "back").cured_in_s is not None


@rule("H7a", "H8")
def test_nobody_who_is_well_was_touched(ill: Ill) -> None:
    for name, before in ill.healthy.items():
        assert ill.fleet.marker(name) == before
        kinds = [event.kind for event in ill.fleet.read(events.of_agent, name, limit=1000)]
        assert kinds.count("agent.started") == 1
        assert "agent.restart_asked" not in kinds
        assert not [each for each in ill.stories(name) if each.kind != "excessive_idle"]
