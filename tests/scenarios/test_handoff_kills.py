"""Twenty tasks handed over by real processes, while the giver's, the receiver's and the node's are killed with -9 (Q3)."""

from __future__ import annotations

from collections import Counter

import pytest

from covey.store import Statement, Transaction
from tests.rules import rule
from tests.scenarios.conftest import RunningFleet, wait_until

TASKS = 20
BRAIN = """
from covey.testing import Script, accept, hand_over, say

think = Script(
    hand_over("sales", "theirs", state={"n": 1}, notes=["$text"], agent="coder", after_s=0.3),
    accept(agent="sales", after_s=0.3),
    say("$text by $agent", kind="task", after_s=0.3),
    say("noted"),
    log="calls.jsonl",
)
"""
EVENTS = Statement(
    "kinds", "SELECT kind, subject, count(*) AS n FROM events WHERE kind LIKE 'handoff.%' OR kind = 'task.done' GROUP BY kind, subject"
)
OWNERS = Statement("owners", "SELECT id, state, agent, holder, result FROM tasks WHERE created_by = 'operator' ORDER BY seq")
ENDED = Statement("ended", "SELECT count(*) AS n FROM tasks WHERE created_by = 'operator' AND state = 'done'")


def done(tx: Transaction) -> int:
    return int(tx.all(ENDED)[0].n)


def found(tx: Transaction) -> tuple[dict[str, list[int]], list[tuple[str, ...]]]:
    """How often each thing happened to each; how the tasks ended."""
    counts: dict[str, list[int]] = {}
    for row in tx.all(EVENTS):
        counts.setdefault(row.kind, []).append(row.n)
    return counts, [(row.state, row.agent, row.holder) for row in tx.all(OWNERS)]


@pytest.mark.scenario
@pytest.mark.timeout(300)
@rule("Q3", "M3", "K4a")
def test_whoever_is_killed_each_task_is_handed_over_once_and_done_once_by_its_owner(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    (fleet.folder / "brain.py").write_text(BRAIN)
    for number in range(TASKS):
        fleet.add("coder", f"part {number}")
    fleet.up()

    def get_on(count: int) -> None:
        """Return once so many more are done."""
        wanted = min(fleet.read(done) + count, TASKS)
        wait_until(lambda: fleet.read(done) >= wanted, 120, lambda: f"{fleet.read(found)}\n{fleet.logs()}")

    fleet.kill("coder")  # in the middle of its first task
    get_on(4)
    fleet.kill("sales")
    get_on(2)
    fleet.kill("coder")
    get_on(6)  # past the task that died with it: one that dies twice is quarantined
    fleet.kill("node")
    fleet.kill("sales")  # nobody starts this one again until the node is back
    fleet.up()
    get_on(TASKS)
    counts, ends = fleet.read(found)
    assert Counter(ends) == {("done", "sales", "sales"): TASKS}
    assert {kind: Counter(each) for kind, each in counts.items()} == {
        "handoff.offered": {1: TASKS},
        "handoff.accepted": {1: TASKS},
        "task.done": {1: TASKS},
    }
