"""The fleet's port: `/api/v1` for what the command line does, health, figures, a plain index page. `make_app` is the application."""

from __future__ import annotations

from typing import Any

from covey.api import (
    fleet_agents,
    fleet_buddies,
    fleet_budgets,
    fleet_contexts,
    fleet_events,
    fleet_external,
    fleet_handoffs,
    fleet_incidents,
    fleet_links,
    fleet_messages,
    fleet_tasks,
    fleet_teams,
    fleet_votes,
    liveness,
    pages,
)
from covey.api.answer import HTML, Answer
from covey.api.call import Call
from covey.api.door import FleetDoor
from covey.api.metrics import figures_shown
from covey.api.operations import Nothing, get
from covey.api.port import Port
from covey.api.self_description import OPERATIONS as SELF_DESCRIPTION
from covey.reports import metrics, status


def make_app(door: FleetDoor) -> Port:
    """The application of the fleet's port."""
    return Port(door, "Covey", OPERATIONS)


async def get_fleet_metrics(call: Call[Nothing, Nothing]) -> Answer:
    """The fleet's figures (A6)."""
    return figures_shown(call, await call.door.store.read(metrics.of_fleet, call.door.settings.stale_s))


async def get_index(call: Call[Nothing, Nothing]) -> Answer:
    """Who is in the fleet, as a page."""
    agents = await call.door.store.read(status.fleet, call.door.settings.stale_s)
    return Answer(200, pages.index(agents).encode(), HTML, pages.POLICY)


OPERATIONS = (
    *fleet_messages.OPERATIONS,
    *fleet_tasks.OPERATIONS,
    *fleet_agents.OPERATIONS,
    *fleet_buddies.OPERATIONS,
    *fleet_events.OPERATIONS,
    *fleet_external.OPERATIONS,
    *fleet_links.OPERATIONS,
    *fleet_incidents.OPERATIONS,
    *fleet_budgets.OPERATIONS,
    *fleet_contexts.OPERATIONS,
    *fleet_handoffs.OPERATIONS,
    *fleet_votes.OPERATIONS,
    *fleet_teams.OPERATIONS,
    get("/", get_index, "status", "Who is in the fleet, as a page.", gives=str, media="text/html", verb=status.fleet),
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
