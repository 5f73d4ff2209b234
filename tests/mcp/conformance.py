"""A gateway for the public conformance suite: our own MCP door on a fresh fleet, with the fixtures beside. `python -m tests.mcp.conformance PORT`.

The suite shows no token, so that each of its requests is given the lead's here, before the gateway's own guards see it.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
from pathlib import Path

from starlette.types import Receive, Scope, Send

from covey.agents import tokens
from covey.api import gateway_port
from covey.app.opening import apply, open_store
from covey.base.config import load
from covey.doors.door import FleetDoor
from covey.doors.port import Port
from covey.doors.serving import serve
from covey.mcp import mounting
from tests.mcp.fixtures import WithFixtures

TOKEN = "token-of-the-conformance-suite"


class Shown(Port):
    """The gateway's application, for callers who show no token."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [*scope["headers"], (b"authorization", f"Bearer {TOKEN}".encode())]
        await super().__call__({**scope, "headers": headers}, receive, send)


async def main(port: int, folder: Path) -> None:
    settings = load(None, dir=folder, environ={}, flags={})
    store = open_store(settings)
    await store.write(apply, settings)
    await store.write(tokens.put, "chief", tokens.hash_of(TOKEN))
    door = FleetDoor(store=store, settings=settings)
    asked = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asked.set)
    async with mounting.opened(door, lambda desk: WithFixtures(desk).server()) as routes:
        made = gateway_port.make_app(door, routes)
        serving = await serve(Shown(door, made.operations, routes), "127.0.0.1", port)
        sys.stdout.write(f"http://127.0.0.1:{serving.port}/mcp\n")
        sys.stdout.flush()
        await asked.wait()
        await serving.stop()
    await store.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(main(int(sys.argv[1]), Path(name)))
