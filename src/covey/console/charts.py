"""Charts: lines or bars over time, as data that the page's script draws, beside a table that says the same. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec


class Series(NamedTuple):
    """One line of a chart: its name, and what it is called."""

    name: str
    title: str


class Kind(NamedTuple):
    """A chart of figures: its name and title, its unit, its series with what each has of a step, and how it looks."""

    name: str
    title: str
    unit: str
    series: Mapping[str, Callable[[Mapping[str, Any]], float | None]]
    look: str = "lines"
    """`lines`, `bars`, or `shares`: lines from 0 to 100."""


class Drawn(NamedTuple):
    """A chart with its data."""

    kind: Kind
    series: list[Series]
    points: str
    empty: bool
    """Whether nothing was measured, or all of it is zero."""


def points_of(at: Sequence[float], *lines: Sequence[float | None]) -> str:
    """Times and values as the script takes them: a list of times, then one of values for each line."""
    return msgspec.json.encode([[round(each, 3) for each in at], *lines]).decode()


def _percent(value: float | None) -> float | None:
    return None if value is None else round(value * 100, 2)


FIGURES = (
    Kind(
        "times",
        "Response time of mail",
        "s",
        {"p50": lambda s: s["messages"]["responseTime"]["p50"], "p95": lambda s: s["messages"]["responseTime"]["p95"]},
    ),
    Kind("completion", "Tasks done, of those that ended", "%", {"done": lambda s: _percent(s["tasks"]["completionRate"])}, "shares"),
    Kind("checks", "Buddy checks answered", "%", {"answered": lambda s: _percent(s["buddy"]["successRate"])}, "shares"),
    Kind("overflows", "Context overflows", "", {"overflows": lambda s: s["context"]["overflows"]}, "bars"),
    Kind(
        "stalls",
        "Stalls found and healed",
        "",
        {"found": lambda s: s["stalls"]["found"], "healed": lambda s: s["stalls"]["healed"]},
        "bars",
    ),
    Kind("cost", "Cost", "$", {"cost": lambda s: s["cost"]["usd"]}, "bars"),
)
"""The charts of figures over time."""


def of_figures(steps: Sequence[Mapping[str, Any]]) -> list[Drawn]:
    """The charts of these steps."""
    at = [step["at"] for step in steps]
    found = []
    for kind in FIGURES:
        lines = [[value(step) for step in steps] for value in kind.series.values()]
        empty = not any(value or (value is not None and kind.look != "bars") for line in lines for value in line)
        found.append(Drawn(kind, [Series(name, name) for name in kind.series], points_of(at, *lines), empty))
    return found
