"""Work that nobody is able to take waits, and the operator is told once (A1a)."""

from __future__ import annotations

from covey.agents import breaking, living
from covey.agents.model import THE_OPERATOR
from covey.healing import incidents, unable
from covey.messages import reading as mail
from covey.reports.why import why
from covey.store import Store
from tests.conftest import ManualClock
from tests.healing.test_breakers import add
from tests.healing.test_refusals import refuse
from tests.reports.acting import PID, awake
from tests.rules import rule


async def beat(fleet: Store) -> None:
    for number in range(8):
        name = ("chief", "coder", "sales", "finance", "intel", "devops", "comms", "ops")[number]
        await fleet.write(living.beat, name, pid=PID + number)


@rule("A1a", "H6")
async def test_nobody_able_is_told_once_and_is_over_when_somebody_is(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    task = await add(fleet, None, capability="test")
    await add(fleet, None, capability="research")
    onlooker = unable.Onlooker(fleet, lambda: 60.0)
    clock.at += 61
    await beat(fleet)
    assert await fleet.read(unable.unable, 60.0) == [], "coder can test, and is well"
    await fleet.write(living.pause, "coder", THE_OPERATOR)
    for _ in range(5):
        await onlooker.one_round()
    (incident,) = await fleet.read(incidents.open_of, "", "nobody_able")
    assert incident.subject == "global:test"
    told = [each for each in (await fleet.read(mail.inbox, "operator")).items if each.type == "alert"]
    assert len(told) == 1
    assert "needs the capability test" in told[0].body
    assert "Nobody is able to take it now: coder is paused." in (await fleet.read(why, task.task_id)).sentence
    await fleet.write(living.resume, "coder", THE_OPERATOR)
    await onlooker.one_round()
    assert (await fleet.read(incidents.find, incident.incident_id)).outcome == "able"


@rule("A1a")
async def test_a_fleet_that_comes_up_alarms_nobody_and_silence_and_breakers_count(fleet: Store, clock: ManualClock) -> None:
    await add(fleet, None, capability="test", priority="urgent")
    clock.at += 3600
    onlooker = unable.Onlooker(fleet, lambda: 60.0)
    for _ in range(2):
        await onlooker.one_round()
    assert await fleet.read(unable.unable, 60.0) == ["urgent:test"]
    assert await fleet.read(incidents.open_of, "") == []
    await awake(fleet)
    for _ in range(3):
        await onlooker.one_round()
    assert await fleet.read(incidents.open_of, "") == []
    for number in range(3):
        await fleet.write(breaking.failed, "coder", f"task_{number}", "down")
    assert await fleet.read(unable.unable, 60.0) == ["urgent:test"]
    clock.at += 60
    assert await fleet.read(unable.unable, 61.0) == [], "half-open, one is let through"


@rule("A1a")
async def test_work_that_the_able_ones_have_refused_counts_as_work_that_nobody_is_able_to_do(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    await add(fleet, None, capability="review")
    await fleet.write(living.pause, "coder", THE_OPERATOR)
    assert await refuse(fleet, "chief") == "queued"
    clock.at += 61
    await beat(fleet)
    assert await fleet.read(unable.unable, 60.0) == ["global:review"]
    await fleet.write(living.resume, "coder", THE_OPERATOR)
    assert await fleet.read(unable.unable, 60.0) == []
