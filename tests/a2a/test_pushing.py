"""Pushes of A2A: kept with the task, told in order and at least once, and never to where they must not go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from covey.a2a import pushing as a2a_pushing
from covey.agents.model import THE_OPERATOR, as_agent
from covey.exchanges import giving, pushing
from covey.exchanges.model import Given
from covey.exchanges.pushing import ATTEMPTS, Push
from covey.store import Store
from tests.a2a.conftest import MakeWorld
from tests.a2a.test_giving import asking, message, send
from tests.a2a.test_streaming import told
from tests.a2a.world import _free, call, served
from tests.api.world import bearer
from tests.conftest import ManualClock
from tests.runner.office import done, until

OPERATOR = bearer("operator")


class Place:
    """A place that is pushed to; it refuses the first `fails` times."""

    def __init__(self, fails: int = 0, *, dribbles: bool = False) -> None:
        self.got: list[tuple[dict[str, Any], dict[str, str]]] = []
        self.fails = fails
        self.dribbles = dribbles
        self.called = asyncio.Event()
        self.port = _free()
        self.url = f"http://127.0.0.1:{self.port}/hook"
        self._more = asyncio.Event()

    async def take(self, request: Request) -> Response:
        self.called.set()
        if self.dribbles:
            return StreamingResponse(dribble())
        if self.fails:
            self.fails -= 1
            return Response(status_code=503)
        self.got.append((await request.json(), dict(request.headers)))
        self._more.set()
        return Response(status_code=204)

    async def has(self, last: str) -> list[str]:
        """What it was told, once that step was the last."""
        async with asyncio.timeout(20):
            while not self.got or "task" in self.got[-1][0] or told(self.got[-1][0]) != last:
                self._more.clear()
                await self._more.wait()
        return [told(body) for body, _ in self.got]


async def dribble() -> AsyncIterator[bytes]:
    """A body without an end, each byte of which comes in time."""
    while True:
        yield b"."
        await asyncio.sleep(0.05)


@asynccontextmanager
async def place(fails: int = 0, *, dribbles: bool = False) -> AsyncIterator[Place]:
    found = Place(fails, dribbles=dribbles)
    async with served(Starlette(routes=[Route("/hook", found.take, methods=["POST"])]), found.port):
        yield found


async def test_news_goes_to_the_place_that_came_with_the_message(world: MakeWorld) -> None:
    async with place() as there, world(asking()) as here:
        config = {"url": there.url, "token": "mine", "authentication": {"scheme": "Bearer", "credentials": "secret"}}
        params = message("m1") | {"configuration": {"taskPushNotificationConfig": config}}
        task = (await call(here.url, "SendMessage", params, headers=OPERATOR))["result"]["task"]["id"]
        await send(here, "m2", text="all", taskId=task)
        said = await there.has("completed")
    body, headers = there.got[0]
    assert body["task"]["id"] == task
    assert headers["authorization"] == "Bearer secret"
    assert headers["x-a2a-notification-token"] == "mine"
    assert [step for step in said if step not in ("working", "submitted")][:-1][-2:] == ["input_required Which ones?", "artifact result"]


async def test_a_place_that_fails_is_tried_again_and_misses_nothing(world: MakeWorld) -> None:
    async with place(fails=1) as there, world(done()) as here:
        params = message("m1") | {"configuration": {"taskPushNotificationConfig": {"url": there.url}}}
        await call(here.url, "SendMessage", params, headers=OPERATOR)
        said = await there.has("completed")
    assert "task" in there.got[0][0]
    assert said[-2:] == ["artifact result", "completed"]


async def test_places_are_made_read_listed_and_removed_as_often_as_you_like(world: MakeWorld) -> None:
    async with world(done()) as here:
        task = (await send(here, "m1"))["task"]["id"]

        async def ask(method: str, **params: Any) -> dict[str, Any]:
            return await call(here.url, f"{method}TaskPushNotificationConfig{'s' if method == 'List' else ''}", params, headers=OPERATOR)

        for ident in ("b", "a"):
            await ask("Create", taskId=task, id=ident, url="https://example.org/", authentication={"scheme": "Basic", "credentials": "x"})
        shown = (await ask("Get", taskId=task, id="a"))["result"]
        listed = (await ask("List", taskId=task))["result"]["configs"]
        of_another = await call(here.url, "ListTaskPushNotificationConfigs", {"taskId": task}, headers=bearer("chief"))
        gone = [await ask("Delete", taskId=task, id="a") for _ in range(2)]
        missing = await ask("Get", taskId=task, id="a")
    assert (shown["url"], shown["authentication"]) == ("https://example.org/", {"scheme": "Basic"})
    assert [each["id"] for each in listed] == ["a", "b"]
    assert of_another["error"]["code"] == -32001
    assert all("error" not in each for each in gone)
    assert missing["error"]["code"] == -32001


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://10.0.0.7/",
        "http://[::1]:8000/api/v1/tasks",
        "http://[::ffff:127.0.0.1]/",
        "http://localhost/",
        "ftp://example.org/",
        "http://user:password@example.org/",
        "nonsense",
    ],
)
async def test_a_place_inside_the_private_network_is_refused(world: MakeWorld, url: str) -> None:
    async with world(done(), allow_private=()) as here:
        task = (await send(here, "m1"))["task"]["id"]
        made = await call(here.url, "CreateTaskPushNotificationConfig", {"taskId": task, "url": url}, headers=OPERATOR)
        params = message("m2") | {"configuration": {"taskPushNotificationConfig": {"url": url}}}
        inline = await call(here.url, "SendMessage", params, headers=OPERATOR)
        listed = (await call(here.url, "ListTasks", {}, headers=OPERATOR))["result"]["tasks"]
    assert [each["error"]["code"] for each in (made, inline)] == [-32602, -32602]
    assert len(listed) == 1


async def test_headers_can_not_be_smuggled_in(world: MakeWorld) -> None:
    async with world(done()) as here:
        task = (await send(here, "m1"))["task"]["id"]
        for wrong in ({"token": "a\r\nX-Evil: 1"}, {"authentication": {"scheme": "Bearer x", "credentials": "y"}}, {"id": "no good id"}):
            params = {"taskId": task, "url": "https://example.org/", **wrong}
            made = await call(here.url, "CreateTaskPushNotificationConfig", params, headers=OPERATOR)
            assert made["error"]["code"] == -32602, wrong


async def test_a_place_that_never_answers_is_given_up_after_eight_tries(fleet: Store, clock: ManualClock) -> None:
    found = await fleet.write(giving.give, "coder", Given(message_id="m", text="x"), THE_OPERATOR)
    push = Push(found.task.task_id, "p", "https://example.org/", "", "", "", "1.0")
    await fleet.write(pushing.put, "coder", push, THE_OPERATOR, from_start=True)
    for number in range(ATTEMPTS):
        (due,) = await fleet.read(pushing.due)
        assert due.attempts == number
        await fleet.write(pushing.failed, due, "503")
        assert await fleet.read(pushing.due) == []
        clock.at += 61
    assert await fleet.read(pushing.due) == []


async def test_a_place_that_answers_without_an_end_has_failed(world: MakeWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(a2a_pushing, "CALL_S", 0.3)
    async with place(dribbles=True) as there, world(done()) as here:
        params = message("m1") | {"configuration": {"taskPushNotificationConfig": {"url": there.url}}}
        task = (await call(here.url, "SendMessage", params, headers=OPERATOR))["result"]["task"]["id"]

        async def has_failed() -> bool:
            return (await here.store.read(pushing.show, "coder", task, "default", THE_OPERATOR)).attempts > 0

        await until(has_failed)


async def test_a_giver_whose_places_hang_holds_up_no_other_giver(world: MakeWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(a2a_pushing, "OF_ONE", 1)
    monkeypatch.setattr(a2a_pushing, "AT_ONCE", 2)
    async with place(dribbles=True) as hangs, place() as there, world(done()) as here:
        for ident in ("m1", "m2"):
            params = message(ident, text=ident) | {"configuration": {"taskPushNotificationConfig": {"url": hangs.url}}}
            await call(here.url, "SendMessage", params, headers=OPERATOR)
        await hangs.called.wait()
        params = message("m3") | {"configuration": {"taskPushNotificationConfig": {"url": there.url}}}
        await call(here.url, "SendMessage", params, headers=bearer("chief"))
        async with asyncio.timeout(a2a_pushing.CALL_S / 2):
            assert (await there.has("completed"))[-1] == "completed"


async def test_a_giver_with_many_places_crowds_out_no_other_giver(fleet: Store) -> None:
    for giver, ident in ((as_agent("chief"), "a"), (THE_OPERATOR, "b")):
        task = (await fleet.write(giving.give, "coder", Given(message_id=ident, text=ident), giver)).task.task_id
        for number in range(4 if ident == "a" else 1):
            push = Push(task, f"{ident}{number}", "https://example.org/", "", "", "", "1.0")
            await fleet.write(pushing.put, "coder", push, giver, from_start=True)
    found = await fleet.read(pushing.due, 2, 3)
    assert [(each.giver, each.id[0]) for each in found] == [("chief", "a"), ("chief", "a"), ("operator", "b")]
