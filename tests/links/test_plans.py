"""What every send asks is found by an index, on SQLite as its planner says."""

from __future__ import annotations

import re

import apsw
import pytest

from covey.base.clock import SystemClock
from covey.store.sqlite import SqliteEngine
from covey.store.statements import _PARAMETER, statement

HOT = {
    "covey.links": ("direction", "imply", "keep", "set_bucket", "count_protocol", "touched", "page", "states"),
    "covey.messages": (
        *("crossing", "at_work", "streak", "task_moved", "waiting_copies", "deliver", "postpone", "deferred_due", "deferred_expired"),
        *("deferred_between", "deferred_of", "end_deferred", "count_anew", "waited_for", "add", "add_copy"),
    ),
}


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> apsw.Connection:
    engine = SqliteEngine(tmp_path_factory.mktemp("plans") / "store.db", SystemClock())
    engine.migrate(SystemClock().wall)
    return engine.open()


@pytest.mark.parametrize(("package", "name"), [(package, name) for package, names in HOT.items() for name in names])
def test_a_send_walks_through_no_table(db: apsw.Connection, package: str, name: str) -> None:
    text = statement(package, name).sqlite
    plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {text}", dict.fromkeys(_PARAMETER.findall(text), 1))]
    walked = [step for step in plan if re.match(r"SCAN (?!CONSTANT|\(subquery|e\b|s\b.*USING)", step) and "deferred" not in step]
    assert walked == [] or name in ("page", "states"), plan
