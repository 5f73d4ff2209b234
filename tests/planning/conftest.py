"""The eight at hand, all alive and idle; verbs run at once on either database."""

from __future__ import annotations

from tests.inline import database, hand, mould_database, mould_file

__all__ = ["database", "hand", "mould_database", "mould_file"]
