"""An agent's life in the store: only its own process beats, and its flags are the operator's and the lead's to set."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from covey.agents import living, restarting, roster
from covey.agents.model import THE_OPERATOR, Agent, Caller, Vitals, as_agent
from covey.base.errors import Conflict, Forbidden, Unknown
from covey.store import Store, Transaction, events
from tests.conftest import ManualClock
from tests.rules import rule

FLAGS: list[Callable[[Transaction, str, Caller], None]] = [living.pause, living.stop, living.resume, restarting.ask]


async def arrive(fleet: Store, pid: int = 7, name: str = "coder") -> None:
    await fleet.write(living.arrive, name, node="here", pid=pid, start_ticks=pid * 10, boot_id="a-boot", port=8002)


async def vitals(fleet: Store, name: str = "coder") -> Vitals:
    return await fleet.read(roster.vitals, name)


async def agent(fleet: Store, name: str = "coder") -> Agent:
    return await fleet.read(roster.find, name)


async def told(fleet: Store, name: str = "coder") -> list[str]:
    return [event.kind for event in await fleet.read(events.of_agent, name)][::-1]


@rule("A8")
async def test_only_the_agents_own_process_refreshes_its_heartbeat(fleet: Store, clock: ManualClock) -> None:
    await arrive(fleet, pid=7)
    first = (await vitals(fleet)).heartbeat_at
    clock.at += 15
    with pytest.raises(Conflict, match=r"process 8 is not coder: process 7 is\. End this one\.") as refused:
        await fleet.write(living.beat, "coder", pid=8)
    assert refused.value.details["pid"] == 7
    assert (await vitals(fleet)).heartbeat_at == first
    await fleet.write(living.beat, "coder", pid=7)
    assert (await vitals(fleet)).heartbeat_at == clock.wall()
    assert (await vitals(fleet, "sales")).heartbeat_at is None, "nobody else's is touched"


@rule("A8")
async def test_a_heartbeat_of_an_unknown_agent_is_an_error_and_never_somebody_elses(fleet: Store) -> None:
    await arrive(fleet, pid=7)
    before = await fleet.read(roster.all_vitals)
    with pytest.raises(Unknown, match="no agent 'codr'"):
        await fleet.write(living.beat, "codr", pid=7)
    assert await fleet.read(roster.all_vitals) == before


@rule("A8")
async def test_nothing_that_others_do_looks_like_life(fleet: Store, clock: ManualClock) -> None:
    await arrive(fleet)
    before = (await vitals(fleet)).heartbeat_at
    clock.at += 100
    for verb in (living.pause, living.resume, living.stop):
        await fleet.write(verb, "coder", THE_OPERATOR)
    await fleet.write(living.acted, "coder", tasks=1, task_s=5.0)
    await fleet.write(living.failed_once, "coder", "task_1", "no luck", tasks=1)
    await fleet.write(living.digested, "coder")
    await fleet.write(living.give_up, "coder", "it crashes")
    assert (await vitals(fleet)).heartbeat_at == before


async def test_heartbeats_write_no_event(fleet: Store) -> None:
    await arrive(fleet)
    before = await fleet.read(events.last)
    await fleet.write(living.beat, "coder", pid=7)
    assert await fleet.read(events.last) == before


async def test_a_process_that_comes_after_another_counts_as_a_restart(fleet: Store, clock: ManualClock) -> None:
    await arrive(fleet, pid=7)
    assert (await vitals(fleet)).restarts == 0
    clock.at += 5
    await arrive(fleet, pid=8)
    found = await vitals(fleet)
    assert (found.restarts, found.pid, found.start_ticks, found.node, found.started_at) == (1, 8, 80, "here", clock.wall())
    await fleet.write(living.leave, "coder", pid=7, reason="exit 0")
    assert (await vitals(fleet)).pid == 8, "the end of an earlier one says nothing of the one that is there"
    await fleet.write(living.leave, "coder", pid=8, reason="signal 9")
    assert ((await vitals(fleet)).pid, (await vitals(fleet)).start_ticks) == (None, None)
    assert await told(fleet) == ["agent.added", "agent.started", "agent.started", "agent.ended"]


async def test_an_agent_that_is_not_there_can_not_arrive(fleet: Store) -> None:
    with pytest.raises(Unknown):
        await arrive(fleet, name="nobody")


@rule("A7")
@pytest.mark.parametrize("verb", FLAGS)
async def test_flags_are_set_by_the_operator_and_the_lead_alone(fleet: Store, verb: Callable[[Transaction, str, Caller], None]) -> None:
    before = await agent(fleet)
    with pytest.raises(Forbidden, match="only the operator and the lead may"):
        await fleet.write(verb, "coder", as_agent("sales"))
    with pytest.raises(Forbidden):
        await fleet.write(verb, "coder", as_agent("coder"))
    assert await agent(fleet) == before
    await fleet.write(verb, "coder", as_agent("chief"))
    await fleet.write(verb, "coder", THE_OPERATOR)
    with pytest.raises(Unknown):
        await fleet.write(verb, "nobody", THE_OPERATOR)


@rule("A7")
async def test_a_stopped_agent_takes_no_work_until_it_is_resumed_whatever_else_happens(fleet: Store, clock: ManualClock) -> None:
    await fleet.write(living.stop, "coder", THE_OPERATOR, "smoke")
    stopped_at = clock.wall()
    clock.at += 5
    await arrive(fleet)
    await fleet.write(living.pause, "coder", THE_OPERATOR, "lunch")
    await fleet.write(living.stop, "coder", THE_OPERATOR, "fire")
    found = await agent(fleet)
    assert (found.takes_work, found.stopped_at, found.flag_reason) == (False, stopped_at, "fire")
    await fleet.write(living.resume, "coder", THE_OPERATOR)
    found = await agent(fleet)
    assert (found.takes_work, found.paused_at, found.stopped_at, found.flag_reason) == (True, None, None, None)
    assert await told(fleet) == ["agent.added", "agent.stopped", "agent.started", "agent.paused", "agent.stopped", "agent.resumed"]


@rule("M5")
async def test_a_paused_agent_takes_no_work_until_it_is_resumed(fleet: Store, clock: ManualClock) -> None:
    await fleet.write(living.pause, "coder", as_agent("chief"))
    found = await agent(fleet)
    assert (found.takes_work, found.paused_at, found.stopped_at) == (False, clock.wall(), None)
    await fleet.write(living.resume, "coder", as_agent("chief"))
    assert (await agent(fleet)).takes_work


async def test_restarts_that_were_given_up_are_tried_again_by_resume(fleet: Store, clock: ManualClock) -> None:
    await fleet.write(living.give_up, "coder", "five restarts in ten minutes")
    assert ((await agent(fleet)).failed_at, (await agent(fleet)).failed_reason) == (clock.wall(), "five restarts in ten minutes")
    await fleet.write(living.resume, "coder", THE_OPERATOR)
    assert ((await agent(fleet)).failed_at, (await agent(fleet)).failed_reason) == (None, None)


async def test_what_an_agent_finished_and_failed_on_is_counted(fleet: Store, clock: ManualClock) -> None:
    for seconds in (10.0, 20.0):
        await fleet.write(living.acted, "coder", tasks=1, task_s=seconds)
    await fleet.write(living.failed_once, "coder", "task_1", "no luck", tasks=1)
    await fleet.write(living.failed_once, "coder", "task_1", "no luck")
    found = await vitals(fleet)
    assert (found.tasks_completed, found.tasks_failed, found.failures_in_a_row, found.average_task_s) == (2, 1, 2, 15.0)
    assert found.last_active_at == clock.wall()
    await fleet.write(living.acted, "coder", messages=3)
    found = await vitals(fleet)
    assert (found.messages_handled, found.failures_in_a_row) == (3, 0)


@rule("T2")
async def test_a_step_of_the_clock_moves_heartbeats_of_those_who_have_one(fleet: Store, clock: ManualClock) -> None:
    await arrive(fleet)
    await fleet.write(living.shift_beats, 500.0)
    assert (await vitals(fleet)).heartbeat_at == clock.wall() + 500
    assert (await vitals(fleet, "sales")).heartbeat_at is None


async def test_after_a_restore_no_process_is_anybodys(fleet: Store) -> None:
    await arrive(fleet)
    await fleet.write(living.end_processes)
    found = await vitals(fleet)
    assert (found.pid, found.node, found.start_ticks, found.boot_id) == (None, None, None, None)
    with pytest.raises(Conflict):
        await fleet.write(living.beat, "coder", pid=7)
