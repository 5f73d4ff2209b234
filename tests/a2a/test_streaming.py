"""Streams of A2A: the task, then its steps, the same for everybody, over broken connections and a gateway that is started anew."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from covey.a2a import following
from covey.agents.model import THE_OPERATOR
from covey.brains.model import Hands, Outcome, Turn
from covey.doors.door import FleetDoor
from covey.exchanges import giving
from covey.exchanges.model import Given
from covey.store import Store
from covey.tasks import working
from tests.a2a.conftest import MakeWorld
from tests.a2a.test_giving import asking, message, send
from tests.a2a.world import World
from tests.api.world import bearer
from tests.conftest import EIGHT
from tests.runner.office import OwnBrain, done


def talking() -> OwnBrain:
    """A brain that says a word each time the test says `go_on`, three times, then is done."""

    async def think(turn: Turn, hands: Hands) -> Outcome:
        for word in ("one", "two", "three"):
            await brain.go_on.wait()
            brain.go_on.clear()
            await hands.progress(word)
        return Outcome(summary="done", data={"a2a": {"artifacts": [{"name": "list", "parts": [{"text": "a, b"}]}]}})

    brain = OwnBrain(think)
    return brain


@asynccontextmanager
async def stream(here: World, method: str, params: Any) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
    """The events of a stream over JSON-RPC."""
    headers = {**bearer("operator"), "A2A-Version": "1.0"}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    async with httpx.AsyncClient(timeout=20, headers=headers) as client, client.stream("POST", here.url, json=body) as answer:

        async def events() -> AsyncIterator[dict[str, Any]]:
            async for line in answer.aiter_lines():
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))["result"]

        yield events()


def told(event: dict[str, Any]) -> str:
    """An event in a word."""
    if "artifactUpdate" in event:
        return f"artifact {event['artifactUpdate']['artifact']['name']}"
    status = event["statusUpdate" if "statusUpdate" in event else "task"]["status"]
    said = status.get("message", {}).get("parts", [{}])[0].get("text", "")
    return f"{status['state'].removeprefix('TASK_STATE_').lower()} {said}".strip()


async def all_of(events: AsyncIterator[dict[str, Any]]) -> list[str]:
    async with asyncio.timeout(20):
        return [told(event) async for event in events]


async def test_a_stream_begins_with_the_task_and_ends_with_its_end(world: MakeWorld) -> None:
    async with world(done()) as here, stream(here, "SendStreamingMessage", message("m1")) as events:
        first = await anext(events)
        rest = await all_of(events)
    assert "task" in first
    assert rest[-2:] == ["artifact result", "completed"]


async def test_all_who_subscribe_get_the_same_steps_in_the_same_order(world: MakeWorld) -> None:
    brain = talking()
    async with world(brain) as here:
        task = (await send(here, "m1", wait=False))["task"]["id"]
        await brain.began.wait()
        async with stream(here, "SubscribeToTask", {"id": task}) as one, stream(here, "SubscribeToTask", {"id": task}) as other:
            assert told(await anext(one)) == told(await anext(other)) == "working"
            heard = [asyncio.create_task(all_of(one)), asyncio.create_task(all_of(other))]
            for word in ("one", "two", "three"):
                brain.go_on.set()
                await here.office_said(task, word)
            first, second = await asyncio.gather(*heard)
    steps = [step for step in first if step != "working"]
    assert first == second
    assert steps == ["working one", "working two", "working three", "artifact list", "completed done"]


async def test_a_stream_that_asks_ends_and_a_subscription_goes_on(world: MakeWorld) -> None:
    async with world(asking()) as here:
        async with stream(here, "SendStreamingMessage", message("m1")) as events:
            task = (await anext(events))["task"]["id"]
            assert (await all_of(events))[-1] == "input_required Which ones?"
        async with stream(here, "SubscribeToTask", {"id": task}) as events:
            assert told(await anext(events)) == "input_required Which ones?"
            await send(here, "m2", text="all", taskId=task, wait=False)
            assert (await all_of(events))[-1] == "completed"


async def test_nobody_subscribes_to_what_has_ended(world: MakeWorld) -> None:
    async with world(done()) as here:
        task = (await send(here, "m1"))["task"]["id"]
        headers = {**bearer("operator"), "A2A-Version": "1.0"}
        async with httpx.AsyncClient(headers=headers) as client:
            refused = await client.post(f"{here.url}/tasks/{task}:subscribe")
    assert refused.status_code == 400
    assert refused.json()["error"]["details"][0]["reason"] == "UNSUPPORTED_OPERATION"


async def test_many_steps_come_whole_and_in_order(fleet: Store) -> None:
    door = FleetDoor(store=fleet, settings=EIGHT)
    found = await fleet.write(giving.give, "coder", Given(message_id="m", text="x"), THE_OPERATOR)
    claimed = await fleet.write(working.claim, "coder", "run", lease_s=600)
    assert claimed is not None
    words = [f"step {number}" for number in range(250)]
    for word in words:
        await fleet.write(working.progress, "coder", claimed[1], word)
    await fleet.write(working.finish, "coder", claimed[1], "done")
    async with asyncio.timeout(20):
        heard = [step async for step in following.steps(door, found, THE_OPERATOR, pause_ends=False)]
    door.news.close()
    assert [step.said for step in heard if step.said] == words
    assert heard[-1].phase == "completed"
