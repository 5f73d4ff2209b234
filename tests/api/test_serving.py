"""Ports over real sockets: taken ports, slow and endless requests, keep-alive, stops; on httptools and on h11."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from starlette.routing import Mount
from starlette.types import Receive, Scope, Send

from covey.api import agent_port, fleet_port
from covey.api.door import Door
from covey.base.errors import Invalid, Misconfigured, PortTaken
from covey.base.markers import NameLock
from covey.doors import impatience
from covey.doors.door import FleetDoor
from covey.doors.port import Port
from covey.doors.serving import Serving, serve
from covey.messages import reading
from covey.store import Store
from tests.api.world import Process, World, bearer, give_tokens, until
from tests.conftest import EIGHT, ManualClock
from tests.rules import rule

BOUND_S = 10.0
SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@pytest.fixture(params=["httptools", "h11"])
async def served(world: World, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Serving]:
    """An agent's port on either of uvicorn's parsers."""
    if request.param == "h11":
        monkeypatch.setattr(impatience, "find_spec", lambda name: None)
    impatience.impatient_protocol.cache_clear()
    found = await serve(world.agent_port, "127.0.0.1", 0)
    yield found
    await found.stop()
    impatience.impatient_protocol.cache_clear()


class Line:
    """A bare connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def to(cls, served: Serving) -> Line:
        return cls(*await asyncio.open_connection("127.0.0.1", served.port))

    def say(self, text: str | bytes) -> None:
        self.writer.write(text.encode() if isinstance(text, str) else text)

    async def rest(self) -> bytes:
        """All that comes until the other side closes."""
        async with asyncio.timeout(BOUND_S):
            try:
                return await self.reader.read()
            except ConnectionError:
                return b""
            finally:
                self.writer.close()


def post(body: bytes, *more: str, length: int | None = None) -> bytes:
    lines = [
        "POST /message HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        f"Content-Length: {len(body) if length is None else length}",
    ]
    return "\r\n".join([*lines, f"Authorization: {bearer('operator')['Authorization']}", *more, "", ""]).encode() + body


BODY = json.dumps({"content": {"body": "x"}}).encode()


@SQLITE
@rule("A5")
async def test_a_port_serves_and_keeps_its_connections(world: World, served: Serving) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{served.port}", headers=bearer("operator")) as client:
        for _ in range(3):
            assert (await client.get("/health")).json()["status"] == "healthy"
            assert (await client.post("/message", json={"content": {"body": "x"}})).status_code == 201
        head = await client.head("/health")
        assert (head.status_code, head.content) == (200, b"")
        assert served.connections == 1
        assert "server" not in head.headers
        assert head.headers["date"].endswith("GMT")


@SQLITE
async def test_an_answer_does_not_wait_for_its_reader_to_acknowledge_the_head(world: World, served: Serving) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{served.port}") as client:
        await client.get("/health")
        (protocol,) = served._server.server_state.connections
        connection = protocol.transport.get_extra_info("socket")
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


async def test_two_requests_in_one_breath_are_both_answered(world: World, served: Serving) -> None:
    line = await Line.to(served)
    line.say(post(BODY) + post(BODY, "Connection: close"))
    assert (await line.rest()).count(b"HTTP/1.1 201") == 2


@SQLITE
@pytest.mark.parametrize("start", [b"", b"G", b"POST /message HTTP/1.1\r\nHost: localhost\r\n", b"POST /message HTTP/1.1\r\nHost: local"])
async def test_a_head_that_does_not_come_is_waited_for_so_long_only(
    world: World, served: Serving, start: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(impatience, "HEAD_S", 0.05)
    line = await Line.to(served)
    line.say(start)
    assert await line.rest() == b""
    await until(lambda: served.connections == 0, "the end of the connection")


@SQLITE
async def test_a_head_without_end_is_cut_off(world: World, served: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(impatience, "HEAD_S", 1000.0)
    line = await Line.to(served)
    line.say(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
    try:
        for n in range(2000):
            line.say(b"X-%d: %s\r\n" % (n, b"a" * 1000))
            await asyncio.wait_for(line.writer.drain(), BOUND_S)
    except ConnectionError:
        pass
    await line.rest()
    await until(lambda: served.connections == 0, "the end of the connection")


@SQLITE
async def test_the_next_head_on_a_kept_connection_is_waited_for_as_long(
    world: World, served: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(impatience, "HEAD_S", 0.05)
    line = await Line.to(served)
    line.say(post(BODY))
    async with asyncio.timeout(BOUND_S):
        assert await line.reader.readuntil(b"\r\n") == b"HTTP/1.1 201 Created\r\n"
    line.say(b"GET /hea")
    await line.rest()
    await until(lambda: served.connections == 0, "the end of the connection")


@SQLITE
@rule("M10")
async def test_a_body_that_does_not_come_is_waited_for_so_long_only(world: World, served: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("covey.doors.bodies.BODY_S", 0.05)
    monkeypatch.setattr("covey.doors.bodies.DRAIN_S", 0.05)
    line = await Line.to(served)
    line.say(post(BODY[:5], length=len(BODY)))
    answer = await line.rest()
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"did not come within" in answer


@SQLITE
@rule("M10")
@pytest.mark.parametrize("told", [True, False], ids=["told its length", "in chunks"])
async def test_a_request_that_is_too_large_is_answered_before_it_is_over(world: World, served: Serving, told: bool) -> None:
    size = 3 * 1024 * 1024

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b" " * (1024 * 1024)

    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{served.port}", headers=bearer("operator"), timeout=BOUND_S) as client:
        answer = await client.post("/message", content=b" " * size if told else chunks(), headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["code"]) == (413, "too-large")
        assert (await client.get("/health")).status_code == 200
    assert await world.store.read(reading.latest) == []


@SQLITE
@rule("M10")
@pytest.mark.parametrize("mebibytes", [2, 24])
@pytest.mark.parametrize("token", [True, False], ids=["too large", "from nobody"])
async def test_a_sender_that_reads_only_afterwards_gets_its_answer_too(world: World, served: Serving, token: bool, mebibytes: int) -> None:
    line = await Line.to(served)
    request = post(b" " * (mebibytes * 1024 * 1024))
    line.say(request if token else request.replace(b"Authorization", b"X-Nothing"))
    async with asyncio.timeout(BOUND_S):
        await line.writer.drain()
    assert (await line.rest()).startswith(b"HTTP/1.1 413" if token else b"HTTP/1.1 401")


@SQLITE
async def test_a_refused_body_without_end_is_not_read_for_ever(world: World, served: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("covey.doors.bodies.DRAIN_S", 0.05)
    line = await Line.to(served)
    line.say(post(b"", length=10**12))
    answer = await line.rest()
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"connection: close" in answer


@SQLITE
async def test_a_caller_without_a_token_gets_its_answer_whole_though_it_sent_a_body(world: World, served: Serving) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{served.port}", timeout=BOUND_S) as client:
        for _ in range(3):
            answer = await client.post("/message", json={"content": {"body": "x" * 200_000}})
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")


@SQLITE
@pytest.mark.parametrize(
    "request_line",
    [b"\x16\x03\x01\x02\x00", b"GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: x\r\n\r\n", b"FOO BAR BAZ\r\n\r\n"],
)
async def test_what_is_no_http_gets_no_service(world: World, served: Serving, request_line: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(impatience, "HEAD_S", 0.5)
    line = await Line.to(served)
    line.say(request_line)
    assert b" 200 " not in await line.rest()


@SQLITE
async def test_a_websocket_is_not_opened(world: World, served: Serving) -> None:
    line = await Line.to(served)
    line.say(
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    assert b" 101 " not in await line.rest()


@SQLITE
async def test_a_stop_lets_what_is_being_answered_end(world: World, served: Serving) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{served.port}", headers=bearer("operator"), timeout=BOUND_S) as client:
        posting = [asyncio.create_task(client.post("/message", json={"content": {"body": f"m{n}"}})) for n in range(8)]
        await until(lambda: served.connections == 8, "eight connections")
        await served.stop()
        answers = await asyncio.gather(*posting, return_exceptions=True)
    stored = len(await world.store.read(reading.latest))
    assert sum(isinstance(answer, httpx.Response) and answer.status_code == 201 for answer in answers) == stored
    with pytest.raises(OSError):
        await Line.to(served)
    await served.stop()


@SQLITE
@rule("A10")
async def test_a_port_that_a_stranger_holds_is_told_by_its_holder(world: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        port = stranger.getsockname()[1]
        with pytest.raises(PortTaken) as taken:
            await serve(world.agent_port, "127.0.0.1", port)
    assert (taken.value.details["port"], taken.value.details["own"]) == (port, False)
    assert str(port) in taken.value.message


@SQLITE
@rule("A10")
async def test_a_port_that_the_fleet_itself_holds_is_known_as_its_own(world: World, tmp_path: Path) -> None:
    first = await serve(world.agent_port, "127.0.0.1", 0, tmp_path)
    lock = NameLock(tmp_path / "coder.lock")
    assert lock.take("coder", first.port)
    with pytest.raises(PortTaken) as taken:
        await serve(world.fleet_port, "127.0.0.1", first.port, tmp_path)
    assert (taken.value.details["own"], taken.value.details["pid"]) == (True, os.getpid())
    lock.release()
    await first.stop()


@SQLITE
async def test_an_address_of_another_machine_is_refused(world: World) -> None:
    with pytest.raises(Invalid):
        await serve(world.agent_port, "192.0.2.1", 0)


@SQLITE
async def test_nobody_serves_beyond_loopback_without_tokens(fleet: Store, clock: ManualClock) -> None:
    settings = msgspec.structs.replace(EIGHT, host="0.0.0.0")
    port = fleet_port.make_app(FleetDoor(store=fleet, settings=settings, clock=clock))
    with pytest.raises(Misconfigured):
        await serve(port, settings.host, 0)
    await give_tokens(fleet)
    serving = await serve(port, settings.host, 0)
    await serving.stop()


@SQLITE
async def test_ipv6_loopback_is_served_too(fleet: Store, clock: ManualClock) -> None:
    settings = msgspec.structs.replace(EIGHT, host="::1")
    serving = await serve(fleet_port.make_app(FleetDoor(store=fleet, settings=settings, clock=clock)), "::1", 0)
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"http://[::1]:{serving.port}/healthz")).status_code == 200
    await serving.stop()


@SQLITE
@rule("A5", "A9")
async def test_health_answers_while_the_store_is_stuck(fleet: Store, clock: ManualClock) -> None:
    """A writer that never ends and readers that never come: /health asks neither."""
    await give_tokens(fleet)
    door = Door(store=fleet, settings=EIGHT, clock=clock, agent="coder", local=Process(fleet, "coder"))
    serving = await serve(agent_port.make_app(door), "127.0.0.1", 0)
    held = asyncio.get_running_loop().create_future()

    async def stuck(*_: Any, **__: Any) -> Any:
        return await held

    fleet.read = fleet.write = stuck  # type: ignore[method-assign]
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{serving.port}", timeout=BOUND_S) as client:
        waiting = asyncio.create_task(client.post("/message", json={"content": {"body": "x"}}, headers=bearer("operator")))
        await until(lambda: serving.connections == 1, "the stuck request")
        for _ in range(20):
            assert (await client.get("/health")).status_code == 200
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    held.cancel()
    del fleet.read, fleet.write
    await serving.stop()


class Flood:
    """An application as other doors mount them: it streams for as long as its reader is there."""

    def __init__(self) -> None:
        self.over = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        leaving = asyncio.ensure_future(self._leaving(receive))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while not leaving.done():
            await send({"type": "http.response.body", "body": b"x" * 65_536, "more_body": True})
            await asyncio.sleep(0)
        self.over.set()

    async def _leaving(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass


@SQLITE
@pytest.mark.parametrize("parser", ["httptools", "h11"])
async def test_a_reader_of_any_doors_stream_that_takes_nothing_is_cut_off(
    world: World, parser: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if parser == "h11":
        monkeypatch.setattr(impatience, "find_spec", lambda name: None)
    impatience.impatient_protocol.cache_clear()
    monkeypatch.setattr(impatience, "SEND_S", 0.2)
    flood = Flood()
    serving = await serve(Port(world.fleet_port.door, (), [Mount("/other", app=flood)]), "127.0.0.1", 0)
    try:
        line = await Line.to(serving)
        line.say("GET /other/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        async with asyncio.timeout(BOUND_S):
            await flood.over.wait()
        await until(lambda: serving.connections == 0, "the slow reader's end")
        line.writer.close()
    finally:
        await serving.stop()
        impatience.impatient_protocol.cache_clear()
