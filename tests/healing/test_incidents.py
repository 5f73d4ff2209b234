"""Incidents: opened once for each agent, kind and subject, told step by step, ended with an outcome (H2)."""

from __future__ import annotations

import asyncio

from covey.healing import incidents, reading, retention
from covey.messages import reading as mail
from covey.store import Store, events
from tests.conftest import ManualClock
from tests.rules import rule


async def told(fleet: Store, name: str) -> list[str]:
    return [event.kind for event in await fleet.read(events.of_agent, name)][::-1]


@rule("H2")
async def test_an_incident_has_an_id_a_cause_steps_with_times_and_an_end(fleet: Store, clock: ManualClock) -> None:
    ident = await fleet.write(incidents.open_incident, "coder", "heartbeat_stale", "no heartbeat for 61 s", data={"silent_s": 61})
    clock.at += 2
    await fleet.write(incidents.step, ident, "restart", "its node was asked to restart it")
    clock.at += 3
    await fleet.write(incidents.end_incident, ident, "cured", "it beats again")
    found = await fleet.read(incidents.find, ident)
    assert ident.startswith("inc_")
    assert (found.agent, found.kind, found.cause, found.data) == ("coder", "heartbeat_stale", "no heartbeat for 61 s", {"silent_s": 61})
    assert [(each.at - found.opened_at, each.action) for each in found.steps] == [(2.0, "restart"), (5.0, "cured")]
    assert (found.cured_in_s, found.outcome) == (5.0, "cured")
    assert await told(fleet, "coder") == ["agent.added", "incident.opened", "incident.step", "incident.ended"]


@rule("H2")
async def test_an_open_incident_is_not_doubled_and_a_new_one_can_follow_its_end(fleet: Store) -> None:
    first = await fleet.write(incidents.open_incident, "coder", "task_timeout", "too long", subject="task_1")
    assert await fleet.write(incidents.open_incident, "coder", "task_timeout", "still too long", subject="task_1") == first
    other = await fleet.write(incidents.open_incident, "coder", "task_timeout", "too long", subject="task_2")
    assert [each.incident_id for each in await fleet.read(incidents.open_of, "coder")] == [first, other]
    await fleet.write(incidents.end_incident, first, "cured", "it was done")
    await fleet.write(incidents.step, first, "late", "nothing is added to what has ended")
    await fleet.write(incidents.end_incident, first, "failed", "it stays as it ended")
    assert (await fleet.read(incidents.find, first)).outcome == "cured"
    assert len((await fleet.read(incidents.find, first)).steps) == 1
    assert await fleet.write(incidents.open_incident, "coder", "task_timeout", "again", subject="task_1") not in (first, other)


@rule("H2", "H7")
async def test_an_incident_that_needs_a_person_calls_the_operator_and_the_lead_once(fleet: Store) -> None:
    for _ in range(2):
        await fleet.write(incidents.open_incident, "coder", "crash_loop", "five restarts in ten minutes")
    await fleet.write(incidents.open_incident, "coder", "hung", "its event loop stands still")
    for who in ("operator", "chief"):
        inbox = (await fleet.read(mail.inbox, who)).items
        assert [each.type for each in inbox] == ["alert"], who
        assert "five restarts in ten minutes" in inbox[0].content["body"]
        assert "covey resume coder" in inbox[0].content["body"]


@rule("H2")
async def test_a_person_is_called_to_any_open_incident_once_and_to_none_that_has_ended(fleet: Store) -> None:
    ident = await fleet.write(incidents.open_incident, "chief", "hung", "silent")
    for _ in range(2):
        await fleet.write(incidents.call_person, ident)
    (told,) = (await fleet.read(mail.inbox, "operator")).items
    assert told.body.startswith("silent")
    assert (await fleet.read(mail.inbox, "chief")).items == [], "who is concerned is not told of itself"
    over = await fleet.write(incidents.open_incident, "ops", "hung", "silent")
    await fleet.write(incidents.end_incident, over, "back", "it serves")
    await fleet.write(incidents.call_person, over)
    assert len((await fleet.read(mail.inbox, "operator")).items) == 1


@rule("H2")
async def test_what_ended_long_ago_goes_with_its_steps_and_what_is_open_stays(fleet: Store, clock: ManualClock) -> None:
    old = await fleet.write(incidents.open_incident, "coder", "hung", "old", subject="a")
    still = await fleet.write(incidents.open_incident, "coder", "hung", "open", subject="b")
    await fleet.write(incidents.end_incident, old, "back", "it serves")
    clock.at += 1000
    new = await fleet.write(incidents.open_incident, "coder", "hung", "new", subject="a")
    await fleet.write(incidents.end_incident, new, "back", "it serves")
    gone = await fleet.write(retention.prune, older_s=500.0, limit=1)
    assert (gone.deleted, gone.after) == (1, 0)
    assert await fleet.write(retention.prune, older_s=500.0, limit=1) == (0, None)
    left = (await fleet.read(reading.page)).items
    assert [(each.incident_id, len(each.steps)) for each in left] == [(new, 1), (still, 0)]
    assert await fleet.read(lambda tx: tx.all(incidents.STEPS_OF, incident_id=old)) == []


@rule("H2", "L8")
async def test_of_many_that_open_the_same_incident_at_once_one_does(pair: tuple[Store, Store]) -> None:
    found = await asyncio.gather(
        *(pair[each % 2].write(incidents.opened, "coder", "crash_loop", f"seen by {each}", subject="x") for each in range(16))
    )
    assert len({ident for ident, _ in found}) == 1
    assert sum(new for _, new in found) == 1
    assert len((await pair[0].read(mail.inbox, "operator")).items) == 1
