"""Figures over time, from what really happened to what a window shows, on both databases."""

from __future__ import annotations

import asyncio

import pytest

from covey.agents import configuring
from covey.base.errors import Unknown
from covey.figures import reading, recording
from covey.figures.model import KEPT_S, WINDOWS, Tally
from covey.figures.recording import Recorder
from covey.healing import incidents
from covey.messages import handling
from covey.reports.over_time import over_time
from covey.store import Store, Transaction, events
from covey.store.statements import Statement
from covey.tasks import runs, working
from tests.conftest import EIGHT, ManualClock
from tests.reports.acting import add, awake, claim_mail, send, take
from tests.rules import rule

ROWS = Statement("tests:figures", "SELECT agent, span_s, at FROM figures ORDER BY span_s, at, agent")


def at_the_start_of_an_hour(clock: ManualClock) -> None:
    clock.at += 3600 - clock.wall() % 3600


async def handled(store: Store, clock: ManualClock, agent: str, seconds: float) -> None:
    await send(store, "operator", agent, f"look {clock.at}")
    clock.at += seconds
    claimed = await claim_mail(store, agent)
    await store.write(handling.close, agent, claimed.token)


async def done(store: Store, clock: ManualClock, agent: str, seconds: float) -> None:
    await add(store, "Count", agent)
    _, token = await take(store, agent)
    clock.at += seconds
    await store.write(working.finish, agent, token, "7")


@rule("A6")
async def test_what_happened_stands_in_the_step_in_which_it_happened(fleet: Store, clock: ManualClock) -> None:
    at_the_start_of_an_hour(clock)
    await awake(fleet)
    await handled(fleet, clock, "coder", 10.0)
    await handled(fleet, clock, "ops", 20.0)
    clock.at += 120
    await done(fleet, clock, "coder", 5.0)
    await Recorder(fleet).one_round()
    found = await fleet.read(over_time, "15m")

    assert (found["stepSeconds"], len(found["steps"]), found["behind"], found["agentId"]) == (60, 15, False, None)
    assert [step["messages"]["handled"] for step in found["steps"]] == [*[0] * 12, 2, 0, 0]
    assert [step["tasks"]["completed"] for step in found["steps"]] == [*[0] * 14, 1]
    assert found["steps"][-1]["at"] == clock.wall() // 60 * 60
    assert found["total"]["messages"]["responseTime"] == {
        "n": 2,
        "p50": pytest.approx(10, rel=0.026),
        "p95": pytest.approx(20, rel=0.026),
    }
    assert found["total"]["tasks"]["time"]["p95"] == pytest.approx(5, rel=0.026)
    assert found["total"]["tasks"]["completionRate"] == 1.0
    assert found["total"]["buddy"]["successRate"] is None

    mine = await fleet.read(over_time, "15m", "ops")
    assert (mine["total"]["messages"]["handled"], mine["total"]["tasks"]["completed"]) == (1, 0)


async def test_every_window_tells_the_same_total(fleet: Store, clock: ManualClock) -> None:
    at_the_start_of_an_hour(clock)
    await awake(fleet)
    for _ in range(3):
        await handled(fleet, clock, "coder", 7.0)
    await Recorder(fleet).one_round()
    totals = [(await fleet.read(over_time, window))["total"] for window in WINDOWS]
    assert all(total == totals[0] for total in totals)
    assert totals[0]["messages"]["handled"] == 3


async def test_a_window_begins_with_whole_steps_and_ends_now(fleet: Store, clock: ManualClock) -> None:
    at_the_start_of_an_hour(clock)
    for _ in range(3):
        for window in WINDOWS.values():
            found = await fleet.read(reading.over, window)
            assert len(found.steps) == window.length_s // window.step_s
            assert found.start % window.step_s == 0
            assert found.steps[-1][0] <= clock.wall() < found.steps[-1][0] + window.step_s
        clock.at += 59.999


async def test_stalls_costs_and_throttled_mail_are_counted(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    ident = await fleet.write(incidents.open_incident, "coder", "hung", "it did not answer")
    await fleet.write(incidents.open_incident, "ops", "hung", "it did not answer")
    await fleet.write(incidents.end_incident, ident, "back", "it is back")
    await fleet.write(runs.open_run, "run_7", item="task_1", kind="task", agent="coder", node="n1", attempt=1)
    await fleet.write(runs.close, "run_7", "done", cost_usd=0.25, tokens=1200)
    await fleet.write(runs.close, "run_7", "done", cost_usd=0.25, tokens=1200)
    await Recorder(fleet).one_round()
    total = (await fleet.read(over_time, "1h"))["total"]
    assert total["stalls"] == {"found": 2, "healed": 1}
    assert total["cost"] == {"usd": 0.25, "tokens": 1200, "runs": 1}
    assert (await fleet.read(over_time, "1h", "coder"))["total"]["cost"]["usd"] == 0.25


async def test_each_event_counts_once_however_many_count_at_once(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    for number in range(20):
        await send(fleet, "operator", "coder", f"look at {number}")
    recorders = [Recorder(fleet) for _ in range(4)]
    await asyncio.gather(*(each.one_round() for each in recorders))
    await asyncio.gather(*(each.one_round() for each in recorders))
    assert (await fleet.read(over_time, "1h"))["total"]["messages"]["sent"] == 20


async def test_a_page_that_another_one_has_counted_adds_nothing(fleet: Store, clock: ManualClock) -> None:
    await send(fleet, "operator", "coder", "look")
    page, found = await fleet.read(recording.read_on)
    assert await fleet.write(recording.record, page.start, page.bookmark, found)
    assert not await fleet.write(recording.record, page.start, page.bookmark, found)
    assert (await fleet.read(over_time, "1h"))["total"]["messages"]["sent"] == 1


async def test_what_is_not_counted_yet_is_said_to_be_behind(fleet: Store, clock: ManualClock) -> None:
    await send(fleet, "operator", "coder", "look")
    assert (await fleet.read(over_time))["behind"]
    await Recorder(fleet).one_round()
    assert not (await fleet.read(over_time))["behind"]


async def test_a_round_catches_up_over_many_pages(fleet: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "PAGE", 3)
    for number in range(10):
        await send(fleet, "operator", "coder", f"look at {number}")
    await Recorder(fleet).one_round()
    assert await fleet.read(lambda tx: events.bookmark(tx, recording.BOOKMARK)) == await fleet.read(events.last)
    assert (await fleet.read(over_time))["total"]["messages"]["sent"] == 10


async def test_where_nothing_has_changed_the_store_is_not_asked(fleet: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    if fleet.stamp() is None:
        pytest.skip("a server keeps no stamp")
    recorder, reads = Recorder(fleet), list[int]()
    read_on = recording.read_on

    def counted(tx: Transaction) -> object:
        reads.append(1)
        return read_on(tx)

    monkeypatch.setattr(recording, "read_on", counted)
    await send(fleet, "operator", "coder", "look")
    await recorder.one_round()
    await recorder.one_round()
    assert len(reads) == 1, "its own counting is no change"
    await send(fleet, "operator", "coder", "look again")
    await recorder.one_round()
    assert len(reads) == 2
    assert (await fleet.read(over_time))["total"]["messages"]["sent"] == 2


async def test_figures_past_their_time_go(fleet: Store, clock: ManualClock) -> None:
    await send(fleet, "operator", "coder", "look")
    await Recorder(fleet).one_round()
    before = await fleet.read(_rows)
    assert {row[1] for row in before} == set(KEPT_S)
    clock.at += KEPT_S[60] + 120
    step = await fleet.write(recording.prune, older_s=0.0)
    assert step == (len([row for row in before if row[1] == 60]), None)
    assert {row[1] for row in await fleet.read(_rows)} == set(KEPT_S) - {60}
    clock.at += KEPT_S[3600] + 7200
    step = await fleet.write(recording.prune, older_s=0.0, limit=1)
    assert step.after is not None, "more than fits a batch waits for the next"
    while (await fleet.write(recording.prune, older_s=0.0, limit=1)).deleted:
        pass
    assert await fleet.read(_rows) == []


def _rows(tx: Transaction) -> list[tuple[str, int, float]]:
    return [tuple(row) for row in tx.all(ROWS)]


async def test_an_agent_that_is_not_there_has_no_figures(fleet: Store) -> None:
    await fleet.write(configuring.configure, EIGHT)
    with pytest.raises(Unknown):
        await fleet.read(over_time, "1h", "nobody")


async def test_figures_of_a_newer_version_are_read_and_kept_as_far_as_they_are_known(fleet: Store, clock: ManualClock) -> None:
    put = recording.PUT
    at = clock.wall() // 60 * 60
    await fleet.write(lambda tx: tx.run(put, agent="", span_s=60, at=at, tally='{"sent":3,"yawns":7,"response":{"5":1}}'))
    found = await fleet.read(reading.over, WINDOWS["15m"])
    assert found.total == Tally(sent=3, response={5: 1})
