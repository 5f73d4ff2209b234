"""What the client's tests share: a fleet's port on a real socket, and a wire to it that can be cut."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import msgspec
import pytest

from covey.agents import configuring
from covey.base.settings import BrainSettings, Settings
from covey.client.clients import AsyncClient, Client
from covey.doors.serving import Serving, serve
from covey.store import Store
from tests.api.world import World, token_of, world_of
from tests.conftest import EIGHT, ManualClock


def outside(name: str) -> Settings:
    """The default fleet in which this agent works from outside."""
    return msgspec.structs.replace(
        EIGHT,
        agents=tuple(
            msgspec.structs.replace(each, brain=BrainSettings(kind="external")) if each.id == name else each for each in EIGHT.agents
        ),
    )


@pytest.fixture
async def world(fleet: Store, clock: ManualClock) -> AsyncIterator[World]:
    """The default eight, of whom sales works from outside."""
    await fleet.write(configuring.configure, outside("sales"))
    async with world_of(fleet, clock, outside("sales")) as found:
        yield found


@pytest.fixture
async def served(world: World) -> AsyncIterator[Serving]:
    """The fleet's port on a real socket."""
    found = await serve(world.fleet_port, "127.0.0.1", 0)
    yield found
    await found.stop()


def url_of(port: int) -> str:
    """Where a port answers."""
    return f"http://127.0.0.1:{port}"


def blocking(port: int, who: str = "operator", again_s: float = 5.0) -> Client:
    """A client that blocks; call it in a thread."""
    return Client(url_of(port), token=token_of(who), again_s=again_s)


def awaited(port: int, who: str = "operator", again_s: float = 5.0) -> AsyncClient:
    """A client on this loop."""
    return AsyncClient(url_of(port), token=token_of(who), again_s=again_s)


class Wire:
    """Passes bytes on to a port; told so, it cuts a connection after so many bytes of its answer."""

    def __init__(self, port: int) -> None:
        self._to = port
        self.cuts: list[int] = []
        """After how many bytes of the answer each of the next connections is cut."""
        self.connections = 0
        self.open = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.connections += 1
        self.open += 1
        cut = self.cuts.pop(0) if self.cuts else None
        there, back = await asyncio.open_connection("127.0.0.1", self._to)
        pumps = [asyncio.ensure_future(_pump(reader, back, None)), asyncio.ensure_future(_pump(there, writer, cut))]
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        for each in pumps:
            each.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)
        writer.transport.abort()
        back.transport.abort()
        self.open -= 1


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int | None) -> None:
    passed = 0
    with contextlib.suppress(OSError):
        while data := await reader.read(65_536):
            data = data if most is None else data[: most - passed]
            writer.write(data)
            await writer.drain()
            passed += len(data)
            if passed == most:
                return


@pytest.fixture
async def wire(served: Serving) -> AsyncIterator[tuple[Wire, int]]:
    """A wire to the fleet's port, and the port at its end."""
    found = Wire(served.port)
    server = await asyncio.start_server(found.serve, "127.0.0.1", 0)
    yield found, server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
