"""The fleet's story over HTTP: pages, and server-sent events over real sockets, resumed, resynced, ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx
import pytest

from covey.agents import living
from covey.agents.model import THE_OPERATOR, as_agent
from covey.api import fleet_events, views
from covey.doors.serving import Serving, serve
from covey.messages import sending
from covey.messages.model import draft
from covey.store import Store, Transaction, events
from tests.api.world import World, bearer, problem_of, until
from tests.conftest import ManualClock
from tests.rules import rule

BOUND_S = 10.0


async def pause(store: Store, *names: str) -> None:
    """One event for each name."""
    for name in names:
        await store.write(living.pause, name, THE_OPERATOR)


async def page(world: World, query: str = "", who: str = "operator") -> dict[str, Any]:
    answer = await world.fleet.get(f"/api/v1/events?{query}", headers=bearer(who))
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_events_are_read_in_pages_by_their_cursor(world: World) -> None:
    start = (await page(world, "limit=1000"))["cursor"]
    await pause(world.store, "coder", "sales", "ops")
    first = await page(world, f"since={start}&limit=2")
    second = await page(world, f"since={first['cursor']}&limit=2")
    assert [each["agent"] for each in first["items"] + second["items"]] == ["coder", "sales", "ops"]
    assert (first["more"], second["more"]) == (True, False)
    assert (await page(world, f"since={second['cursor']}"))["items"] == []


async def test_events_are_picked_by_kind_agent_and_subject(world: World) -> None:
    await pause(world.store, "coder", "sales")
    task = (await world.fleet.post("/api/v1/tasks", json={"description": "x", "agent": "sales"}, headers=bearer("operator"))).json()[
        "taskId"
    ]
    assert [each["agent"] for each in (await page(world, "kinds=agent.paused"))["items"]] == ["coder", "sales"]
    assert [each["kind"] for each in (await page(world, "agent=sales&kinds=agent.paused,task."))["items"]] == ["agent.paused", "task.added"]
    assert [each["subject"] for each in (await page(world, f"subject={task}"))["items"]] == [task]


async def test_the_last_events_are_read_in_order_and_one_goes_on_after_them(world: World) -> None:
    await pause(world.store, "coder", "sales", "ops", "intel")
    last = await page(world, "last=2&kinds=agent.")
    assert [each["agent"] for each in last["items"]] == ["ops", "intel"]
    assert last["more"]
    assert not (await page(world, "last=4&kinds=agent.paused"))["more"]
    await pause(world.store, "comms")
    assert [each["agent"] for each in (await page(world, f"since={last['cursor']}"))["items"]] == ["comms"]
    assert [each["agent"] for each in (await page(world, "last=9&agent=sales&kinds=agent.paused"))["items"]] == ["sales"]


async def test_the_last_events_are_found_behind_many_others(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await pause(world.store, "coder")
    await world.store.write(_chatter, 2500)
    assert [each["agent"] for each in (await page(world, "last=5&kinds=agent.paused"))["items"]] == ["coder"]
    monkeypatch.setattr(views, "LOOKED_AT", 1000)
    assert (await page(world, "last=5&kinds=agent.paused"))["items"] == [], "so far is looked, and no further"


def _chatter(tx: Transaction, count: int) -> None:
    for _ in range(count):
        tx.happened("thread.paused", subject="t1")


@pytest.mark.parametrize("query", ["last=0", "last=1001", "last=x", "last=5&since=7"])
async def test_how_many_of_the_last_is_bounded(world: World, query: str) -> None:
    answer = await world.fleet.get(f"/api/v1/events?{query}", headers=bearer("operator"))
    assert (answer.status_code, answer.json()["field"]) == (400, "last")


async def forget(world: World, clock: ManualClock) -> None:
    """All events so far are past their retention; one is there that is not."""
    clock.at += 1000
    await pause(world.store, "intel")
    while await world.store.write(events.prune, older_s=500.0, most_bytes=1_000_000_000):
        pass


async def test_a_cursor_older_than_what_is_kept_is_told_to_read_anew(world: World, clock: ManualClock) -> None:
    await pause(world.store, "coder")
    old = (await page(world, "limit=1"))["cursor"]
    await forget(world, clock)
    found = await page(world, f"since={old}")
    assert (found["resync"], found["items"]) == (True, [])
    assert not (await page(world, f"since={found['cursor']}"))["resync"]


class Sent(NamedTuple):
    """One server-sent event."""

    ident: str
    event: str
    data: Any


class Listener:
    """A reader of a stream, over a real socket."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer
        self._lines = answer.aiter_lines()

    async def next(self) -> Sent:
        """The next event; comments and pauses are left out."""
        fields = {"id": "", "event": "message", "data": ""}
        async with asyncio.timeout(BOUND_S):
            async for line in self._lines:
                if not line and fields["data"]:
                    return Sent(fields["id"], fields["event"], json.loads(fields["data"]))
                name, _, value = line.partition(": ")
                if name in fields:
                    fields[name] = value
        raise EOFError

    async def line(self) -> str:
        """The next line as it is."""
        async with asyncio.timeout(BOUND_S):
            return await anext(self._lines)


@asynccontextmanager
async def listening(serving: Serving, query: str = "", *, last: str | None = None, who: str = "operator") -> AsyncIterator[Listener]:
    headers = {"Accept": "text/event-stream", **bearer(who), **({"Last-Event-ID": last} if last is not None else {})}
    async with (
        httpx.AsyncClient(timeout=BOUND_S) as client,
        client.stream("GET", f"http://127.0.0.1:{serving.port}/api/v1/events?{query}", headers=headers) as answer,
    ):
        assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream")
        yield Listener(answer)


@pytest.fixture
async def served(world: World) -> AsyncIterator[Serving]:
    found = await serve(world.fleet_port, "127.0.0.1", 0)
    yield found
    await found.stop()


async def test_a_stream_tells_what_happens_from_now_on(world: World, served: Serving) -> None:
    await pause(world.store, "chief")
    async with listening(served, "kinds=agent.") as stream:
        assert await stream.line() == "retry: 1000"
        await pause(world.store, "coder", "sales")
        first, second = await stream.next(), await stream.next()
        assert [(each.data["kind"], each.data["agent"]) for each in (first, second)] == [
            ("agent.paused", "coder"),
            ("agent.paused", "sales"),
        ]
        assert first.ident == first.data["cursor"]


async def test_a_reader_that_comes_back_goes_on_where_it_was(world: World, served: Serving) -> None:
    async with listening(served, "since=0&kinds=agent.paused") as stream:
        await pause(world.store, "coder", "sales", "ops")
        first = await stream.next()
    async with listening(served, "since=0&kinds=agent.paused", last=first.ident) as stream:
        assert [(await stream.next()).data["agent"] for _ in range(2)] == ["sales", "ops"]


async def test_a_reader_that_was_away_too_long_is_told_so_and_goes_on(world: World, served: Serving, clock: ManualClock) -> None:
    await pause(world.store, "coder")
    old = (await page(world, "limit=1"))["cursor"]
    await forget(world, clock)
    async with listening(served, last=old) as stream:
        told = await stream.next()
        assert (told.event, told.ident) == ("resync", told.data["cursor"])
        await pause(world.store, "finance")
        assert (await stream.next()).data["agent"] == "finance"


async def test_a_wrong_bookmark_is_a_problem_not_a_stream(world: World, served: Serving) -> None:
    answer = await world.fleet.get(
        "/api/v1/events", headers={"Accept": "text/event-stream", "Last-Event-ID": "yesterday", **bearer("operator")}
    )
    assert (answer.status_code, problem_of(answer)["field"]) == (400, "Last-Event-ID")


async def test_a_quiet_stream_says_that_it_lives(world: World, served: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet_events, "HEARTBEAT_S", 0.01)
    async with listening(served) as stream:
        lines = [await stream.line() for _ in range(5)]
    assert ": still here" in lines


@rule("M13")
async def test_an_agents_stream_leaves_out_mail_of_others(world: World, served: Serving) -> None:
    async with listening(served, "kinds=message.", who="coder") as stream:
        await world.store.write(sending.send, draft("ops", "for ops"), as_agent("devops"))
        await world.store.write(sending.send, draft("coder", "for coder"), as_agent("devops"))
        assert (await stream.next()).data["to"] == {"coder": "delivered"}


async def test_a_stop_ends_every_stream_and_every_wait_cleanly(world: World, served: Serving) -> None:
    task = (await world.fleet.post("/api/v1/tasks", json={"description": "x", "agent": "coder"}, headers=bearer("operator"))).json()[
        "taskId"
    ]
    async with httpx.AsyncClient(timeout=BOUND_S, headers=bearer("operator")) as client:
        waiting = asyncio.create_task(client.get(f"http://127.0.0.1:{served.port}/api/v1/tasks/{task}/wait?wait=300"))
        async with listening(served) as stream:
            assert await stream.line() == "retry: 1000"
            await until(lambda: world.fleet_port.door.news.awaited == 2, "a stream and a wait")
            stopping = asyncio.create_task(served.stop())
            assert (await stream.next()).event == "end"
            with pytest.raises(EOFError):
                await stream.next()
        async with asyncio.timeout(BOUND_S):
            assert (await waiting).json()["state"] == "queued"
            await stopping


async def test_a_reader_that_leaves_is_let_go(world: World, served: Serving) -> None:
    async with listening(served) as stream:
        await stream.line()
    await until(lambda: world.fleet_port.door.news.awaited == 0, "the stream's end")


def noise(tx: Transaction) -> None:
    """Eight megabytes of story."""
    for n in range(4000):
        tx.happened("test.noise", subject=f"n{n}", text="x" * 2000)


async def test_a_reader_that_reads_nothing_costs_only_itself_and_is_cut_off(
    world: World, served: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("covey.doors.impatience.SEND_S", 0.2)
    await world.store.write(noise)
    connections = served.connections
    _, writer = await asyncio.open_connection("127.0.0.1", served.port, limit=1024)
    writer.write(
        b"GET /api/v1/events?since=0&limit=1000 HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
        b"Authorization: %s\r\n\r\n" % bearer("operator")["Authorization"].encode()
    )
    await until(lambda: served.connections > connections, "the slow reader's connection")
    async with listening(served, "kinds=agent.") as stream:
        await stream.line()
        await pause(world.store, "coder")
        assert (await stream.next()).data["agent"] == "coder"
    await until(lambda: served.connections == connections, "the slow reader's end")
    writer.close()
