"""The process on port 8900: the doors with heavy packages (MCP, A2A), served for all agents, so that no agent's process pays for them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from covey.api import gateway_port
from covey.app import gateway_doors, port_process
from covey.app.groups import GATEWAY
from covey.app.port_process import Part
from covey.base.errors import Misconfigured
from covey.doors.door import FleetDoor
from covey.doors.port import Port
from covey.store.bell import GATEWAY_NEWS

NOTHING = 'the gateway has nothing to serve: neither covey[mcp] nor covey[a2a] is installed; pip install "covey[mcp]" brings the MCP door.'


@asynccontextmanager
async def opened(door: FleetDoor, _edition: str) -> AsyncIterator[Port]:
    """The gateway's application, with those doors whose extras are installed.

    Raises:
        Misconfigured: None is.
    """
    doors = gateway_doors.there()
    if not doors:
        raise Misconfigured(NOTHING)
    async with gateway_doors.opened(door, doors) as routes:
        yield gateway_port.make_app(door, routes)


GATEWAY_PART = Part(GATEWAY, lambda settings: settings.gateway_port, opened, GATEWAY_NEWS)


def main(snapshot_path: str, edition: str = "") -> int:
    """Serve the gateway's doors until told to end; the exit code."""
    return port_process.main(GATEWAY_PART, snapshot_path, edition)
