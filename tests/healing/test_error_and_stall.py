"""What breakers and incidents make of an agent's status, and what `why`, the state and the figures say of it (A3, H6, K8)."""

from __future__ import annotations

from typing import Any

from covey.agents import living
from covey.healing import giving_up, incidents, lives
from covey.messages import reading as mail
from covey.reports import metrics, pulse, status
from covey.reports.why import why
from covey.runner import holding
from covey.store import Store
from covey.tasks import working
from tests.conftest import ManualClock
from tests.healing.test_breakers import add, break_open, take
from tests.reports.acting import PID, awake
from tests.rules import rule


@rule("A3", "H6", "K8")
async def test_behind_an_open_breaker_the_status_is_error_and_why_says_the_real_cause(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    await break_open(fleet)
    waiting = await add(fleet)
    found = await fleet.read(status.agent_state, "coder")
    assert found["status"] == "error"
    assert found["error"] == "its breaker is open: 3 failures in a row, at last: the model's server is down"
    assert (found["breaker"]["phase"], found["breaker"]["failures"]) == ("open", 3)
    told = (await fleet.read(why, "coder")).sentence
    assert "coder is error: its breaker is open: 3 failures in a row, at last: the model's server is down." in told
    assert "gets neither mail nor work for 1 min more (until " in told
    assert "is behind an open breaker: the model's server is down" in (await fleet.read(why, waiting.task_id)).sentence
    figures = await fleet.read(metrics.of_agent, "coder")
    assert (figures["ableNow"], figures["breakerOpen"]) == (False, True)
    clock.at += 60
    await fleet.write(living.beat, "coder", pid=PID + 1)
    claimed = await take(fleet)
    assert claimed is not None
    await fleet.write(working.finish, "coder", claimed[1], "ok")
    assert (await fleet.read(pulse.of_one, "coder")).status == "active"


@rule("A3", "H1")
async def test_an_open_stall_makes_it_stalled_and_counts(fleet: Store) -> None:
    await awake(fleet)
    ident = await fleet.write(incidents.open_incident, "coder", "task_timeout", "the task task_1 has run for 2 h.", subject="task_1")
    await fleet.write(incidents.open_incident, "coder", "task_timeout", "it still does", subject="task_1")
    found = await fleet.read(status.agent_state, "coder")
    assert (found["status"], found["metrics"]["stallCount"]) == ("stalled", 1)
    told = (await fleet.read(why, "coder")).sentence
    assert f"coder is stalled: the task task_1 has run for 2 h ({ident}, since" in told
    assert f"Open incidents: {ident} (task_timeout" in told
    await fleet.write(incidents.end_incident, ident, "done", "it was done")
    assert (await fleet.read(pulse.of_one, "coder")).status == "idle"


@rule("A3", "H7a")
async def test_a_stale_agent_that_beats_again_is_live_at_once(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    clock.at += 2000
    await fleet.write(incidents.open_incident, "coder", "heartbeat_stale", "silent for 2000 s")
    assert (await fleet.read(pulse.of_one, "coder")).status == "stalled"
    await fleet.write(living.beat, "coder", pid=PID + 1)
    assert (await fleet.read(pulse.of_one, "coder")).status == "idle"
    await fleet.write(holding.renew, "coder", PID + 1, [], 60.0)
    assert await fleet.read(incidents.open_of, "coder") == []


@rule("A3", "C3")
async def test_a_context_that_stays_too_large_is_an_error(fleet: Store) -> None:
    await awake(fleet)
    await fleet.write(incidents.open_incident, "coder", "context_overflow", "what is pinned alone is 9,000 tokens; 8,192 fit.")
    found = await fleet.read(pulse.of_one, "coder")
    assert (found.status, found.error) == ("error", "its context is too large: what is pinned alone is 9,000 tokens; 8,192 fit.")
    (told,) = (await fleet.read(mail.inbox, "operator")).items
    assert "covey context show coder" in told.body


@rule("H7", "A3")
async def test_restarts_given_up_are_an_incident_that_ends_when_somebody_has_it_tried_again(fleet: Store) -> None:
    await awake(fleet)
    for _ in range(2):
        await fleet.write(giving_up.gave_up, "coder", "it ended again after 5 restarts in 10 minutes (exit code 4)")
        assert (await fleet.read(pulse.of_one, "coder")).status == "error"
        (found,) = await fleet.read(incidents.open_of, "coder", "crash_loop")
        assert "after 5 restarts in 10 minutes (exit code 4)" in found.cause
        await fleet.write(giving_up.tried_again, "coder")
        assert (await fleet.read(incidents.find, found.incident_id)).outcome == "resumed"
        assert (await fleet.read(pulse.of_one, "coder")).error is None


@rule("A6", "H2")
async def test_open_incidents_are_figures(fleet: Store) -> None:
    await awake(fleet)
    await fleet.write(incidents.open_incident, "coder", "hung", "silent")
    await fleet.write(incidents.open_incident, "", "cycle_late", "no cycle for an hour")
    figures = await fleet.read(metrics.of_fleet)
    assert figures["incidents"] == {"cycle_late": 1, "hung": 1}
    text = metrics.prometheus(figures)
    assert 'covey_incidents_open{kind="hung"} 1.0' in text
    assert 'covey_agent_incidents_open{agent="coder"} 1.0' in text


@rule("H6", "H7", "A3")
async def test_an_agent_that_comes_up_without_a_brain_serves_stands_in_error_and_takes_nothing(fleet: Store) -> None:
    where: dict[str, Any] = {"node": "n1", "pid": 7, "start_ticks": 7, "boot_id": "a-boot", "port": 8002}
    await fleet.write(lives.arrive, "coder", no_brain='brain kind "model": it is not part of this version', **where)
    found = await fleet.read(pulse.of_one, "coder")
    assert found.status == "error"
    assert "it is not part of this version" in (found.error or "")
    await add(fleet)
    assert await take(fleet) is None, "nothing is burnt on a brain that is not there"
    (told,) = (await fleet.read(mail.inbox, "operator")).items
    assert "covey config apply" in told.body
    await fleet.write(lives.arrive, "coder", **where)
    assert (await fleet.read(pulse.of_one, "coder")).error is None
    assert await fleet.read(incidents.open_of, "coder") == []
    assert await take(fleet) is not None
