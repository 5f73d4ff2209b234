"""The fleet's port: `/api/v1` for what the command line does, health, figures, a plain index page. `make_app` is the application."""

from __future__ import annotations

import asyncio
from typing import Any

from covey.agents import roster
from covey.api import fleet_agents, fleet_buddies, fleet_events, fleet_external, fleet_links, fleet_messages, fleet_tasks, pages
from covey.api.answer import HTML, Answer, shown
from covey.api.call import Call
from covey.api.door import FleetDoor
from covey.api.metrics import figures_shown
from covey.api.operations import Nothing, get
from covey.api.port import Port
from covey.api.self_description import OPERATIONS as SELF_DESCRIPTION
from covey.api.shapes import HealthNow, Readiness
from covey.base.errors import CoveyError
from covey.reports import metrics, status

READY_S = 2.0
"""The store must answer within so long."""


def make_app(door: FleetDoor) -> Port:
    """The application of the fleet's port."""
    return Port(door, "Covey", OPERATIONS)


async def get_fleet_health(call: Call[Nothing, Nothing]) -> Answer:
    """This process lives."""
    return shown(HealthNow(status="healthy", timestamp=call.door.clock.wall()))


async def get_healthz(call: Call[Nothing, Nothing]) -> Answer:
    """As `/health`, by the name that orchestrators ask for."""
    return await get_fleet_health(call)


async def get_fleet_ready(call: Call[Nothing, Nothing]) -> Answer:
    """Whether the store answers: 503 if not."""
    ready = await _store_answers(call) and not call.door.closing.is_set()
    return shown(Readiness(ready=ready, timestamp=call.door.clock.wall()), 200 if ready else 503)


async def _store_answers(call: Call[Nothing, Nothing]) -> bool:
    try:
        async with asyncio.timeout(READY_S):
            await call.door.store.read(roster.lead)
    except (CoveyError, TimeoutError):
        return False
    return True


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
    get("/", get_index, "status", "Who is in the fleet, as a page.", gives=str, media="text/html", verb=status.fleet),
    get("/health", get_fleet_health, "anyone", "Whether this process lives.", gives=HealthNow),
    get("/healthz", get_healthz, "anyone", "Whether this process lives.", gives=HealthNow),
    get("/readyz", get_fleet_ready, "anyone", "Whether the store answers: 200 or 503.", gives=Readiness),
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
