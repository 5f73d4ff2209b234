"""Charts: lines over time, as data that the page's script draws, beside a table that says the same. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec


class Series(NamedTuple):
    """One line of a chart: its name, and what it is called."""

    name: str
    title: str


def points_of(at: Sequence[float], *lines: Sequence[float | None]) -> str:
    """Times and values as the script takes them: a list of times, then one of values for each line."""
    return msgspec.json.encode([[round(each, 3) for each in at], *lines]).decode()
