"""Idempotency-Key: done once, answered alike, in the transaction of the effect; on both databases."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import httpx
import pytest

from covey.agents import configuring, living
from covey.agents.model import THE_OPERATOR
from covey.messages import reading
from covey.store import Store, Transaction, answered
from covey.tasks import reading as tasks
from tests.api.world import World, bearer, problem_of
from tests.conftest import Database, ManualClock, opened
from tests.links.conftest import LIMITED
from tests.rules import rule

DAY = 86_400.0


async def add(world: World, key: str, *, who: str = "chief", **fields: Any) -> httpx.Response:
    body = {"description": "review"} | fields
    return await world.fleet.post("/api/v1/tasks", json=body, headers={"Idempotency-Key": key, **bearer(who)})


@rule("T3")
async def test_the_same_request_under_the_same_key_is_done_once(world: World) -> None:
    first = await add(world, "k1")
    again = await add(world, "k1")
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert len((await world.store.read(tasks.listed)).items) == 1


async def test_of_many_at_once_one_is_done_and_all_are_answered_alike(world: World) -> None:
    answers = await asyncio.gather(*(add(world, "k1") for _ in range(24)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["taskId"] for answer in answers}) == 1
    assert len((await world.store.read(tasks.listed)).items) == 1


async def test_two_processes_under_one_key_do_it_once(fleet: Store, database: Database, clock: ManualClock, tmp_path: Any) -> None:
    ran: list[str] = []

    def verb(tx: Transaction, who: str) -> str:
        ran.append(who)
        tx.happened("test.done", subject=who)
        return who

    def given(result: str) -> answered.Given:
        return answered.Given(200, result)

    request = answered.Request("chief", "k1", "digest")
    async with opened(database, tmp_path / "other", clock) as other:
        stores = [fleet, other] * 10
        found = await asyncio.gather(*(store.write(answered.once, request, given, verb, f"{n}") for n, store in enumerate(stores)))
    assert len({each.body for each in found}) == 1
    assert sum(not each.replayed for each in found) == 1


async def test_another_request_under_a_used_key_is_refused(world: World) -> None:
    await add(world, "k1")
    for other in (await add(world, "k1", description="another"), await world.fleet.post(
        "/api/v1/messages", json={"to": "coder", "content": {"body": "x"}}, headers={"Idempotency-Key": "k1", **bearer("chief")}
    )):  # fmt: skip
        assert (other.status_code, problem_of(other)["field"]) == (409, "Idempotency-Key")
    assert len((await world.store.read(tasks.listed)).items) == 1
    assert await world.store.read(reading.latest) == []


async def test_a_key_is_its_callers_own(world: World) -> None:
    first, other = await add(world, "k1", who="chief"), await add(world, "k1", who="sales")
    assert other.status_code == 201
    assert other.json()["taskId"] != first.json()["taskId"]


async def test_what_was_refused_may_be_tried_again_under_its_key(world: World) -> None:
    task = (await add(world, "k0")).json()["taskId"]
    path, headers = f"/api/v1/tasks/{task}/retry", {"Idempotency-Key": "k1", **bearer("chief")}
    assert (await world.fleet.post(path, headers=headers)).status_code == 409
    await world.fleet.post(f"/api/v1/tasks/{task}/cancel", headers=bearer("chief"))
    refused = await world.fleet.post(path, headers=headers)
    assert problem_of(refused)["code"] == "illegal_move"


@rule("L13", "M10")
async def test_a_send_that_was_refused_is_answered_as_without_a_key_and_may_be_tried_again_under_it(
    world: World, clock: ManualClock
) -> None:
    await world.store.write(configuring.configure, LIMITED)
    say = partial(world.agent.post, "/message")
    assert (await say(json={"content": {"body": "one"}}, headers=bearer("chief"))).status_code == 201
    plain, keyed = [
        await say(json={"content": {"body": "two"}}, headers={**more, **bearer("chief")}) for more in ({}, {"Idempotency-Key": "k1"})
    ]
    assert (problem_of(keyed)["code"], keyed.status_code) == ("debounced", 429)
    for header in ("content-type", "retry-after"):
        assert keyed.headers[header] == plain.headers[header]
    clock.at += 5
    later = await say(json={"content": {"body": "two"}}, headers={"Idempotency-Key": "k1", **bearer("chief")})
    assert (later.status_code, later.json()["status"]) == (201, "delivered")
    assert len(await world.store.read(reading.latest)) == 2


async def test_a_key_stands_for_seven_days(world: World, clock: ManualClock) -> None:
    first = await add(world, "k1")
    clock.at += 7 * DAY - 1
    assert (await add(world, "k1")).json()["taskId"] == first.json()["taskId"]
    clock.at += 2
    assert (await add(world, "k1")).json()["taskId"] != first.json()["taskId"]


async def test_old_answers_are_deleted_in_batches(world: World, clock: ManualClock) -> None:
    for n in range(3):
        await add(world, f"k{n}")
    assert await world.store.write(answered.prune) == 0
    clock.at += 8 * DAY
    assert [await world.store.write(answered.prune, 2) for _ in range(3)] == [2, 1, 0]


@pytest.mark.parametrize("key", ["", "a b", "x" * 129, "é"])
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_a_key_of_the_wrong_form_is_refused(world: World, key: str) -> None:
    headers = {"Idempotency-Key": key.encode("latin-1"), **{k: v.encode() for k, v in bearer("chief").items()}}
    answer = await world.fleet.post("/api/v1/tasks", json={"description": "x"}, headers=headers)  # type: ignore[arg-type]
    assert (answer.status_code, problem_of(answer)["field"]) == (400, "Idempotency-Key")
    assert (await world.store.read(tasks.listed)).items == []


@rule("M5")
async def test_a_held_receipt_is_replayed_as_it_was(world: World) -> None:
    await world.store.write(living.pause, "coder", THE_OPERATOR)
    headers = {"Idempotency-Key": "k1", **bearer("chief")}
    first = await world.agent.post("/message", json={"content": {"body": "x"}}, headers=headers)
    await world.store.write(living.resume, "coder", THE_OPERATOR)
    again = await world.agent.post("/message", json={"content": {"body": "x"}}, headers=headers)
    assert (first.status_code, again.status_code) == (202, 202)
    assert again.json() == first.json()
