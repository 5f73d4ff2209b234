"""No report walks through a whole table that grows, on SQLite as its planner says."""

from __future__ import annotations

import re
from pathlib import Path

import apsw
import pytest

import covey.reports
from covey.base.clock import SystemClock
from covey.store.sqlite import SqliteEngine
from covey.store.statements import _PARAMETER, statement

READ_EVERYTHING = {"amounts"}
"""They count every row, once for an export, which reads them all."""
STATEMENTS = sorted({path.stem for path in (Path(covey.reports.__file__).parent / "sql").glob("*.sql")} - READ_EVERYTHING)
LAST_FEW = {
    "happened": {"events"},
    "latest_ids": {"tasks", "messages"},
    "mail_times": {"events"},
    "task_times": {"events"},
}
"""They go backwards through a table by its key, up to a limit."""
NO_LARGER_THAN_THE_FLEET = {"budgets": {"budgets"}, "plannings": {"plannings"}, "paid_turns": {"a"}, "short_machines": {"pressures"}}
"""They go through a table with a row for each agent, or each node, at most."""
PARTIAL = {
    *("tasks_ready", "tasks_open", "tasks_by_project", "tasks_wanting_approval", "incidents_open", "incidents_called"),
    *("tasks_leased", "copies_leased", "copies_deferred", "handoffs_due", "votes_due"),
}


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> apsw.Connection:
    engine = SqliteEngine(tmp_path_factory.mktemp("plans") / "store.db", SystemClock())
    engine.migrate(SystemClock().wall)
    return engine.open()


def walked(plan: list[str]) -> set[str]:
    """The tables that a plan goes through whole, but for indexes that hold a part of a table alone."""
    made = {step.split()[-1] for step in plan if step.startswith(("CO-ROUTINE", "MATERIALIZE"))}
    steps = [re.match(r"SCAN (\w+)(?: EXISTS)?(?: USING (?:COVERING )?INDEX (\w+))?", step) for step in plan]
    return {step[1] for step in steps if step is not None and step[2] not in PARTIAL} - made - {"CONSTANT"}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_report_finds_its_rows_by_an_index(db: apsw.Connection, name: str) -> None:
    text = statement("covey.reports", name).sqlite
    plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {text}", dict.fromkeys(_PARAMETER.findall(text), 1))]
    assert walked(plan) <= LAST_FEW.get(name, NO_LARGER_THAN_THE_FLEET.get(name, set())), plan


def test_only_what_has_a_limit_may_go_through_a_table() -> None:
    for name in LAST_FEW:
        assert "LIMIT :limit" in statement("covey.reports", name).sqlite


def test_a_part_of_the_fleet_is_found_by_the_index_of_its_order(db: apsw.Connection) -> None:
    plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {statement('covey.agents', 'page').sqlite}", {"after": 1, "limit": 1})]
    assert plan == ["SEARCH agents USING INDEX agents_in_order (place>?)"]
