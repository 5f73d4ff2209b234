"""No statement of team runs walks through a table that grows, on SQLite as its planner says."""

from __future__ import annotations

import apsw
import pytest

import covey.runner
import covey.teams.runs
from tests import plans

PARTIAL = frozenset({"team_runs_open", "team_runs_planning", "team_steps_out"})
LIMITED = {"list": {"team_runs"}, "oldest": {"team_runs"}}
"""They go along a table by its key up to a limit."""


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> apsw.Connection:
    return plans.made(tmp_path_factory.mktemp("plans"))


def test_every_statement_finds_its_rows_by_an_index(db: apsw.Connection) -> None:
    wrong = {}
    for name in plans.names(covey.teams.runs):
        walked = plans.walked(plans.plan(db, covey.teams.runs, name), PARTIAL)
        if not walked <= LIMITED.get(name, set()):
            wrong[name] = walked
    assert wrong == {}


def test_the_sweep_looks_for_runs_by_what_is_open_alone(db: apsw.Connection) -> None:
    steps = " ".join(plans.plan(db, covey.runner, "due"))
    assert "team_runs_open" in steps
    assert "team_steps_out" in steps
