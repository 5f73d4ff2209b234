"""A fleet that is bound to every address is reached by loopback, of the same family, wherever its ports are named."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from covey.agents import configuring, roster
from covey.app.starting import url_of
from covey.nodes.pinging import answers
from covey.reports import cards, scraping, status
from covey.store import Store
from tests.conftest import EIGHT

BOUND = [("::", "[::1]"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]"), ("192.0.2.7", "192.0.2.7"), ("agent-2", "agent-2")]


@pytest.mark.parametrize(("host", "reached"), BOUND)
async def test_ports_are_named_by_an_address_that_reaches_them(store: Store, host: str, reached: str) -> None:
    settings = msgspec.structs.replace(EIGHT, host=host)
    await store.write(configuring.configure, settings)
    assert (await store.read(status.agent_state, "coder"))["url"] == f"http://{reached}:8002"
    assert (await store.read(scraping.targets))[1].targets == [f"{reached}:8002"]
    assert url_of(host, 8000) == f"http://{reached}:8000"
    card = cards.card(await store.read(roster.find, "coder"), settings, host)
    assert card["provider"]["url"] == f"http://{reached}:8002"
    assert {each["url"] for each in card["supportedInterfaces"]} == {f"http://{reached}:8900/a2a/coder", f"{reached}:8901"}


@pytest.mark.parametrize(("host", "reached"), BOUND[:3])
async def test_who_is_bound_to_every_address_is_asked_by_loopback(host: str, reached: str) -> None:
    heads: list[bytes] = []

    async def healthy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(healthy, host, 0)
    port = server.sockets[0].getsockname()[1]
    try:
        assert await answers(host, port)
    finally:
        server.close()
        await server.wait_closed()
    assert f"Host: {reached}:{port}\r\n".encode() in heads[0]
