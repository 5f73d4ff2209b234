"""`why` of an agent: its status, the fact behind it, what it does and waits for. And of ids that nothing has."""

from __future__ import annotations

import pytest

from covey.agents import configuring, living
from covey.agents.model import THE_OPERATOR
from covey.base.errors import NotFound
from covey.base.settings import AgentSettings, BrainSettings, Settings
from covey.reports.why import near, why
from covey.store import Store
from covey.tasks import working
from tests.conftest import ManualClock
from tests.reports.acting import PID, add, awake, send, take
from tests.rules import rule


async def said(store: Store, name: str) -> str:
    found = await store.read(why, name)
    assert found.kind == "agent"
    return found.sentence


@rule("K8", "A3")
async def test_an_agents_status_comes_with_the_fact_behind_it(fleet: Store, clock: ManualClock) -> None:
    assert "The agent coder is stalled: it has no process; it has never sent a heartbeat." in await said(fleet, "coder")
    await awake(fleet)
    assert "The agent coder is idle: it has had nothing to do." in await said(fleet, "coder")
    task = await add(fleet, "Count", "coder")
    assert "The agent coder is active: work is ready for it." in await said(fleet, "coder")
    _, token = await take(fleet, "coder")
    assert f"The agent coder is busy: its brain is at the task {task.task_id}." in await said(fleet, "coder")
    await fleet.write(working.progress, "coder", token, "half")
    assert "last progress" in await said(fleet, "coder")
    await fleet.write(working.fail, "coder", token, "no", permanent=True)
    assert "The agent coder is active: it finished something" in await said(fleet, "coder")
    assert "Its brain failed on the last thing it was given." in await said(fleet, "coder")
    clock.at += 61
    assert f"The agent coder is stalled: its process {PID + 1} is silent; the last heartbeat came 1 min 1 s ago" in await said(
        fleet, "coder"
    )
    await fleet.write(living.give_up, "coder", "five restarts in ten minutes")
    assert "The agent coder is error: its restarts were given up" in await said(fleet, "coder")


@rule("K8", "A7")
async def test_a_stop_and_a_pause_say_since_when_why_and_how_they_end(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    await fleet.write(living.pause, "coder", THE_OPERATOR, "lunch")
    clock.at += 20
    assert "It was paused 20 s ago" in await said(fleet, "coder")
    assert "(lunch) and takes nothing until `covey resume coder`." in await said(fleet, "coder")
    await fleet.write(living.stop, "coder", THE_OPERATOR, "fire")
    assert "It was stopped" in await said(fleet, "coder")


@rule("K8")
async def test_an_agent_says_what_waits_for_it_and_for_whom_it_waits(fleet: Store) -> None:
    await awake(fleet)
    ident = await send(fleet, "sales", "finance", "What is the floor?", requires_response=True)
    await add(fleet, "Later", "sales", approval=True, task_id="later")
    await send(fleet, "operator", "sales", "look")
    text = await said(fleet, "sales")
    assert f"It waits for an answer from finance (to {ident}, until" in text
    assert "In its queue 1 task waits, in its mailbox 1 message waits." in text
    assert "Of its tasks, later is blocked." in text
    facts = (await fleet.read(why, "sales")).facts
    assert facts["waits"][0]["for"] == "finance"
    assert facts["blockedTasks"] == ["later"]


@rule("K8", "A5b")
async def test_an_agent_that_is_away_or_gone_says_so(store: Store) -> None:
    outside = AgentSettings(id="claude", port=8001, brain=BrainSettings(kind="external"))
    await store.write(configuring.configure, Settings(agents=(outside, AgentSettings(id="b", port=8002))))
    assert "It is away: it was never seen, and is expected each 1 h" in await said(store, "claude")
    await store.write(configuring.configure, Settings(agents=(outside,)))
    assert "The agent b was removed from the fleet" in await said(store, "b")


@rule("K8", "M4c")
async def test_an_id_that_nothing_has_is_refused_with_the_nearest(fleet: Store) -> None:
    task = await add(fleet, "Count", "coder")
    with pytest.raises(NotFound, match="Did you mean coder") as refused:
        await fleet.read(why, "codr")
    assert refused.value.details["nearest"][0] == "coder"
    with pytest.raises(NotFound) as refused:
        await fleet.read(why, task.task_id[:-3] + "zzz")
    assert refused.value.details["nearest"] == [task.task_id]
    with pytest.raises(NotFound, match="list ids"):
        await fleet.read(why, "?" * 3000)


@rule("K8")
async def test_what_is_past_its_retention_is_known_by_its_last_event(fleet: Store) -> None:
    await fleet.write(lambda tx: tx.happened("message.handled", agent="coder", subject="msg_old"))
    with pytest.raises(NotFound, match=r"Its last event is message\.handled, 0.* s ago .*past its retention"):
        await fleet.read(why, "msg_old")


@rule("K8")
async def test_a_thread_or_a_link_is_not_said_to_be_past_its_retention(fleet: Store) -> None:
    await fleet.write(lambda tx: tx.happened("thread.paused", agent="coder", subject="dm:chief:coder"))
    with pytest.raises(NotFound, match=r"Its last event is thread\.paused, [^;]*\.$"):
        await fleet.read(why, "dm:chief:coder")


def test_near_ids_begin_alike_or_are_spelt_alike() -> None:
    names = ["coder", "comms", "task_0192aa", "task_0192ab", "build-1"]
    assert near("task_0192aX", names) == ["task_0192aa", "task_0192ab"]
    assert near("biuld-1", names) == ["build-1"]
    assert near("", names) == []
    assert near("nothing like it", names) == []
