"""Over real sockets: what a buddy's port may do to whoever asks it, and the real port's answer (B2, B3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import msgspec
import pytest

from covey.agents import roster
from covey.api.agent_port import make_app
from covey.api.door import Door
from covey.base.target import reached_by
from covey.buddies.asking import Asker, Place, ask, ping
from covey.buddies.calling import call
from covey.buddies.model import ANSWER_BYTES, Answer, Reply, Silence
from covey.doors.serving import serve
from covey.store import Store
from tests.api.world import Process, give_tokens, token_of
from tests.conftest import EIGHT, ManualClock
from tests.rules import rule

Serve = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def stranger(answer: Serve) -> AsyncIterator[Place]:
    """Somebody at devops' address; `answer` is given the head of each request."""

    serving: set[asyncio.Task[object]] = set()

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        me = asyncio.current_task()
        assert me is not None
        serving.add(me)
        try:
            await answer(await reader.readuntil(b"\r\n\r\n"), writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort() if answer is rude else writer.close()

    server = await asyncio.start_server(one, "127.0.0.1", 0)
    try:
        yield Place("devops", "127.0.0.1", server.sockets[0].getsockname()[1])
    finally:
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        await server.wait_closed()


def says(*parts: bytes) -> Serve:
    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)

    return answer


def http(body: bytes, head: bytes = b"HTTP/1.1 200 OK\r\n") -> bytes:
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


async def rude(_: bytes, __: asyncio.StreamWriter) -> None:
    """Hangs up."""


async def drip(_: bytes, writer: asyncio.StreamWriter) -> None:
    """Goes on for ever, a byte at a time, faster than a timeout of each read would notice."""
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while not writer.is_closing():
        writer.write(b"x")
        await asyncio.sleep(0.01)


async def mute(_: bytes, __: asyncio.StreamWriter) -> None:
    """Takes the request and says nothing."""
    await asyncio.Event().wait()


async def one_ask(place: Place, patience_s: float = 5.0) -> Answer | Silence:
    return await ask(place, Asker("coder", "secret"), "check-1", 1.0, patience_s)


@rule("B3")
@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (says(b"HELO\r\n\r\n"), "garbage"),
        (says(b"\x00" * 40_000), "garbage"),
        (says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), "garbage"),
        (says(http(b"<html>hello</html>")), "garbage"),
        (says(http(b"{}")), "garbage"),
        (says(http(b"x" * (ANSWER_BYTES + 1))), "garbage"),
        (says(b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n{"), "garbage"),
        (says(http(b"{}", b"HTTP/1.1 503 Sorry\r\n")), "refused"),
        (says(http(msgspec.json.encode({"agentId": "coder", "status": "idle"}))), "garbage"),
        (rude, "no answer"),
        (drip, "slow"),
        (mute, "slow"),
    ],
    ids=["no http", "zeros", "chunked", "html", "empty", "large", "too short", "503", "half an answer", "hangs up", "drips", "mute"],
)
async def test_whatever_a_stranger_answers_is_a_reason_and_not_an_error(answer: Serve, fault: str) -> None:
    async with stranger(answer) as place:
        found = await one_ask(place, 0.3 if fault == "slow" else 5.0)
        assert isinstance(found, Silence)
        assert found.fault == fault, found.sentence
        assert "secret" not in found.sentence


@rule("B3")
async def test_another_agent_at_the_address_counts_as_no_answer() -> None:
    said = {
        "agentId": "coder", "status": "idle", "lastHeartbeat": 1.0, "queueLength": 0, "contextSize": 0, "maxContextSize": 1,
        "covering": [], "timestamp": 1.0,
    }  # fmt: skip
    async with stranger(says(http(msgspec.json.encode(said)))) as place:
        found = await one_ask(place)
    assert isinstance(found, Silence)
    assert found.fault == "another name"


@rule("B3")
async def test_nobody_at_the_address_is_no_answer() -> None:
    async with stranger(rude) as place:
        pass
    found = await one_ask(place)
    assert isinstance(found, Silence)
    assert found.fault == "no answer"
    assert await ping(place) == "none"


@rule("B3", "A5")
@pytest.mark.parametrize(("body", "said"), [(b'{"status":"healthy"}', "healthy"), (b'{"status":"degraded"}', "degraded"), (b"[]", "none")])
async def test_a_ping_hears_what_the_process_says_of_itself(body: bytes, said: str) -> None:
    async with stranger(says(http(body))) as place:
        assert await ping(place) == said


async def test_a_request_says_who_asks_and_goes_to_the_address_that_is_meant() -> None:
    heard: list[bytes] = []

    async def listen(head: bytes, writer: asyncio.StreamWriter) -> None:
        heard.append(head)
        writer.write(http(b"{}"))

    async with stranger(listen) as place:
        found = await call("POST", place.host, place.port, "/buddy-check", token="mine", body=b"{}")
    assert found == Reply(200, b"{}")
    assert b"Authorization: Bearer mine\r\n" in heard[0]
    assert f"Host: 127.0.0.1:{place.port}\r\n".encode() in heard[0]
    assert (reached_by("0.0.0.0"), reached_by("::"), reached_by("agent-2")) == ("127.0.0.1", "::1", "agent-2")


@rule("B2", "A5a", "A9")
async def test_a_real_agents_port_answers_its_buddy(fleet: Store, clock: ManualClock) -> None:
    await give_tokens(fleet)
    door = Door(store=fleet, settings=EIGHT, clock=clock, agent="devops", local=Process(fleet, "devops"))
    serving = await serve(make_app(door), "127.0.0.1", 0)
    try:
        place = Place("devops", "127.0.0.1", serving.port)
        found = await ask(place, Asker("coder", token_of("coder")), "check-1", 1.0)
        assert isinstance(found, Answer)
        assert (found.agent_id, found.check_id, found.queue_length, found.max_context_size) == ("devops", "check-1", 0, 8192)
        assert (await fleet.read(roster.vitals, "coder")).last_buddy_check is not None
        assert await ping(place) == "healthy"
        wrong = await ask(place, Asker("coder", "nobodys-token-0123456789"), "check-2", 1.0)
        assert isinstance(wrong, Silence)
        assert wrong.fault == "refused"
    finally:
        await serving.stop()
