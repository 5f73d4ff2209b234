"""No statement of buddies or notices walks through a table that grows, on SQLite as its planner says."""

from __future__ import annotations

import re
from itertools import pairwise
from types import ModuleType

import apsw
import pytest

import covey.buddies
import covey.notices
from tests import plans

FEW = frozenset({"agents", "a", "b", "v", "vitals", "buddy_checks", "coverings", "covered_mail"})
"""One row an agent, or fewer."""


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> apsw.Connection:
    return plans.made(tmp_path_factory.mktemp("plans"))


@pytest.mark.parametrize("package", [covey.buddies, covey.notices], ids=["buddies", "notices"])
def test_every_statement_finds_its_rows_by_an_index(db: apsw.Connection, package: ModuleType) -> None:
    wrong = {}
    for name in plans.names(package):
        walked = plans.walked(plans.plan(db, package, name), frozenset({"buddy_checks_missed"}))
        if not walked <= FEW:
            wrong[name] = walked
    assert wrong == {}


@pytest.mark.parametrize("name", ["due", "last", "urgent", "last_of_all"])
def test_what_one_agent_asks_walks_through_nothing(db: apsw.Connection, name: str) -> None:
    assert plans.walked(plans.plan(db, covey.buddies, name), frozenset()) == set()


@pytest.mark.parametrize("package", [covey.buddies, covey.notices], ids=["buddies", "notices"])
def test_nothing_is_walked_through_again_for_each_row(db: apsw.Connection, package: ModuleType) -> None:
    wrong = {}
    for name in plans.names(package):
        steps = plans.plan(db, package, name)
        inner = [step for before, step in pairwise(steps) if before.startswith("CORRELATED")]
        if any(step.startswith("SCAN") for step in inner) or len([step for step in steps if re.match(r"SCAN \w\b", step)]) > 1:
            wrong[name] = steps
    assert wrong == {}
