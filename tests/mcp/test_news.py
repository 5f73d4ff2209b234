"""Clients that ask for news hear of what changed, each of its own alone; whoever is cut off begins anew."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from covey.agents import tokens
from covey.agents.model import as_agent
from covey.doors.admission import REMEMBERED_S
from covey.mcp.following import changes_tools, touched
from covey.store import Store
from covey.store.events import START, Event
from tests.conftest import ManualClock
from tests.mcp.test_bad_input import open_session
from tests.mcp.world import JOINED, World, given, world_of
from tests.rules import rule


def event(kind: str, agent: str | None = None, subject: str | None = None, **data: Any) -> Event:
    return Event(START, 0.0, kind, agent, subject, data)


def test_an_event_touches_what_its_reader_may_see() -> None:
    mail = event("message.sent", "chief", "m", to={"coder": "delivered"}, thread="t")
    assert set(touched(mail, as_agent("coder"))) == {"covey://inbox", "covey://threads/t"}
    assert set(touched(mail, as_agent("chief"))) == {"covey://threads/t"}
    assert set(touched(mail, as_agent("devops"))) == set()
    deferred = event("message.sent", "chief", "m", to={"coder": "deferred"}, thread="t")
    assert "covey://inbox" not in set(touched(deferred, as_agent("coder")))
    assert set(touched(event("task.finished", "coder", "task_1"), as_agent("devops"))) == {"covey://tasks/task_1"}
    assert set(touched(event("agent.paused", "coder"), as_agent("devops"))) == {"covey://agents"}
    assert changes_tools(event("agent.added", "new"))
    assert not changes_tools(event("agent.paused", "coder"))


async def test_a_current_client_hears_of_its_mail_and_of_nobody_elses(world: World) -> None:
    async with (
        world.connect("coder") as coder,
        world.connect("devops") as devops,
        world.connect("chief") as chief,
        coder.listen(resource_subscriptions=["covey://inbox"]) as mine,
        devops.listen(resource_subscriptions=["covey://inbox"]) as theirs,
    ):
        heard = asyncio.create_task(_first(mine))
        other = asyncio.create_task(_first(theirs))
        await _until_heard(chief, heard)
        assert "covey://inbox" in str(await heard)
        assert not other.done()
        other.cancel()
        await asyncio.wait({other})


async def _first(events: Any) -> Any:
    async for each in events:
        return each
    return None


async def _until_heard(sender: Any, heard: asyncio.Task[Any]) -> None:
    """Send mail until the listener hears: what comes in the moment in which it begins to listen may be missed."""
    for number in range(20):
        await given(sender, "send_agent_message", to="coder", text=f"news {number}")
        done, _ = await asyncio.wait({heard}, timeout=0.5)
        if done:
            return
    raise AssertionError("nothing was heard")


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_an_older_client_hears_of_what_it_subscribed_to(world: World) -> None:
    seen: asyncio.Queue[Any] = asyncio.Queue()

    async def hear(message: Any) -> None:
        await seen.put(message)

    async with world.connect("coder", "legacy", message_handler=hear) as coder, world.connect("chief") as chief:
        await coder.subscribe_resource("covey://inbox")
        heard = asyncio.create_task(seen.get())
        await _until_heard(chief, heard)
        assert "covey://inbox" in str(await heard)
        await coder.unsubscribe_resource("covey://inbox")


async def test_after_a_restart_an_old_session_is_gone_and_a_new_one_works(store: Store, clock: ManualClock) -> None:
    async with world_of(store, clock) as before:
        session = await open_session(before)
    async with world_of(store, clock) as after:
        gone = await after.post(
            '{"jsonrpc":"2.0","id":2,"method":"tools/list"}', **{"Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-06-18"}
        )
        assert gone.status_code == 404
        await open_session(after)


async def test_a_door_that_closes_ends_what_streams(store: Store, clock: ManualClock) -> None:
    async with (
        world_of(store, clock, JOINED) as world,
        world.connect("coder") as coder,
        coder.listen(resource_subscriptions=["covey://inbox"]) as events,
    ):
        ended = asyncio.create_task(_first(events))
        async with asyncio.timeout(5):
            await world.serving.stop()
            assert await ended is None


@rule("M11")
async def test_a_stream_ends_when_its_token_is_rotated(
    world: World, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("covey.mcp.mounting.LOOK_AGAIN_S", 0.05)
    async with world.connect("coder") as coder, coder.listen(resource_subscriptions=["covey://inbox"]) as events:
        listening = asyncio.create_task(_first(events))
        await world.store.write(tokens.put, "coder", tokens.hash_of("a-new-token-of-coder-0123"))
        clock.at += REMEMBERED_S + 1
        async with asyncio.timeout(10):
            await asyncio.wait({listening})
        assert isinstance(listening.exception(), Exception)
        with pytest.raises(MCPError):
            await coder.list_tools()
    assert "without completing" not in caplog.text


async def test_too_many_addresses_are_refused(world: World) -> None:
    async with world.connect("coder") as coder:
        with pytest.raises(MCPError, match="at most 100"):
            async with coder.listen(resource_subscriptions=[f"covey://tasks/{number}" for number in range(101)]):
                pass
