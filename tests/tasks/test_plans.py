"""No statement of tasks walks through a table that grows, on SQLite as its planner says."""

from __future__ import annotations

import apsw
import pytest

import covey.tasks
from tests import plans

PARTIAL = frozenset(
    {"tasks_ready", "tasks_open", "tasks_blocked", "tasks_broken", "tasks_leased", "tasks_held", "tasks_due", "tasks_waiting", "runs_open"}
)
LIMITED = {
    "list": {"tasks"},
    "list_broken": {"tasks"},
    "page": {"t", "tasks"},
    "page_needs": {"n", "needs"},
    "page_runs": {"r", "runs"},
    "runs_page": {"runs"},
    "takers_now": {"json_each"},
}
"""They go along a table by its key, up to a limit or an end, or along the names that they are given."""
COUNTED = {"counts": {"tasks"}, "schedules": {"schedules"}, "leases": {"tasks"}}
"""One count of all; the schedules, which are few; the leases that a restore ends, once."""


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> apsw.Connection:
    return plans.made(tmp_path_factory.mktemp("plans"))


def test_every_statement_finds_its_rows_by_an_index(db: apsw.Connection) -> None:
    wrong = {}
    for name in plans.names(covey.tasks):
        walked = plans.walked(plans.plan(db, covey.tasks, name), PARTIAL)
        if not walked <= LIMITED.get(name, set()) | COUNTED.get(name, set()):
            wrong[name] = walked
    assert wrong == {}


@pytest.mark.parametrize("name", ["list", "list_broken", "queued_of", "blocked_of", "lapsed"])
def test_what_is_asked_for_the_first_few_is_not_sorted_whole(db: apsw.Connection, name: str) -> None:
    steps = plans.plan(db, covey.tasks, name)
    assert not [step for step in steps if "TEMP B-TREE FOR ORDER BY" in step], steps


def test_a_claim_sorts_the_heads_of_the_queues_alone(db: apsw.Connection) -> None:
    steps = plans.plan(db, covey.tasks, "claim")
    assert any("tasks_ready" in step for step in steps), steps
    assert sum("TEMP B-TREE" in step for step in steps) <= 1, steps
