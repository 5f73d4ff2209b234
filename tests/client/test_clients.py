"""`covey.Client` and `covey.AsyncClient` against a fleet's port on a real socket, over wires that break."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import math
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

import covey
from covey.agents import living
from covey.agents.model import THE_OPERATOR
from covey.base.errors import CoveyError, Failed, Forbidden, Invalid, LeaseLost, NotFound, NotRunning, Unauthorized, Unknown
from covey.client import calls
from covey.client.stream import Event
from covey.doors.serving import Serving
from covey.store import events
from tests.api.world import World, bearer, until
from tests.client.conftest import Wire, awaited, blocking, url_of
from tests.conftest import ManualClock
from tests.rules import rule

BOUND_S = 20.0


def verbs(of: Any) -> dict[str, list[str]]:
    """Public functions with the names of their parameters."""
    found = inspect.getmembers(of, inspect.isfunction)
    return {
        name: [each for each in inspect.signature(each).parameters if each not in ("self", "client")]
        for name, each in found
        if not name.startswith("_") and inspect.unwrap(each).__module__ in (calls.__name__, covey.Client.__module__)
    }


def test_both_clients_have_every_call_alike() -> None:
    made = verbs(calls)
    assert len(made) > 30
    for client in (covey.Client, covey.AsyncClient):
        own = verbs(client)
        assert {name: own.pop(name) for name in made} == made
        assert set(own) == {"do", "follow"}


async def test_a_message_is_sent_answered_and_found(world: World, served: Serving) -> None:
    chief, coder = awaited(served.port, "chief"), blocking(served.port, "coder")
    sent = await chief.send("coder", "is the build red?", subject="the build", requires_response=True, data={"branch": "main"})
    assert sent.outcomes["coder"].status == "delivered"
    mail = (await asyncio.to_thread(coder.inbox, "coder", unread=True)).items
    assert [(each.from_, each.body, each.content["data"]) for each in mail] == [("chief", "is the build red?", {"branch": "main"})]
    await asyncio.to_thread(coder.reply, mail[0], "it is green")
    answers = await chief.replies(sent.message_id, wait_s=10)
    assert ([each.body for each in answers.items], answers.waiting) == (["it is green"], False)
    assert [each.state for each in (await chief.message(sent.message_id)).items] == ["delivered"]
    await asyncio.to_thread(coder.acknowledge, "coder", sent.message_id)
    assert (await chief.message(sent.message_id)).items[0].state == "handled"
    assert len((await chief.thread(sent.thread_id)).items) == 2


async def test_a_question_waits_for_its_answer(world: World, served: Serving) -> None:
    asked = asyncio.ensure_future(awaited(served.port, "chief").ask("coder", "how long?", wait_s=15))
    coder = awaited(served.port, "coder")
    await until(lambda: world.fleet_port.door.news.awaited == 1, "the question waits")
    await coder.reply((await coder.inbox("coder")).items[0], "an hour")
    async with asyncio.timeout(BOUND_S):
        answered = await asked
    assert [each.body for each in answered.replies] == ["an hour"]
    unanswered = await asyncio.to_thread(blocking(served.port, "chief").ask, "devops", "and you?", wait_s=0)
    assert (unanswered.replies, unanswered.waiting) == ([], True)


async def test_a_refusal_is_a_receipt_not_an_exception(world: World, served: Serving) -> None:
    disabled = await world.fleet.post("/api/v1/links/link:chief:coder/disable", json={}, headers=bearer("operator"))
    assert disabled.status_code == 200, disabled.text
    chief = awaited(served.port, "chief")
    assert (await chief.send("coder", "hello")).outcomes["coder"].status == "disabled"
    asked = await chief.ask("coder", "hello?")
    assert (asked.receipt.outcomes["coder"].status, asked.replies, asked.waiting) == ("disabled", [], False)


@pytest.mark.parametrize(
    ("who", "call", "error", "field"),
    [
        ("operator", ("task", "task_nowhere"), NotFound, "id"),
        ("operator", ("send", "codex", "hello"), Unknown, "to"),
        ("operator", ("send", "coder", ""), Invalid, "content.body"),
        ("operator", ("why", "a b"), Invalid, "id"),
        ("coder", ("inbox", "chief"), Forbidden, None),
        ("nobody", ("agents",), Unauthorized, None),
    ],
)
async def test_what_goes_wrong_is_raised_as_the_error_that_the_fleet_raised(
    world: World, served: Serving, who: str, call: tuple[str, ...], error: type[CoveyError], field: str | None
) -> None:
    for client in (awaited(served.port, who), blocking(served.port, who)):
        made = getattr(client, call[0])
        with pytest.raises(CoveyError) as caught:
            await made(*call[1:]) if isinstance(client, covey.AsyncClient) else await asyncio.to_thread(made, *call[1:])
        assert (type(caught.value), caught.value.field) == (error, field)
        assert caught.value.problem()["code"] == error.code


@rule("A5b", "K4")
async def test_an_external_agent_works_through_the_client(world: World, served: Serving) -> None:
    boss, sales = awaited(served.port), awaited(served.port, "sales")
    nothing = await sales.claim("sales")
    assert nothing.token is None
    waiting = asyncio.ensure_future(sales.claim("sales", wait_s=15, lease_s=60))
    task = await boss.add_task("Write to the lead", "sales", priority="high", task_id="task_1")
    async with asyncio.timeout(BOUND_S):
        work = await waiting
    assert work.token is not None
    assert work.task is not None
    assert work.task.task_id == task.task_id
    await sales.progress("sales", work.token, "half of it")
    assert (await sales.renew("sales", work.token, lease_s=120)).lease_ends > 0
    assert (await sales.finish("sales", work.token, "written", data={"words": 120})).kind == "done"
    done = await asyncio.to_thread(blocking(served.port).task, "task_1", wait_s=5)
    assert (done.state, done.result) == ("done", done.result)
    assert "done" in (await boss.why("task_1")).sentence
    with pytest.raises(LeaseLost):
        await sales.finish("sales", work.token, "again")


async def test_tasks_are_handed_over_and_votes_cast(world: World, served: Serving) -> None:
    boss, chief, sales = awaited(served.port), awaited(served.port, "chief"), awaited(served.port, "sales")
    await sales.agents()  # who has never called is away
    task = await boss.add_task("Mend it", "chief")
    offer = await chief.offer_handoff(task.task_id, "sales", "you know them", progress=0.5)
    assert [each.handoff_id for each in (await sales.handoffs(agent="sales", state="offered")).items] == [offer.handoff_id]
    assert (await sales.accept_handoff(offer.handoff_id)).state == "accepted"
    assert [each.task_id for each in (await boss.tasks(agent="sales", state="open")).items] == [task.task_id]
    vote = await boss.open_vote("Ship it?", ["yes", "no"], ["chief", "sales"], quorum=1)
    await chief.cast_ballot(vote.vote_id, "yes", confidence=0.9, argument="it is green")
    closed = await boss.close_vote(vote.vote_id)
    assert closed.result is not None
    assert closed.result.winner == "yes"


async def test_a_call_whose_answer_is_lost_is_made_again_and_done_once(world: World, wire: tuple[Wire, int]) -> None:
    cut, port = wire
    cut.cuts = [0, 40]
    task = await awaited(port).add_task("Do it once", "coder")
    assert cut.connections == 3
    cut.cuts = [40]
    receipt = await asyncio.to_thread(blocking(port).send, "coder", "once")
    assert [each.task_id for each in (await awaited(port).tasks(agent="coder")).items] == [task.task_id]
    mail = (await awaited(port).inbox("coder")).items
    assert [each.message_id for each in mail if each.body == "once"] == [receipt.message_id]


async def test_a_fleet_that_is_away_is_said_to_be_after_a_while() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    for made in (awaited(port, again_s=0.3).agents(), asyncio.to_thread(blocking(port, again_s=0.3).agents)):
        with pytest.raises(NotRunning, match="can't be reached"):
            await made


@pytest.mark.parametrize(
    "said",
    [
        b"hello\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        b"",
        b"\0" * 70_000,
    ],
)
async def test_what_is_no_answer_of_ours_is_said_to_be_none(said: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        for made in (awaited(port, again_s=0.1).agents(), asyncio.to_thread(blocking(port, again_s=0.1).agents)):
            with pytest.raises((NotRunning, Failed)):
                await made
    finally:
        server.close()


async def test_a_call_that_is_cancelled_leaves_no_connection(world: World, wire: tuple[Wire, int]) -> None:
    cut, port = wire
    claim = asyncio.ensure_future(awaited(port, "sales").claim("sales", wait_s=60))
    await until(lambda: cut.open == 1 and world.fleet_port.door.news.awaited == 1, "the call waits")
    claim.cancel()
    await until(lambda: cut.open == 0 and world.fleet_port.door.news.awaited == 0, "its connection is closed")
    with pytest.raises(asyncio.CancelledError):
        await claim


async def some(story: AsyncIterator[Event], count: int) -> list[Event]:
    async with asyncio.timeout(BOUND_S):
        return [await anext(story) for _ in range(count)]


async def test_a_story_goes_on_over_wires_that_break_without_a_gap_or_a_repeat(
    world: World, wire: tuple[Wire, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("covey.client.stream.FIRST_S", 0.01)
    cut, port = wire
    cut.cuts = [420, 0, 500]
    story = awaited(port).follow("0", kinds="agent.paused")
    for name in ("coder", "chief", "ops", "intel", "sales", "comms"):
        await world.store.write(living.pause, name, THE_OPERATOR)
    found = await some(story, 6)
    assert [each.agent for each in found] == ["coder", "chief", "ops", "intel", "sales", "comms"]
    assert (cut.connections, cut.cuts) == (4, [])
    assert {each.kind for each in found} == {"agent.paused"}
    await story.aclose()  # type: ignore[attr-defined]
    await until(lambda: cut.open == 0, "the stream's connection is closed")


async def test_a_story_that_breaks_before_its_first_event_misses_none(
    world: World, wire: tuple[Wire, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("covey.client.stream.FIRST_S", 0.01)
    cut, port = wire
    cut.cuts = [450]
    reading = asyncio.ensure_future(some(awaited(port).follow(kinds="agent.paused"), 1))
    await until(lambda: world.fleet_port.door.news.awaited == 1, "the reader reads")
    await world.store.write(living.pause, "coder", THE_OPERATOR)
    assert [each.agent for each in await reading] == ["coder"]


async def test_a_blocking_reader_is_told_when_events_were_missed(world: World, served: Serving, clock: ManualClock) -> None:
    await world.store.write(living.pause, "coder", THE_OPERATOR)
    clock.at += 1000
    await world.store.write(living.pause, "intel", THE_OPERATOR)
    while await world.store.write(events.prune, older_s=500.0, most_bytes=1_000_000_000):
        pass
    story = blocking(served.port).follow("1")
    first = await asyncio.to_thread(next, story)
    assert first.kind == "resync"
    await world.store.write(living.pause, "ops", THE_OPERATOR)
    after = await asyncio.to_thread(lambda: list(itertools.islice(story, 1)))
    assert [each.agent for each in after] == ["ops"]


async def test_a_story_that_is_refused_is_an_error_at_once(world: World, served: Serving) -> None:
    with pytest.raises(Unauthorized):
        await some(awaited(served.port, "nobody").follow(), 1)
    with pytest.raises(Invalid):
        await asyncio.to_thread(lambda: next(blocking(served.port).follow("yesterday")))


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: calls.send("coder", "x", deadline=math.nan), "content.deadline"),
        (lambda: calls.send("coder", "x", data={"share": math.inf}), "content.data.share"),
        (lambda: calls.send("coder", "\udcff"), "content.body"),
        (lambda: calls.task("t1/cancel"), "id"),
        (lambda: calls.why(""), "id"),
        (lambda: calls.inbox("coder/../chief"), "agent"),
    ],
    ids=["nan", "infinity", "no-utf-8", "another-path", "empty", "another-agent"],
)
def test_what_no_fleet_could_take_is_refused_before_it_is_sent(call: Callable[[], object], field: str) -> None:
    with pytest.raises(Invalid) as caught:
        call()
    assert caught.value.field == field


def test_the_address_and_the_token_are_found_or_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COVEY_TOKEN", raising=False)
    monkeypatch.delenv("COVEY_URL", raising=False)
    with pytest.raises(Invalid) as caught:
        covey.Client()
    assert caught.value.field == "token"
    (tmp_path / "tokens.toml").write_text('coder = "token-of-coder-0123456789"\n')
    (tmp_path / "tokens.toml").chmod(0o600)
    assert covey.Client(home=tmp_path, agent="coder").place.url == "http://127.0.0.1:8000"
    with pytest.raises(Invalid):
        covey.Client(home=tmp_path, agent="chief")
    with pytest.raises(Invalid):
        covey.Client("ftp://x", token="t" * 20)
    with pytest.raises(NotRunning, match="can't be written"):
        covey.Client(url_of(9), token="a\r\nX-Other: b").agents()
