"""What the tests of the HTTP doors share: ports over a real store, clients that are somebody, a stand-in for an agent's process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx

from covey.agents import living, tokens
from covey.agents.model import Caller
from covey.api import agent_port, fleet_port
from covey.api.door import Door, Health
from covey.base.clock import Clock
from covey.base.settings import Settings
from covey.doors.door import FleetDoor
from covey.doors.port import Port
from covey.store import Store
from tests.conftest import EIGHT

NAMES = ("operator", "chief", "coder", "devops", "sales", "owner:ann")
WRONG = "nobodys-token-0123456789"


def token_of(name: str) -> str:
    """The token that this name has in these tests."""
    return f"token-of-{name}-0123456789"


def bearer(name: str | None) -> dict[str, str]:
    """The header by which somebody calls; None is nobody."""
    return {} if name is None else {"Authorization": f"Bearer {WRONG if name == 'wrong' else token_of(name)}"}


class Process:
    """Stands in for an agent's process: says what it is told to say, and stops as the runner does."""

    def __init__(self, store: Store, agent: str) -> None:
        self.now: Health = "healthy"
        self.takes_work = True
        self.stops: list[tuple[str, float | None]] = []
        self._store = store
        self._agent = agent

    def health(self) -> Health:
        return self.now

    def why_not_ready(self) -> str | None:
        return None if self.takes_work else "it is paused"

    async def emergency_stop(self, by: Caller, reason: str, grace_s: float | None = None) -> dict[str, Any]:
        await self._store.write(living.stop, self._agent, by, reason)
        self.stops.append((reason, grace_s))
        return {"stopped": True, "taskId": None, "returnedToQueue": False}


class World:
    """A fleet of eight with tokens, its own port and one agent's, and clients for both."""

    def __init__(self, store: Store, clock: Clock, settings: Settings = EIGHT, agent: str = "coder") -> None:
        self.store = store
        self.settings = settings
        self.process = Process(store, agent)
        self.agent_port = agent_port.make_app(Door(store=store, settings=settings, clock=clock, agent=agent, local=self.process))
        self.fleet_port = fleet_port.make_app(FleetDoor(store=store, settings=settings, clock=clock))
        self.agent = client(self.agent_port, "http://127.0.0.1:8002")
        self.fleet = client(self.fleet_port, "http://127.0.0.1:8000")

    async def close(self) -> None:
        for port in (self.agent_port, self.fleet_port):
            port.door.closing.set()
            port.door.news.close()
        await self.agent.aclose()
        await self.fleet.aclose()


def client(port: Port, url: str) -> httpx.AsyncClient:
    """A client of a port, in this process. It is nobody until it says who it is."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=port), base_url=url, timeout=20)


async def give_tokens(store: Store) -> None:
    """Everybody's token is known to the store."""
    await store.write(tokens.put_all, {name: tokens.hash_of(token_of(name)) for name in NAMES})


@asynccontextmanager
async def world_of(store: Store, clock: Clock, settings: Settings = EIGHT) -> AsyncIterator[World]:
    """The world over a configured store."""
    await give_tokens(store)
    found = World(store, clock, settings)
    try:
        yield found
    finally:
        await found.close()


async def until(true: Callable[[], bool], what: str) -> None:
    """Return once it is true; fails after ten seconds."""
    for _ in range(2000):
        if true():
            return
        await asyncio.sleep(0.005)
    raise AssertionError(f"waited in vain: {what}")


def problem_of(answer: httpx.Response) -> dict[str, Any]:
    """The problem that an answer is; fails if it is none."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    found: dict[str, Any] = answer.json()
    assert found["status"] == answer.status_code
    assert found["type"] == f"urn:covey:{found['code']}"
    assert found["detail"]
    return found
