"""The fleet at a glance: each agent with its response times, what needs a person, the links that are used. One snapshot, read only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from covey.agents.model import STALE_S, THE_OPERATOR
from covey.links import reading as links
from covey.links.reading import LinkShown
from covey.reports import status
from covey.reports.metrics import EVENTS_OF_ALL, MAIL_TIMES, percentile, spread
from covey.reports.needs import Need, needs
from covey.store import Transaction, statement

HANDLED = statement(__package__, "handled_lately")

LINKS = 100
"""So many used links are looked at."""
POINTS = 60


class Overview(NamedTuple):
    """The fleet at store time `now`. `agents` is what `status.fleet` gives, each with its `responseTime`."""

    now: float
    agents: list[dict[str, Any]]
    needs: list[Need]
    links: list[LinkShown]


class Point(NamedTuple):
    """Response times of a stretch of time that begins at `at`; None where there was nothing."""

    at: float
    n: int
    p50: float | None
    p95: float | None


def overview(tx: Transaction, stale_s: float = STALE_S) -> Overview:
    """The fleet as it stands."""
    return Overview(tx.now, agents(tx, stale_s), needs(tx), links.page(tx, THE_OPERATOR, limit=LINKS).items)


def agents(tx: Transaction, stale_s: float = STALE_S) -> list[dict[str, Any]]:
    """Every agent as `status.fleet` has it, with the response times of its mail."""
    times: defaultdict[str, list[float]] = defaultdict(list)
    for row in tx.all(MAIL_TIMES, limit=EVENTS_OF_ALL):
        times[row.agent].append(row.seconds)
    return [each | {"responseTime": spread(times[each["agentId"]])} for each in status.fleet(tx, stale_s)]


def response_times(tx: Transaction, *, window_s: float = 3600.0, points: int = POINTS) -> list[Point]:
    """Response times of the fleet's mail over a time that ends now, in so many stretches, among the last 5,000 events."""
    since = tx.now - window_s
    rows = tx.all(HANDLED, limit=EVENTS_OF_ALL, since=since)
    return stretches([(row.at, row.seconds) for row in rows], since, window_s / points, points)


def stretches(found: Sequence[tuple[float, float]], since: float, length_s: float, points: int) -> list[Point]:
    """The median and 95th percentile of values with their times, stretch by stretch. Pure."""
    values: defaultdict[int, list[float]] = defaultdict(list)
    for at, value in found:
        values[min(points - 1, int((at - since) // length_s))].append(value)
    ordered = [sorted(values[place]) for place in range(points)]
    return [Point(since + place * length_s, len(each), percentile(each, 0.5), percentile(each, 0.95)) for place, each in enumerate(ordered)]
