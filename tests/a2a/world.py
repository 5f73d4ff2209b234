"""A fleet with its A2A door open on real ports: an agent at work with a brain of the test's own, its card, the gateway's routes, gRPC."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from covey.a2a.mounting import opened
from covey.agents.model import THE_OPERATOR, Caller
from covey.api import agent_port
from covey.api.door import Door
from covey.base.settings import A2aSettings, Settings
from covey.brains.model import Brain
from covey.doors.admission import Admission
from covey.doors.door import FleetDoor
from covey.store import Store
from tests.api.world import Process, give_tokens
from tests.runner.office import QUICK, Office, office, until

BOUND_S = 20.0


class Everybody(Admission):
    """Admits whoever shows no token as the operator: for clients that can show none."""

    async def caller(self, authorization: bytes | None) -> Caller | None:
        return THE_OPERATOR if authorization is None else await super().caller(authorization)


@asynccontextmanager
async def gateway(store: Store, settings: Settings, *, open_to_all: bool = False) -> AsyncIterator[FleetDoor]:
    """The door, served over HTTP and gRPC on the two ports that the settings name."""
    door = FleetDoor(store=store, settings=settings)
    if open_to_all:
        door.admission = Everybody(store, door.clock)
    async with opened(door, once=not open_to_all) as routes:
        try:
            async with served(Starlette(routes=routes), settings.gateway_port, door.closing):
                yield door
        finally:
            door.news.close()


@asynccontextmanager
async def served(app: ASGIApp, port: int, closing: asyncio.Event | None = None) -> AsyncIterator[None]:
    """The application on a port of loopback, until the end."""
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=port, lifespan="off", log_level="warning", timeout_graceful_shutdown=2)
    )
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    task = asyncio.create_task(server.serve())
    try:
        async with asyncio.timeout(BOUND_S):
            while not server.started:  # noqa: ASYNC110 - uvicorn tells nobody
                await asyncio.sleep(0.01)
        yield
    finally:
        if closing is not None:
            closing.set()
        server.should_exit = True
        await task


class World:
    """All of it."""

    def __init__(self, store: Store, settings: Settings, office: Office, doors: AsyncExitStack) -> None:
        self.store = store
        self.settings = settings
        self.office = office
        self._doors = doors
        self.url = f"http://127.0.0.1:{settings.gateway_port}/a2a/coder"
        self.grpc = f"127.0.0.1:{settings.gateway_port + 1}"

    @property
    def agent_url(self) -> str:
        agent = self.settings.agent("coder")
        assert agent is not None
        return f"http://127.0.0.1:{agent.port}"

    async def open_gateway(self, *, open_to_all: bool = False) -> None:
        """The gateway comes."""
        self._door = await self._doors.enter_async_context(gateway(self.store, self.settings, open_to_all=open_to_all))

    async def restart_gateway(self) -> None:
        """The gateway goes, its streams with it, and comes again."""
        await self._doors.aclose()
        await self.open_gateway()

    def waiting(self) -> int:
        """How many calls and streams wait for news at the gateway."""
        return self._door.news.awaited

    async def office_said(self, ident: str, word: str) -> None:
        """Return once the task's progress is this word."""

        async def is_said() -> bool:
            return (await self.office.task(ident)).progress == word

        await until(is_said)


@asynccontextmanager
async def world_of(store: Store, brain: Brain, settings: Settings, *, open_to_all: bool = False) -> AsyncIterator[World]:
    """The fleet's door, open, with the coder at work."""
    await give_tokens(store)
    door = Door(store=store, settings=settings, agent="coder", local=Process(store, "coder"))
    agent = settings.agent("coder")
    assert agent is not None
    async with (
        office(store, brain, settings=settings) as at_work,
        served(agent_port.make_app(door), agent.port),
        AsyncExitStack() as doors,
    ):
        found = World(store, settings, at_work, doors)
        await found.open_gateway(open_to_all=open_to_all)
        yield found
    door.news.close()


def on_free_ports(**offered: Any) -> Settings:
    """Quick settings with ports that nobody has just now."""
    gateway = _free_pair()
    agents = tuple(msgspec.structs.replace(each, port=_free()) if each.id == "coder" else each for each in QUICK.agents)
    return msgspec.structs.replace(
        QUICK, gateway_port=gateway, agents=agents, a2a=A2aSettings(**{"allow_private": ("127.0.0.1",), **offered})
    )


def _free() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _free_pair() -> int:
    """A free port whose next one is free too."""
    for _ in range(100):
        port = _free()
        with socket.socket() as beside:
            try:
                beside.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port
    raise AssertionError("no two free ports in a row")


async def call(url: str, method: str, params: Any, *, headers: dict[str, str] | None = None, version: str = "1.0") -> dict[str, Any]:
    """What JSON-RPC answers."""
    async with httpx.AsyncClient(timeout=BOUND_S) as client:
        sent = {"A2A-Version": version, **(headers or {})}
        answer = await client.post(url, json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, headers=sent)
    found: dict[str, Any] = answer.json()
    return found
