"""The fleet's port: `/api/v1` for what the command line does, health, figures. `make_app` is the application."""

from __future__ import annotations

from typing import Any

from covey.api import (
    fleet_agents,
    fleet_buddies,
    fleet_budgets,
    fleet_contexts,
    fleet_events,
    fleet_external,
    fleet_figures,
    fleet_handoffs,
    fleet_incidents,
    fleet_links,
    fleet_messages,
    fleet_nodes,
    fleet_tasks,
    fleet_teams,
    fleet_votes,
    liveness,
)
from covey.api.described import DescribedPort
from covey.api.metrics import figures_shown
from covey.api.self_description import OPERATIONS as SELF_DESCRIPTION
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.door import FleetDoor
from covey.doors.operations import Nothing, get
from covey.reports import metrics


def make_app(door: FleetDoor) -> DescribedPort:
    """The application of the fleet's port."""
    return DescribedPort(door, "Covey", OPERATIONS)


async def get_fleet_metrics(call: Call[Nothing, Nothing]) -> Answer:
    """The fleet's figures (A6)."""
    return figures_shown(call, await call.door.store.read(metrics.of_fleet, call.door.settings.stale_s))


OPERATIONS = (
    *fleet_messages.OPERATIONS,
    *fleet_tasks.OPERATIONS,
    *fleet_agents.OPERATIONS,
    *fleet_buddies.OPERATIONS,
    *fleet_events.OPERATIONS,
    *fleet_external.OPERATIONS,
    *fleet_figures.OPERATIONS,
    *fleet_links.OPERATIONS,
    *fleet_nodes.OPERATIONS,
    *fleet_incidents.OPERATIONS,
    *fleet_budgets.OPERATIONS,
    *fleet_contexts.OPERATIONS,
    *fleet_handoffs.OPERATIONS,
    *fleet_votes.OPERATIONS,
    *fleet_teams.OPERATIONS,
    *liveness.OPERATIONS,
    get(
        "/metrics",
        get_fleet_metrics,
        "metrics",
        "The fleet's figures, as JSON or as Prometheus text.",
        gives=dict[str, Any],
        also=("text/plain",),
        verb=metrics.of_fleet,
    ),
    *SELF_DESCRIPTION,
)
