"""Where Prometheus finds the agents' ports: its HTTP service discovery. A verb for `store.read`."""

from __future__ import annotations

import msgspec

from covey.agents import roster
from covey.base.target import authority_of
from covey.store import Transaction


class Target(msgspec.Struct):
    """One port to scrape, in the form that `http_sd_configs` takes."""

    targets: list[str]
    labels: dict[str, str]


def targets(tx: Transaction) -> list[Target]:
    """The port of each agent that has one, in the fleet's order. External agents have none."""
    return [
        Target([authority_of(each.host, each.port)], {"__meta_covey_agent": each.id})
        for each in roster.everyone(tx)
        if each.brain != "external"
    ]
