"""The fleet at a glance: each agent with its response times, what needs a person, the links that are used. One snapshot, read only."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

from covey.agents.model import THE_OPERATOR
from covey.links import reading as links
from covey.links.reading import LinkShown
from covey.reports import status
from covey.reports.metrics import EVENTS_OF_ALL, MAIL_TIMES, spread
from covey.reports.needs import Need, needs
from covey.store import Transaction

LINKS = 100
"""So many used links are looked at."""


class Overview(NamedTuple):
    """The fleet at store time `now`. `agents` is what `status.fleet` gives, each with its `responseTime`."""

    now: float
    agents: list[dict[str, Any]]
    needs: list[Need]
    links: list[LinkShown]


def overview(tx: Transaction, stale_s: float | None = None) -> Overview:
    """The fleet as it stands."""
    return Overview(tx.now, agents(tx, stale_s), needs(tx), links.page(tx, THE_OPERATOR, limit=LINKS).items)


def agents(tx: Transaction, stale_s: float | None = None) -> list[dict[str, Any]]:
    """Every agent as `status.fleet` has it, with the response times of its mail."""
    times: defaultdict[str, list[float]] = defaultdict(list)
    for row in tx.all(MAIL_TIMES, limit=EVENTS_OF_ALL):
        times[row.agent].append(row.seconds)
    return [each | {"responseTime": spread(times[each["agentId"]])} for each in status.fleet(tx, stale_s)]
