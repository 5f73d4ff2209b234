"""The fleet's port: `/api/v1` for what the command line does, health, figures. `make_app` is the application."""

from __future__ import annotations

import asyncio
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
)
from covey.api.described import DescribedPort
from covey.api.metrics import figures_shown
from covey.api.self_description import OPERATIONS as SELF_DESCRIPTION
from covey.api.shapes import FleetFigures, HealthNow, Readiness
from covey.base.errors import CoveyError
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.door import FleetDoor
from covey.doors.operations import Nothing, get
from covey.healing.cycle import LATE
from covey.nodes import records
from covey.reports import metrics, scraping
from covey.reports.scraping import Target

READY_S = 2.0
"""The store must answer within so long."""


def make_app(door: FleetDoor) -> DescribedPort:
    """The application of the fleet's port."""
    return DescribedPort(door, "Covey", OPERATIONS)


async def get_fleet_health(call: Call[Nothing, Nothing]) -> Answer:
    """This process lives."""
    return shown(HealthNow(status="healthy", timestamp=call.door.clock.wall()))


async def get_healthz(call: Call[Nothing, Nothing]) -> Answer:
    """As `/health`, by the name that orchestrators ask for."""
    return await get_fleet_health(call)


async def get_fleet_ready(call: Call[Nothing, Nothing]) -> Answer:
    """Whether the store answers and the controller's cycle is done in time (H7b): 503 if not."""
    why = "this process ends" if call.door.closing.is_set() else await _why_not_ready(call)
    return shown(Readiness(ready=why is None, timestamp=call.door.clock.wall(), why=why), 503 if why else 200)


async def _why_not_ready(call: Call[Nothing, Nothing]) -> str | None:
    try:
        async with asyncio.timeout(READY_S):
            unled_s = await call.door.store.read(records.unled_s)
    except (CoveyError, TimeoutError):
        return "the store does not answer"
    cycle_s = call.door.settings.cycle_s
    if unled_s <= LATE * cycle_s:
        return None
    return f"no controller cycle was done for {unled_s:.0f} s; there should be one each {cycle_s:g} s"


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
    *fleet_figures.OPERATIONS,
    *fleet_links.OPERATIONS,
    *fleet_nodes.OPERATIONS,
    *fleet_incidents.OPERATIONS,
    *fleet_budgets.OPERATIONS,
    *fleet_contexts.OPERATIONS,
    *fleet_handoffs.OPERATIONS,
    *fleet_votes.OPERATIONS,
    *fleet_teams.OPERATIONS,
    get("/health", get_fleet_health, "anyone", "Whether this process lives.", gives=HealthNow),
    get("/healthz", get_healthz, "anyone", "Whether this process lives.", gives=HealthNow),
    get("/readyz", get_fleet_ready, "anyone", "Whether the store answers and the cycle is in time: 200 or 503.", gives=Readiness),
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
