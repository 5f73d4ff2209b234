"""These tests run on copies of one made store, on both databases."""

from tests.inline import database, hand, mould_database, mould_file

__all__ = ["database", "hand", "mould_database", "mould_file"]
