"""The timer in an agent's own process, over real ports: when it looks, what it stores, and that it covers while nobody leads (B2, B5)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from covey.agents import configuring, living, roster
from covey.agents.model import OPERATOR
from covey.api.agent_port import make_app
from covey.api.door import Door
from covey.app.buddy_duties import Buddies
from covey.app.duties import Keeping
from covey.base.settings import Settings
from covey.buddies import checking, covering
from covey.doors.serving import serve
from covey.healing import buddying, incidents
from covey.healing.buddy_timer import LONGEST_S, BuddyTimer, spread_s
from covey.healing.buddying import Means
from covey.store import Store, events
from tests.api.world import Process, give_tokens, token_of
from tests.conftest import EIGHT, ManualClock
from tests.rules import rule


@asynccontextmanager
async def served(store: Store, clock: ManualClock, name: str = "devops") -> AsyncIterator[Settings]:
    """A fleet in which this agent really serves, at a port of its own."""
    await give_tokens(store)
    door = Door(store=store, settings=EIGHT, clock=clock, agent=name, local=Process(store, name))
    serving = await serve(make_app(door), "127.0.0.1", 0)
    agents = tuple(msgspec.structs.replace(each, port=serving.port) if each.id == name else each for each in EIGHT.agents)
    settings = msgspec.structs.replace(EIGHT, agents=agents)
    await store.write(configuring.configure, settings)
    for each in agents:
        await store.write(living.arrive, each.id, node="here", pid=7, start_ticks=1, boot_id="b", port=each.port)
    try:
        yield settings
    finally:
        await serving.stop()


def means(store: Store, settings: Settings) -> Means:
    return Means(store, settings, token_of)


async def told(store: Store, *kinds: str) -> list[events.Event]:
    return (await store.read(events.after, events.START, kinds=kinds, limit=10_000)).events


@rule("B2")
async def test_it_checks_when_it_is_time_and_sleeps_until_the_next(fleet: Store, clock: ManualClock) -> None:
    async with served(fleet, clock) as settings:
        timer = BuddyTimer(means(fleet, settings), "coder", clock, lambda: True)
        assert 1 <= await timer.one_round() <= 60
        assert await told(fleet, "buddy.") == []
        clock.at += 61
        assert await timer.one_round() == LONGEST_S
        again = BuddyTimer(means(fleet, settings), "coder", clock, lambda: True)
        await again.one_round()
        checked = await told(fleet, "buddy.checked")
        assert [(event.agent, event.subject, event.data["doneBy"]) for event in checked] == [("devops", "coder", "coder")]
        last = await fleet.read(checking.last, "coder")
        assert last is not None
        assert last.outcome == "answered"
        assert last.missed_in_a_row == 0


@rule("B2", "B3")
async def test_a_buddy_whose_port_is_gone_is_missed_and_stepped_in_for(fleet: Store, clock: ManualClock) -> None:
    async with served(fleet, clock) as settings:
        pass
    clock.at += 100
    await BuddyTimer(means(fleet, settings), "coder", clock, lambda: True).one_round()
    missed = await told(fleet, "buddy.missed")
    assert [(event.agent, event.data["reason"]) for event in missed] == [("devops", "no answer")]
    open_one = (await fleet.read(incidents.open_of, "devops", "buddy_down"))[0]
    assert [step.action for step in open_one.steps] == ["ping", "restart"]


@rule("B2")
async def test_the_controller_checks_by_the_operators_token_what_is_overdue_once_the_fleet_is_up(fleet: Store, clock: ManualClock) -> None:
    async with served(fleet, clock) as settings:
        asked: list[str] = []

        def token(name: str) -> str:
            asked.append(name)
            return token_of(name)

        class Rounds(Buddies):
            def _means(self) -> Means:
                return Means(fleet, settings, token)

        rounds = Rounds(Keeping(fleet, clock, "here", lambda: settings))
        clock.at += 5000
        for each in settings.agents:
            await fleet.write(living.beat, each.id, pid=7)
        await rounds.check_overdue()
        assert await told(fleet, "buddy.") == [], "after a start all look overdue"
        for _ in range(3):
            clock.at += 60
            await rounds.check_overdue()
        assert set(asked) == {OPERATOR}
        by = {event.subject: event for event in await told(fleet, "buddy.checked", "buddy.missed")}
        assert set(by) == {each.id for each in settings.agents}
        assert (by["coder"].kind, by["coder"].data["doneBy"]) == ("buddy.checked", "controller")
        assert (await fleet.read(roster.vitals, "coder")).last_buddy_check is not None


@rule("B5")
async def test_while_nobody_leads_the_agents_cover_themselves(fleet: Store, clock: ManualClock) -> None:
    async with served(fleet, clock) as settings:
        led = BuddyTimer(means(fleet, settings), "chief", clock, lambda: True)
        alone = BuddyTimer(means(fleet, settings), "chief", clock, lambda: False)
        clock.at += 61
        for each in settings.agents:
            if each.id != "devops":
                await fleet.write(living.beat, each.id, pid=7)
        for _ in range(2):
            await led.one_round()
        assert await fleet.read(covering.coverings) == []
        for _ in range(2):
            await alone.cover()
        assert [(each.agent, each.buddy) for each in await fleet.read(covering.coverings)] == [("devops", "coder")]


@rule("B2")
async def test_a_person_sees_how_an_agent_is_and_nothing_is_done_about_it(fleet: Store, clock: ManualClock) -> None:
    from covey.agents.model import THE_OPERATOR

    async with served(fleet, clock) as settings:
        found = await buddying.look(means(fleet, settings), "devops", THE_OPERATOR)
        assert found.decision.action == "well"
        assert (await fleet.read(roster.vitals, "coder")).last_buddy_check is None
    clock.at += 100
    found = await buddying.look(means(fleet, settings), "devops", THE_OPERATOR)
    assert (found.decision.action, found.ping) == ("restart", "none")
    assert await fleet.read(incidents.open_of, "devops") == []
    assert await told(fleet, "agent.restart_asked") == []


def test_the_looks_of_a_large_fleet_are_spread_over_five_minutes_and_those_of_a_small_one_are_not() -> None:
    names = [f"a{number}" for number in range(10_000)]
    looks = sorted(spread_s(name, len(names), 3600) for name in names)
    assert 0 <= looks[0] < 1 < 299 < looks[-1] <= 300
    busiest = max(sum(start <= look < start + 1 for look in looks) for start in range(300))
    assert busiest < 70
    assert all(spread_s(name, 8, 3600) <= 0.8 for name in names[:100])


@rule("B3", "B5", "N3")
async def test_who_reaches_nobody_else_either_is_cut_off_itself_and_blames_no_one(fleet: Store, clock: ManualClock) -> None:
    async with served(fleet, clock, "chief") as settings:
        clock.at += 61
        for each in settings.agents:
            await fleet.write(living.beat, each.id, pid=7)
        for _ in range(2):
            await _look(fleet, settings, "coder")
        assert [each.kind for each in await fleet.read(incidents.open_of, "devops")] == ["buddy_down"], "chief was reached"
        assert set(await fleet.read(covering.found_down)) == {"devops"}
    for _ in range(3):
        await _look(fleet, settings, "sales")
    assert await fleet.read(incidents.open_of, "comms") == []
    assert "comms" not in await fleet.read(covering.found_down)
    assert await told(fleet, "agent.restart_asked") == []


async def _look(store: Store, settings: Settings, checker: str) -> None:
    due = await store.read(checking.due, checker)
    assert due is not None
    await buddying.check(means(store, settings), due)
