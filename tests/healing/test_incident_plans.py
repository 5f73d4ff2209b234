"""No hot query of healing walks through a table that grows, on SQLite as its planner says."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

import covey.agents
import covey.healing
from tests import plans

PARTIAL = frozenset({"incidents_open", "breakers_open", "incidents_by_end", "tasks_open", "tasks_leased", "tasks_ready", "tasks_held"})
PAGED = {"listed": {"incidents"}}
"""Read backwards by their key, up to a limit."""
BREAKERS = ("breaker", "breaker_tried", "close_breaker", "open_breakers", "put_breaker", "shift_breakers", "try_breaker")


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> apsw.Connection:
    return plans.made(tmp_path_factory.mktemp("plans"))


INCIDENTS = (
    "open", "step", "end", "called", "find", "find_open", "open_of", "open_ids", "open_about", "last_about", "steps_of", "listed",
    "listed_of", "listed_open", "oldest", "forget", "forget_steps",
)  # fmt: skip


@pytest.mark.parametrize("name", INCIDENTS)
def test_incidents_are_found_by_an_index(db: apsw.Connection, name: str) -> None:
    steps = plans.plan(db, covey.healing, name)
    assert plans.walked(steps, PARTIAL) <= PAGED.get(name, set()), steps


@pytest.mark.parametrize("name", BREAKERS)
def test_breakers_are_found_by_an_index_and_only_a_step_of_the_clock_goes_through_all(db: apsw.Connection, name: str) -> None:
    steps = plans.plan(db, covey.agents, name)
    assert plans.walked(steps, PARTIAL) <= ({"breakers"} if name == "shift_breakers" else set()), steps


def test_what_is_paged_has_a_limit() -> None:
    folder = Path(covey.healing.__file__ or "").parent / "sql"
    assert all("LIMIT :limit" in (folder / f"{name}.sql").read_text() for name in PAGED)


def test_work_that_nobody_can_take_is_found_from_queue_to_queue(db: apsw.Connection) -> None:
    steps = plans.plan(db, covey.healing, "unable")
    assert plans.walked(steps, PARTIAL) <= {"found", "f"}, steps
    assert any("tasks_ready" in step for step in steps), steps
