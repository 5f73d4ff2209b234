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
    fleet_glance,
    fleet_handoffs,
    fleet_incidents,
    fleet_links,
    fleet_messages,
    fleet_nodes,
    fleet_tasks,
    fleet_teams,
    fleet_votes,
    fleet_webhooks,
    liveness,
)
from covey.api.described import DescribedPort
from covey.api.metrics import figures_shown
from covey.api.self_description import OPERATIONS as SELF_DESCRIPTION
from covey.api.shapes import FleetFigures
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.door import FleetDoor
from covey.doors.operations import Nothing, get
from covey.reports import metrics, scraping
from covey.reports.scraping import Target


def make_app(door: FleetDoor) -> DescribedPort:
    """The application of the fleet's port."""
    return DescribedPort(door, "Covey", OPERATIONS)


async def get_fleet_metrics(call: Call[FleetFigures, Nothing]) -> Answer:
    """The fleet's figures (A6)."""
    figures = await call.door.store.read(metrics.of_fleet, call.door.settings.stale_s)
    return figures_shown(call, figures if call.query.agents else {**figures, "agents": []})


async def get_scrape_targets(call: Call[Nothing, Nothing]) -> Answer:
    """The agents' ports as Prometheus discovers them over HTTP."""
    return shown(await call.door.store.read(scraping.targets))


OPERATIONS = (
    *fleet_messages.OPERATIONS,
    *fleet_tasks.OPERATIONS,
    *fleet_agents.OPERATIONS,
    *fleet_buddies.OPERATIONS,
    *fleet_events.OPERATIONS,
    *fleet_external.OPERATIONS,
    *fleet_glance.OPERATIONS,
    *fleet_webhooks.OPERATIONS,
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
        query=FleetFigures,
        gives=dict[str, Any],
        also=("text/plain",),
        verb=metrics.of_fleet,
    ),
    get(
        "/metrics/targets",
        get_scrape_targets,
        "metrics",
        "The agents' ports, as Prometheus' http_sd_configs asks for them.",
        gives=list[Target],
        verb=scraping.targets,
    ),
    *SELF_DESCRIPTION,
)
