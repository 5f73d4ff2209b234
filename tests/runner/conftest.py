"""These tests run on copies of one made store, on both databases."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path

import pytest

from tests.conftest import Database, ManualClock
from tests.inline import Hand, Reused, at_hand, database, hand, mould_database, mould_file
from tests.runner.desk import Desk

__all__ = ["database", "hand", "mould_database", "mould_file"]


Fresh = Callable[[], AbstractContextManager[Hand]]
"""Makes the store of the default eight agents anew, with a clock of its own."""


@pytest.fixture(params=["sqlite", "postgres"])
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Fresh:
    """Stores for the examples of a property, each new: of either kind in turn."""
    numbers = count()

    @contextmanager
    def make() -> Iterator[Hand]:
        path = tmp_path / f"{next(numbers)}.db"
        if request.param == "sqlite":
            shutil.copy(request.getfixturevalue("mould_file"), path)
            with at_hand(Database("sqlite", "", path), ManualClock()) as hand:
                yield hand
            return
        reused: Reused = request.getfixturevalue("mould_database")
        with at_hand(Database("postgres", reused.ready(), path), ManualClock()) as hand:
            yield hand

    return make


@pytest.fixture
def desk(hand: Hand) -> Desk:
    """Agents at work, by hand."""
    return Desk(hand)
