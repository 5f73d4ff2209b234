"""What the tests of the MCP door share: a fleet with external agents, the gateway on a real port, and clients of the official package."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import msgspec
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from covey.agents import configuring
from covey.api import gateway_port
from covey.base.clock import Clock
from covey.base.settings import AgentSettings, BrainSettings, Settings
from covey.doors.door import FleetDoor
from covey.doors.port import Port
from covey.doors.serving import Serving, serve
from covey.mcp import mounting
from covey.store import Store
from tests.api.world import bearer, give_tokens
from tests.conftest import EIGHT

OUTSIDE = frozenset({"chief", "coder", "devops"})
"""Who joins from outside in these tests, and so claims work by hand."""
MODES = ("legacy", "auto")
"""How a client begins: by the handshake of the older revisions, or at the current one."""


def _outside(agent: AgentSettings) -> AgentSettings:
    return msgspec.structs.replace(agent, brain=BrainSettings(kind="external")) if agent.id in OUTSIDE else agent


JOINED = msgspec.structs.replace(EIGHT, agents=tuple(map(_outside, EIGHT.agents)))


class World:
    """The gateway on a port of its own, over a real store."""

    def __init__(self, store: Store, door: FleetDoor, serving: Serving) -> None:
        self.store = store
        self.door = door
        self.serving = serving
        self.url = f"http://127.0.0.1:{serving.port}/mcp"

    @asynccontextmanager
    async def connect(self, name: str, mode: str = "auto", query: str = "", **more: Any) -> AsyncIterator[Client]:
        """A client that is this agent."""
        async with (
            httpx2.AsyncClient(headers=bearer(name), timeout=20) as http,
            Client(streamable_http_client(self.url + query, http_client=http), mode=mode, **more) as client,
        ):
            yield client

    async def post(self, content: bytes | str, name: str | None = "coder", **headers: str) -> httpx2.Response:
        """What a raw request is answered."""
        given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **bearer(name), **headers}
        async with httpx2.AsyncClient(timeout=20) as http:
            return await http.post(self.url, content=content, headers=given)


@asynccontextmanager
async def world_of(store: Store, clock: Clock, settings: Settings = JOINED) -> AsyncIterator[World]:
    """The gateway over a configured store."""
    await store.write(configuring.configure, settings)
    await give_tokens(store)
    async with gateway_of(FleetDoor(store=store, settings=settings, clock=clock)) as (port, door):
        serving = await serve(port, "127.0.0.1", 0)
        try:
            yield World(store, door, serving)
        finally:
            await serving.stop()


@asynccontextmanager
async def gateway_of(door: FleetDoor) -> AsyncIterator[tuple[Port, FleetDoor]]:
    """The gateway's application."""
    async with mounting.opened(door) as routes:
        yield gateway_port.make_app(door, routes), door


async def given(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool gives; fails if it refuses."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The problem that a tool refuses with; fails if it does not."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    assert isinstance(result.structured_content, dict)
    said = result.content[0]
    assert result.structured_content["detail"] in getattr(said, "text", "")
    return result.structured_content
