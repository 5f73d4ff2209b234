"""These tests run on one made store, brought back to its beginning before each, on both databases."""

from tests.inline import database, hand, mould_database, mould_file
from tests.pairs import pair

__all__ = ["database", "hand", "mould_database", "mould_file", "pair"]
