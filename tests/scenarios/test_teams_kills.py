"""A run of 30 steps with real processes: the supervisor's, a worker's, the node's are killed with -9; each step is done once (Q2, Q5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from covey.store import Statement, Transaction
from covey.testing import read_log
from tests import postgres as servers
from tests.rules import rule
from tests.scenarios.conftest import RunningFleet, wait_until

STEPS = 30
BRAIN = f"""
from covey.tasks.model import TaskDraft
from covey.testing import Script, plan, say

parts = [TaskDraft(description=f"part {{n}}", agent="@general") for n in range({STEPS})]
think = Script(
    plan(*parts, when="^Plan", after_s=0.5),
    say("$text by $agent", when="^slow", after_s=1.5),
    say("$text by $agent", kind="task", after_s=0.15),
    say("$agent is here"),
    log="calls.jsonl",
)
"""
WORKERS = ("coder", "sales", "ops")
DONE = Statement(
    "done", "SELECT subject AS id, count(*) AS n FROM events WHERE kind = 'task.done' AND subject LIKE 'mine-%' GROUP BY subject"
)
ENDED = Statement(
    "ended", "SELECT kind, count(*) AS n FROM events WHERE subject = 'mine' AND kind IN ('team.done', 'team.failed') GROUP BY kind"
)


def _counts(tx: Transaction) -> tuple[dict[str, int], dict[str, int]]:
    return {row.id: row.n for row in tx.all(DONE)}, {row.kind: row.n for row in tx.all(ENDED)}


class Watched:
    """The run, as the command line shows it."""

    def __init__(self, fleet: RunningFleet) -> None:
        self.fleet = fleet

    def now(self) -> dict[str, Any]:
        found: dict[str, Any] = self.fleet.json("team", "show", "mine")
        return found

    def until_done(self, count: int) -> None:
        """Return once so many steps are done."""
        wait_until(lambda: self.now()["done"] >= count, 90, lambda: f"{self.now()}\n{self.fleet.logs()}")


@pytest.fixture(params=["sqlite", "postgres"])
def fleet(request: pytest.FixtureRequest, fleet_folder: RunningFleet) -> Iterator[RunningFleet]:
    """The fleet, not started, on either kind of store in turn (N1)."""
    if request.param == "sqlite":
        yield fleet_folder
        return
    fleet_folder.configure("\n".join(f'[agents.{name}]\nbrain = "brain:think"\n' for name in ("chief", *WORKERS)))
    try:
        with servers.running(fsync=True) as server:
            fleet_folder.env["COVEY_STORE"] = server.url
            yield fleet_folder
            fleet_folder.down()
    except servers.NoPostgres as missing:
        pytest.skip(str(missing))


@pytest.mark.scenario
@pytest.mark.timeout(300)
@rule("Q2", "Q5", "M3")
def test_the_supervisor_a_worker_and_the_node_are_killed_and_each_step_is_done_once(fleet: RunningFleet) -> None:
    run = Watched(fleet)
    (fleet.folder / "brain.py").write_text(BRAIN)
    fleet.up()
    fleet.json("team", "run", "thirty parts", "--supervisor", "chief", "--workers", ",".join(WORKERS), "--id", "mine", "--no-wait")
    wait_until((fleet.folder / "calls.jsonl").exists, 30, "no plan was begun")
    fleet.kill("chief")  # the supervisor, in the middle of its plan
    run.until_done(3)
    fleet.kill("coder")  # a worker, in the middle of a step
    run.until_done(9)
    fleet.kill("chief")  # the supervisor once more, while its run goes on
    fleet.kill("node")
    run.until_done(14)  # nobody leads: the agents drive the run themselves
    fleet.kill("sales")  # and nobody starts this one again until the node is back
    fleet.up()
    wait_until(lambda: run.now()["state"] in ("done", "failed"), 120, lambda: f"{run.now()}\n{fleet.logs()}")
    ended = run.now()
    assert (ended["state"], ended["success"], ended["qualityScore"], ended["done"]) == ("done", True, 1.0, STEPS)
    assert ended["plannedBy"] == "chief"
    assert {step["worker"] for step in ended["results"]} <= set(WORKERS)
    for step in ended["results"]:
        assert step["result"]["summary"] == f"{step['description']} by {step['worker']}"
    done, ends = fleet.read(_counts)
    assert Counter(done.values()) == {1: STEPS + 1}  # and the plan
    assert ends == {"team.done": 1}
    tried = Counter(call.item for call in read_log(fleet.folder / "calls.jsonl") if call.kind == "task")
    assert all(1 <= tried[step["taskId"]] <= step["attempts"] for step in ended["results"])
    letters = fleet.json("inbox", "operator")["items"]
    assert len([each for each in letters if each["content"]["subject"] == "Team run done: thirty parts"]) == 1


@pytest.mark.scenario
@pytest.mark.timeout(200)
@rule("Q2")
def test_a_fleet_that_was_down_goes_on_with_its_run_where_it_was(fleet_folder: RunningFleet) -> None:
    fleet, run = fleet_folder, Watched(fleet_folder)
    (fleet.folder / "brain.py").write_text(BRAIN)
    words = [word for number in range(STEPS) for word in ("--part", f"slow part {number}")]
    fleet.json("team", "run", "thirty parts", "--workers", ",".join(WORKERS), *words, "--id", "mine", "--no-wait")
    assert run.now()["why"].startswith("nobody takes step 1 now")
    fleet.up()
    run.until_done(2)
    fleet.down()
    before = run.now()
    assert (before["state"], before["done"] < STEPS) == ("working", True)
    fleet.up()
    watched = fleet.covey("team", "run", "thirty parts", "--id", "mine", "--timeout", "90")
    assert "mine  done  30 of 30 done" in watched.stdout
    done, _ = fleet.read(_counts)
    assert Counter(done.values()) == {1: STEPS}
