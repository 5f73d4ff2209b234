"""The story of a breaker and of a poisonous task, through the verbs that settle turns and free the dead (H2, H6, H7a)."""

from __future__ import annotations

from typing import Any

from covey.agents import living
from covey.agents.breaker import OPEN_S
from covey.agents.model import THE_OPERATOR
from covey.brains.model import Outcome, failure
from covey.healing import incidents, quarantine
from covey.messages import reading as mail
from covey.messages import sending
from covey.messages.model import draft
from covey.runner import holding, settling, taking
from covey.runner.work import Lane, Limits, Work
from covey.store import Store, events
from covey.tasks import adding, reading
from covey.tasks.model import Task, TaskDraft
from tests.conftest import ManualClock
from tests.reports.acting import EIGHT, PID, awake
from tests.rules import rule

LIMITS = Limits(lease_s=60.0, digest_s=900.0, wait_s=3600.0, hard_cap_s=86400.0, max_context=8192)


async def add(store: Store, agent: str | None = "coder", **words: Any) -> Task:
    return await store.write(adding.add, TaskDraft(**({"description": "Audit the codebase", "agent": agent} | words)), THE_OPERATOR)


async def take(store: Store, agent: str = "coder", lane: Lane = "task") -> Work | None:
    return await store.write(taking.take, agent, lane, "n1", PID + EIGHT.index(agent), LIMITS)


async def turn(store: Store, outcome: Outcome, agent: str = "coder", lane: Lane = "task") -> Work:
    work = await take(store, agent, lane)
    assert work is not None
    await store.write(settling.settle, work, outcome, LIMITS, PID + EIGHT.index(agent))
    return work


async def story(store: Store, agent: str, kind: str) -> list[tuple[str, str]]:
    return [
        (event.kind, event.data.get("action", event.data.get("outcome", "")))
        for event in (await store.read(events.of_agent, agent))[::-1]
        if event.kind.startswith("incident.") and event.data["incident"] == kind
    ]


@rule("H6", "H2")
async def test_a_breaker_tells_its_story_and_its_work_finds_who_is_able_until_it_is_closed(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    for _ in range(3):
        await add(fleet, max_attempts=1)
        await turn(fleet, failure("the model's server is down"))
    assert await story(fleet, "coder", "breaker_open") == [("incident.opened", ""), ("incident.step", "held")]
    clock.at += OPEN_S
    await fleet.write(living.beat, "coder", pid=PID + 1)
    await add(fleet, max_attempts=1)
    await turn(fleet, failure("still down"))
    clock.at += OPEN_S
    await fleet.write(sending.send, draft("coder", "are you well?"), THE_OPERATOR)
    await turn(fleet, Outcome(summary="I am"), lane="mail")
    (opened, *steps, ended) = await story(fleet, "coder", "breaker_open")
    assert (opened, ended) == (("incident.opened", ""), ("incident.ended", "cured"))
    assert [action for _, action in steps] == ["held", "held"]
    assert await fleet.read(incidents.open_of, "coder") == []


@rule("H6", "A1a")
async def test_own_work_with_a_capability_goes_to_who_is_able_and_comes_back_if_nobody_began_it(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    mine = await add(fleet, description="Report the status of all agents")
    for _ in range(2):
        await add(fleet, max_attempts=1, priority="urgent")
        await turn(fleet, failure("down"))
    shared = await add(fleet, description="Report the status of all agents", capability="review")
    await add(fleet, max_attempts=1, priority="urgent")
    await turn(fleet, failure("down"))
    assert (await fleet.read(reading.show, shared.task_id)).agent == "chief", "the only other one who can review"
    assert (await fleet.read(reading.show, mine.task_id)).agent == "coder", "what is meant for coder itself waits"
    (incident,) = await fleet.read(incidents.open_of, "coder", "breaker_open")
    assert [each.action for each in incident.steps] == ["held", "rerouted", "waits"]
    clock.at += OPEN_S
    await turn(fleet, Outcome(summary="reviewed"))
    assert (await fleet.read(reading.show, shared.task_id)).agent == "coder"


@rule("H6", "H2")
async def test_a_brain_that_cannot_start_is_an_incident_with_its_own_words(fleet: Store) -> None:
    await awake(fleet)
    await add(fleet)
    await turn(fleet, failure("the command codex was not found; PATH is /bin.", permanent=True, not_started=True))
    (incident,) = await fleet.read(incidents.open_of, "coder", "breaker_open")
    assert incident.cause == "its brain can't start, at last: the command codex was not found; PATH is /bin."
    assert await take(fleet) is None


@rule("H7a", "H2")
async def test_a_task_that_killed_two_brains_is_quarantined_until_somebody_lets_it_out(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    task = await add(fleet, max_attempts=9)
    for _ in range(2):
        for deaths in range(1, 3):
            clock.at += 70
            await fleet.write(living.beat, "coder", pid=PID + 1)
            assert await take(fleet) is not None
            await fleet.write(holding.lose_all, "coder")
            state = (await fleet.read(reading.show, task.task_id)).state
            assert state == ("queued" if deaths == 1 else "failed")
            await fleet.write(living.acted, "coder")
        (incident,) = await fleet.read(incidents.open_of, "coder", "quarantined")
        assert incident.subject == task.task_id
        await fleet.write(quarantine.retry, task.task_id, THE_OPERATOR)
        found = await fleet.read(incidents.find, incident.incident_id)
        assert (found.outcome, [each.action for each in found.steps]) == ("released", ["failed", "released"])
    told = [each for each in (await fleet.read(mail.inbox, "operator")).items if each.type == "alert"]
    assert [f"covey task retry {task.task_id}" in each.body for each in told] == [True, True]


@rule("H7a")
async def test_a_program_that_is_killed_over_a_task_twice_counts_as_two_brains(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    task = await add(fleet, max_attempts=9)
    for state in ("queued", "failed"):
        await turn(fleet, Outcome(kind="failed", error="the command was ended by SIGSEGV", exit_code=-11))
        assert (await fleet.read(reading.show, task.task_id)).state == state
        clock.at += 20
    (incident,) = await fleet.read(incidents.open_of, "coder", "quarantined")
    assert incident.subject == task.task_id
