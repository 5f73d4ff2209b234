"""No statement of messages walks through a table that grows, on SQLite as its planner says."""

from __future__ import annotations

import apsw
import pytest

import covey.messages
from tests import plans

PARTIAL = frozenset(
    {
        "copies_unread",
        "copies_leased",
        "copies_dead",
        "copies_expired",
        "copies_deferred",
        "copies_expiring",
        "copies_answer_due",
        "copies_deferred_of",
    }
)
LIMITED = {
    "latest": {"c"},
    "dead_letters": {"c"},
    "threads_lately": {"messages"},
    "page": {"m", "messages"},
    "page_copies": {"c", "copies"},
    "prune": {"m", "messages"},
}
"""They go along a table by its key, up to a limit or an end."""
COUNTED = {"counts": {"copies", "agents"}, "threads": {"ids"}, "flagged": {"agents"}}
"""One count of all; the ids found so far; the agents, which are few."""


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> apsw.Connection:
    return plans.made(tmp_path_factory.mktemp("plans"))


def test_every_statement_finds_its_rows_by_an_index(db: apsw.Connection) -> None:
    wrong = {}
    for name in plans.names(covey.messages):
        walked = plans.walked(plans.plan(db, covey.messages, name), PARTIAL)
        if not walked <= LIMITED.get(name, set()) | COUNTED.get(name, set()):
            wrong[name] = walked
    assert wrong == {}


@pytest.mark.parametrize("name", ["next", "quiet", "inbox", "inbox_unread", "latest", "dead_letters"])
def test_what_is_asked_for_the_first_few_is_not_sorted_whole(db: apsw.Connection, name: str) -> None:
    steps = plans.plan(db, covey.messages, name)
    assert not [step for step in steps if "TEMP B-TREE FOR ORDER BY" in step], steps
