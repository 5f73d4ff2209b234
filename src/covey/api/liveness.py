"""Whether a process of the fleet's own lives, and whether the fleet is led: for orchestrators and for the node's pings."""

from __future__ import annotations

import asyncio

from covey.api.shapes import HealthNow, Readiness
from covey.base.errors import CoveyError
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.operations import Nothing, get
from covey.healing.cycle import LATE
from covey.nodes import records

READY_S = 2.0
"""The store must answer within so long."""


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


OPERATIONS = (
    get("/health", get_fleet_health, "anyone", "Whether this process lives.", gives=HealthNow),
    get("/healthz", get_healthz, "anyone", "Whether this process lives.", gives=HealthNow),
    get("/readyz", get_fleet_ready, "anyone", "Whether the store answers and the cycle is in time: 200 or 503.", gives=Readiness),
)
