"""Waiting for news: woken by the bell or by a look each second, one query however many wait, none while nobody does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from covey.agents import living
from covey.agents.model import THE_OPERATOR
from covey.base.errors import StoreUnavailable
from covey.doors import news
from covey.doors.news import News, first_of
from covey.store import Store, events
from covey.store.bell import GATEWAY_NEWS
from covey.store.events import START, Bookmark
from tests.api.world import until
from tests.rules import rule

BOUND_S = 10.0


@pytest.fixture
async def heard(fleet: Store) -> AsyncIterator[News]:
    found = News(fleet)
    yield found
    found.close()


async def last(store: Store) -> Bookmark:
    return await store.read(events.last)


async def pause(store: Store) -> None:
    await store.write(living.pause, "coder", THE_OPERATOR)


async def in_time(waiting: Any) -> None:
    async with asyncio.timeout(BOUND_S):
        await waiting


async def test_what_has_happened_already_is_not_waited_for(fleet: Store, heard: News) -> None:
    await in_time(heard.beyond(START))


@rule("M4b")
async def test_everybody_who_waits_is_woken_by_what_happens(fleet: Store, heard: News) -> None:
    at = await last(fleet)
    waiting = [asyncio.create_task(heard.beyond(at)) for _ in range(5)]
    await until(lambda: heard.awaited == 5, "five who wait")
    assert not any(task.done() for task in waiting)
    await pause(fleet)
    await in_time(asyncio.gather(*waiting))
    assert heard.awaited == 0


@rule("M4b")
async def test_a_lost_bell_is_made_good_by_the_next_look(fleet: Store, heard: News, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(news, "LOOK_S", 0.02)

    def deaf(name: str, hint: Callable[[], None]) -> Callable[[], None]:
        raise OSError("no socket for you")

    monkeypatch.setattr(fleet.bell, "listen", deaf)
    waiting = asyncio.create_task(heard.beyond(await last(fleet)))
    await until(lambda: heard.awaited == 1, "one who waits")
    await pause(fleet)
    await in_time(waiting)


async def test_however_many_wait_one_looks_and_nobody_when_none_does(fleet: Store, heard: News, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(news, "LOOK_S", 0.02)
    looks = 0
    read = fleet.read

    async def counted(verb: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal looks
        looks += verb is events.last
        return await read(verb, *args, **kwargs)

    at = await last(fleet)
    monkeypatch.setattr(fleet, "read", counted)
    waiting = [asyncio.create_task(heard.beyond(at)) for _ in range(20)]
    await until(lambda: looks >= 3, "three looks")
    assert looks < 20
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    await until(lambda: heard._looking is not None and heard._looking.done(), "the end of the looks")
    before = looks
    await pause(fleet)
    assert looks == before


async def test_a_store_that_cannot_be_read_for_a_while_is_looked_at_again(
    fleet: Store, heard: News, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(news, "LOOK_S", 0.02)
    read, failures = fleet.read, 0

    async def broken(*args: Any, **kwargs: Any) -> Any:
        nonlocal failures
        failures += 1
        if failures < 4:
            raise StoreUnavailable("away")
        return await read(*args, **kwargs)

    at = await last(fleet)
    monkeypatch.setattr(fleet, "read", broken)
    await pause(fleet)
    await in_time(heard.beyond(at))
    assert failures >= 4


async def test_the_first_of_several_waits_ends_them_all() -> None:
    ended: list[str] = []

    async def wait(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    await in_time(first_of(wait("a"), asyncio.sleep(0), wait("b"), timeout_s=60))
    assert sorted(ended) == ["a", "b"]
    await in_time(first_of(wait("c"), timeout_s=0.01))
    assert ended[-1] == "c"


async def test_the_api_and_the_gateway_hear_the_same_bell(fleet: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes of one machine: the later one must not make the earlier one deaf."""
    monkeypatch.setattr(news, "LOOK_S", 60.0)
    both = [News(fleet), News(fleet, GATEWAY_NEWS)]
    try:
        at = await last(fleet)
        waits = [asyncio.create_task(each.beyond(at)) for each in both]
        await until(lambda: all(each.awaited for each in both), "both wait")
        await pause(fleet)
        await in_time(asyncio.gather(*waits))
    finally:
        for each in both:
            each.close()
