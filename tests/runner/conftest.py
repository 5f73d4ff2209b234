"""These tests run on copies of one made store, on both databases."""

from __future__ import annotations

import pytest

from tests.inline import Hand, database, hand, mould_database, mould_file
from tests.runner.desk import Desk

__all__ = ["database", "hand", "mould_database", "mould_file"]


@pytest.fixture
def desk(hand: Hand) -> Desk:
    """Agents at work, by hand."""
    return Desk(hand)
