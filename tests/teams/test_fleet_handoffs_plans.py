"""No statement of handoffs walks through a table that grows, on SQLite as its planner says."""

from __future__ import annotations

import apsw
import pytest

import covey.reports
import covey.teams.handoffs
from tests import plans

PARTIAL = frozenset({"handoffs_open", "handoffs_due", "handoffs_to_begin", "tasks_open"})
LIMITED = {"page": {"handoffs"}}
"""It goes along the table by its key, up to a limit."""


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> apsw.Connection:
    return plans.made(tmp_path_factory.mktemp("plans"))


def test_every_statement_finds_its_rows_by_an_index(db: apsw.Connection) -> None:
    wrong = {}
    for name in plans.names(covey.teams.handoffs):
        walked = plans.walked(plans.plan(db, covey.teams.handoffs, name), PARTIAL)
        if not walked <= LIMITED.get(name, set()):
            wrong[name] = walked
    assert wrong == {}


def test_why_finds_the_offers_of_a_task_by_an_index(db: apsw.Connection) -> None:
    assert plans.walked(plans.plan(db, covey.reports, "offers_of"), PARTIAL) == set()
