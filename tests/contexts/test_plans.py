"""What is asked of contexts at each turn, and of archives of any size, goes over an index on SQLite, as its planner says."""

from __future__ import annotations

from pathlib import Path

import pytest

import covey.contexts
from tests import plans

LINES = frozenset({"entries_to_index"})
"""An index of what is not yet in the index of words: what came in the last seconds."""


@pytest.mark.parametrize("name", plans.names(covey.contexts))
def test_no_query_of_contexts_walks_through_a_table(name: str, tmp_path: Path) -> None:
    db = plans.made(tmp_path)
    steps = plans.plan(db, covey.contexts, name)
    db.close()
    assert plans.walked(steps, LINES) - {"entry_words"} == set(), steps


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("live", "entries_live"),
        ("size", "entries_live"),
        ("decisions", "entries_decisions"),
        ("recall_time", "entries_by_agent"),
        ("recall_source", "entries_by_source"),
        ("recall_shown", "entries_shown_in"),
        ("cold_lines", "entries_shown_in"),
        ("to_index", "entries_to_index"),
    ],
)
def test_each_hot_query_has_its_index(name: str, index: str, tmp_path: Path) -> None:
    db = plans.made(tmp_path)
    steps = plans.plan(db, covey.contexts, name)
    db.close()
    assert any(index in step for step in steps), steps
