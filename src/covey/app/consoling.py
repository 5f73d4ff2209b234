"""The process on port 8000: the fleet's API and the console's pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from covey.app import port_process
from covey.app.groups import CONSOLE
from covey.app.port_process import FOLLOW_S, Part
from covey.app.reviving import Reviver
from covey.base.loops import every
from covey.doors.door import FleetDoor
from covey.doors.serving import Application
from covey.nodes.spawner import ExecSpawner
from covey.store.bell import NEWS


@asynccontextmanager
async def opened(door: FleetDoor, edition: str) -> AsyncIterator[Application]:
    """The API's application; meanwhile a node that has started this process is looked for, as it is to be there."""
    from covey.app.front import make_app  # noqa: PLC0415 - templates are for this process alone, not for all that are forked beside it

    reviver = Reviver(lambda: door.settings, ExecSpawner().spawn)
    looking = asyncio.create_task(every(FOLLOW_S, reviver.one_round, door.clock, "the node")) if edition else None
    try:
        yield make_app(door)
    finally:
        if looking is not None:
            looking.cancel()


CONSOLE_PART = Part(CONSOLE, lambda settings: settings.console_port, opened, NEWS)


def main(snapshot_path: str, edition: str = "") -> int:
    """Serve the fleet's API until told to end; the exit code."""
    return port_process.main(CONSOLE_PART, snapshot_path, edition)
