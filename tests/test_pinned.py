"""The client that calls out: where a name leads is judged once, and just that place is called."""

from __future__ import annotations

import gzip
import socket
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from covey.base import pinned
from covey.base.errors import CoveyError, Forbidden
from covey.base.outward import Allowed
from covey.base.pinned import Pinned


class Names:
    """Stands in for the look-up of names: each answers with the next address of its line."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
        self.line = list(addresses)
        self.asked = 0
        monkeypatch.setattr(socket, "getaddrinfo", self.look_up)

    def look_up(self, host: str, port: int, **_: Any) -> list[Any]:
        self.asked += 1
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (self.line.pop(0), port))]


def calling(answer: httpx.Response, *allowed: str) -> tuple[httpx.AsyncClient, list[httpx.Request]]:
    """A client whose last step is seen, and the requests that came to it."""
    seen: list[httpx.Request] = []

    def take(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return answer

    return httpx.AsyncClient(transport=Pinned(Allowed(allowed), httpx.MockTransport(take))), seen


async def test_a_name_is_looked_up_once_and_its_address_called_under_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Names(monkeypatch, "93.184.216.34", "127.0.0.1")
    client, seen = calling(httpx.Response(200))
    async with client:
        await client.get("https://agent.example.org/card")
    assert names.asked == 1
    assert seen[0].url == "https://93.184.216.34/card"
    assert seen[0].headers["host"] == "agent.example.org"
    assert seen[0].extensions["sni_hostname"] == "agent.example.org"


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "100.64.0.1", "0.0.0.0"])
async def test_a_name_that_leads_inside_is_not_called(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    Names(monkeypatch, address, address)
    client, seen = calling(httpx.Response(200))
    async with client:
        with pytest.raises(Forbidden):
            await client.get("https://agent.example.org/")
    assert seen == []
    client, seen = calling(httpx.Response(200), "agent.example.org")
    async with client:
        await client.get("https://agent.example.org/")
    assert len(seen) == 1


async def parts(size: int) -> AsyncIterator[bytes]:
    """A body that comes bit by bit."""
    for _ in range(size):
        yield b"x"


async def test_an_answer_that_does_not_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinned, "RESPONSE_BYTES", 1000)
    Names(monkeypatch, "93.184.216.34", "93.184.216.34")
    client, _ = calling(httpx.Response(200, content=parts(1001)))
    async with client:
        with pytest.raises(httpx.ReadError):
            await client.get("https://agent.example.org/")
    client, _ = calling(httpx.Response(200, content=parts(1000)))
    async with client:
        assert len((await client.get("https://agent.example.org/")).content) == 1000


@pytest.mark.parametrize("how", ["gzip", "br, gzip", "Deflate", "unheard-of"])
async def test_a_packed_answer_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    Names(monkeypatch, "93.184.216.34", "93.184.216.34")
    client, seen = calling(httpx.Response(200, headers={"Content-Encoding": how}, stream=httpx.ByteStream(gzip.compress(b"x" * 10**6))))
    async with client:
        with pytest.raises(httpx.ReadError, match="packed"):
            await client.get("https://agent.example.org/")
    assert seen[0].headers["accept-encoding"] == "identity"
    client, _ = calling(httpx.Response(200, headers={"Content-Encoding": "identity"}, content=b"plain"))
    async with client:
        assert (await client.get("https://agent.example.org/")).content == b"plain"


@pytest.mark.parametrize("url", ["ftp://example.org/", "https://user:word@example.org/"])
async def test_what_is_no_address_to_call_is_refused(url: str) -> None:
    client, seen = calling(httpx.Response(200))
    async with client:
        with pytest.raises((CoveyError, httpx.UnsupportedProtocol)):
            await client.get(url)
    assert seen == []
