"""No statement of figures over time walks through a table, on SQLite as its planner says and on PostgreSQL where the table is full."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

import covey.figures
from covey.figures import recording
from covey.store.postgres import PostgresEngine
from covey.store.statements import statement
from tests import plans
from tests.conftest import ManualClock
from tests.postgres import Databases


def test_every_statement_finds_its_rows_by_an_index(tmp_path: Path) -> None:
    db = plans.made(tmp_path)
    found = {name: plans.plan(db, covey.figures, name) for name in plans.names(covey.figures)}
    assert {name: plans.walked(plan, frozenset()) for name, plan in found.items()} == {name: set() for name in found}
    assert not any("TEMP B-TREE" in step for plan in found.values() for step in plan)
    db.close()


@pytest.mark.parametrize("name", ["between", "forget"])
def test_a_full_table_is_read_by_its_index_on_postgresql(postgres: Databases, clock: ManualClock, name: str) -> None:
    with postgres.fresh() as url:
        PostgresEngine(url, clock=clock).migrate(clock.wall)
        with psycopg.connect(url, autocommit=True) as db:
            db.execute(
                "INSERT INTO figures SELECT 'agent' || a, 60, 60 * at, '{}' FROM generate_series(1, 50) a, generate_series(1, 400) at"
            )
            db.execute("ANALYZE figures")
            text = statement(covey.figures.__name__, name).postgres
            values = {"agent": "agent7", "span_s": 60, "since": 60 * 390, "before": 60 * 3, "limit": 100}
            plan = "\n".join(row[0] for row in db.execute(f"EXPLAIN {text}".encode(), values))
    assert "Seq Scan" not in plan, plan
    assert recording.PAGE > 0
