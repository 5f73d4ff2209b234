"""What was done, from records: a day's work, failures, traffic, costs, dead letters, events."""

from __future__ import annotations

import pytest

from covey.agents.model import THE_OPERATOR
from covey.messages import handling
from covey.reports import history
from covey.reports.metrics import DAY_S
from covey.store import Store
from covey.tasks import changing, runs, working
from tests.conftest import ManualClock
from tests.reports.acting import add, awake, claim_mail, send, take


async def test_productivity_counts_each_day_and_each_agent(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    await add(fleet, "One", "coder")
    _, token = await take(fleet, "coder")
    clock.at += 10
    await fleet.write(working.finish, "coder", token, "ok")
    clock.at += DAY_S
    await add(fleet, "Two", "coder", max_attempts=1)
    _, token = await take(fleet, "coder")
    await fleet.write(working.fail, "coder", token, "no")
    await add(fleet, "Three", "ops", task_id="three")
    await fleet.write(changing.cancel, "three", THE_OPERATOR)
    found = await fleet.read(history.productivity, 3)
    assert [(day["done"], day["failed"], day["cancelled"]) for day in found["days"]] == [(0, 0, 0), (1, 0, 0), (0, 1, 1)]
    assert [day["day"] for day in found["days"]] == ["2027-01-14", "2027-01-15", "2027-01-16"]
    assert found["days"][1]["averageTime"] == pytest.approx(10, abs=0.1)
    assert found["days"][0]["averageTime"] is None
    assert (found["agents"]["coder"]["done"], found["agents"]["coder"]["failed"]) == (1, 1)
    assert (found["total"]["done"], found["total"]["failed"], found["total"]["cancelled"]) == (1, 1, 1)


async def test_failures_come_with_their_errors_the_latest_first(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    for number in (1, 2):
        await add(fleet, f"try {number}", "coder", max_attempts=1)
        _, token = await take(fleet, "coder")
        await fleet.write(working.fail, "coder", token, f"no {number}")
        clock.at += 1
    found = await fleet.read(history.failures)
    assert [(each["description"], each["error"], each["agent"]) for each in found] == [
        ("try 2", "no 2", "coder"),
        ("try 1", "no 1", "coder"),
    ]
    clock.at += 8 * DAY_S
    assert await fleet.read(history.failures) == []


async def test_traffic_is_counted_by_pair(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    ident = await send(fleet, "sales", "finance", "What is the floor?", requires_response=True)
    await send(fleet, "sales", "coder", "hello")
    claimed = await claim_mail(fleet, "finance")
    await send(fleet, "finance", "sales", "ten", in_reply_to=ident)
    await fleet.write(handling.close, "finance", claimed.token)
    found = await fleet.read(history.traffic)
    assert (found["copies"], found["handled"], found["questions"], found["answered"]) == (3, 1, 1, 1)
    assert found["sent"] == {"sales": 2, "finance": 1}
    assert {(pair["from"], pair["to"]) for pair in found["pairs"]} == {("sales", "finance"), ("sales", "coder"), ("finance", "sales")}
    clock.at += 2 * DAY_S
    assert (await fleet.read(history.traffic))["copies"] == 0


async def test_open_questions_are_listed_until_they_are_answered(fleet: Store) -> None:
    await awake(fleet)
    ident = await send(fleet, "sales", "finance", "What is the floor?", requires_response=True)
    found = await fleet.read(history.open_questions)
    assert [(each["from"], each["to"], each["messageId"], each["topic"]) for each in found] == [
        ("sales", "finance", ident, "What is the floor?")
    ]
    assert len(await fleet.read(history.open_questions, "finance")) == 1
    assert await fleet.read(history.open_questions, "coder") == []
    await send(fleet, "finance", "sales", "ten", in_reply_to=ident)
    assert await fleet.read(history.open_questions) == []


async def test_costs_are_those_that_brains_recorded(fleet: Store) -> None:
    for number, (agent, usd, outcome) in enumerate([("coder", 0.5, "done"), ("coder", None, "failed"), ("ops", 0.25, "done")]):
        await fleet.write(runs.open_run, f"run_{number}", item="task_1", kind="task", agent=agent, node="n1", attempt=1)
        await fleet.write(runs.close, f"run_{number}", outcome, cost_usd=usd, tokens=100 if usd else None)
    found = await fleet.read(history.costs)
    assert found["total"]["usd"] == 0.75
    assert (found["total"]["runs"], found["total"]["priced"], found["total"]["failed"], found["total"]["tokens"]) == (3, 2, 1, 200)
    assert found["agents"]["coder"]["usd"] == 0.5


async def test_dead_letters_are_counted_by_receiver_and_reason(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    ident = await send(fleet, "operator", "coder", "too hard")
    for _ in range(5):
        claimed = await claim_mail(fleet, "coder")
        await fleet.write(handling.failed, "coder", claimed.token, "no idea")
        clock.at += 61
    found = await fleet.read(history.dead_letters)
    assert (found["letters"], found["receivers"], found["reasons"]) == (1, {"coder": 1}, {"no idea": 1})
    assert found["latest"][0]["messageId"] == ident


async def test_events_are_counted_by_kind(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    await send(fleet, "operator", "coder", "hello")
    await send(fleet, "operator", "coder", "hello again")
    kinds = (await fleet.read(history.happened))["kinds"]
    assert (kinds["message.sent"], kinds["agent.started"]) == (2, 8)
    clock.at += 2 * DAY_S
    assert (await fleet.read(history.happened))["kinds"] == {}
