"""Who takes work now, and in which order: said once, for all that choose among agents (A1a, H6)."""

from __future__ import annotations

import pytest

from covey.agents import configuring, external, living
from covey.agents.breaker import OPEN_S
from covey.agents.model import STALE_S, THE_OPERATOR
from covey.base.settings import AgentSettings, BrainSettings, Settings
from covey.reports import pulse, work
from covey.store import Statement, Store
from covey.tasks import adding, takers, working
from covey.tasks.model import TaskDraft
from covey.tasks.takers import Taker, order
from tests.conftest import ManualClock
from tests.rules import rule
from tests.tasks.taking import taker

GIVE_UP = Statement("test:give_up", "UPDATE agents SET failed_at = 1, failed_reason = 'it always dies' WHERE id = 'coder'")
OWN, JOINS = BrainSettings(kind="python", target="there:brain"), BrainSettings(kind="external")
PID = 4000


@pytest.fixture
async def two(store: Store) -> Store:
    """Coder lives and reviews; guest joins from outside, and was seen."""
    coder = AgentSettings(id="coder", port=1, brain=OWN, capabilities=("general", "review"))
    guest = AgentSettings(id="guest", port=2, brain=JOINS, capabilities=("general",), cadence_s=3600.0)
    await store.write(configuring.configure, Settings(agents=(coder, guest), limits="off"))
    await store.write(living.arrive, "coder", node="here", pid=PID, start_ticks=1, boot_id="a-boot", port=1)
    await store.write(external.seen, "guest")
    return store


async def coder(store: Store) -> Taker:
    (found,) = await store.read(takers.named, ["coder"])
    return found


async def break_open(store: Store) -> None:
    """Its brain can't start."""
    await store.write(adding.add, TaskDraft(description="work", agent="coder"), THE_OPERATOR)
    found = await store.write(working.claim, "coder", "run_1", lease_s=60.0)
    assert found is not None
    await store.write(working.fail, "coder", found[1], "no\nmodule", permanent=True, not_started=True)


@rule("A1a")
async def test_who_is_asked_for_by_name_or_capability_is_read_in_the_fleets_order_with_what_it_has_to_do(two: Store) -> None:
    for _ in range(2):
        await two.write(adding.add, TaskDraft(description="work", agent="coder"), THE_OPERATOR)
    found = await two.read(takers.named, ["guest", "coder", "nobody"])
    assert [(each.name, each.ready, each.tasks) for each in found] == [("coder", True, 2), ("guest", True, 0)]
    assert await two.read(takers.having, None) == found
    assert await two.read(takers.having, "review") == found[:1]
    assert await two.read(takers.having, "juggle") == []
    await two.write(configuring.configure, Settings(agents=(AgentSettings(id="guest", port=2, brain=JOINS),), limits="off"))
    assert [each.name for each in await two.read(takers.having, None)] == ["guest"], "the other one was removed"


@rule("A1a", "K8")
@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("nothing", ""),
        ("paused", "it is paused: lunch"),
        ("stopped", "it is stopped"),
        ("broken", "it is behind an open breaker: no module"),
        ("given up", "it is in error: it always dies"),
        ("ended", "it is down"),
        ("silent", "it is down"),
    ],
)
async def test_who_takes_nothing_is_told_by_all_that_choose_and_by_why_alike(two: Store, clock: ManualClock, what: str, why: str) -> None:
    if what == "paused":
        await two.write(living.pause, "coder", THE_OPERATOR, "lunch")
    elif what == "stopped":
        await two.write(living.stop, "coder", THE_OPERATOR)
    elif what == "broken":
        await break_open(two)
    elif what == "given up":
        await two.write(lambda tx: tx.run(GIVE_UP))
    elif what == "ended":
        await two.write(living.leave, "coder", pid=PID, reason="exit code 1")
    clock.at += STALE_S + 0.001 if what == "silent" else 0.0
    found = await coder(two)
    assert (found.ready, found.why_not) == (not why, why)
    assert found.lives == (why != "it is down")
    said = (await two.read(pulse.of_one, "coder")).why_not_able
    assert (f"it {said}" if said else "").startswith(why) if why else said is None


@rule("A3", "A5b")
async def test_a_heart_is_silent_after_a_minute_unless_told_otherwise_and_a_guest_away_after_its_cadence(
    two: Store, clock: ManualClock
) -> None:
    clock.at += STALE_S
    assert (await coder(two)).ready
    clock.at += 1
    assert not (await coder(two)).ready
    assert [each.ready for each in await two.read(takers.named, ["coder"], 3600.0)] == [True]
    assert (await two.read(pulse.of_one, "guest")).why_not_able is None
    clock.at += 3600.0
    (guest,) = await two.read(takers.named, ["guest"])
    assert (guest.lives, guest.ready, guest.why_not) == (True, False, "it is away")
    await two.write(living.pause, "coder", THE_OPERATOR)
    assert [(await two.read(pulse.of_one, name)).why_not_able for name in ("guest", "coder")] == ["is away", "is paused"]


@rule("H6")
async def test_who_is_half_open_takes_work_again_and_counts_as_shaky(two: Store, clock: ManualClock) -> None:
    await break_open(two)
    clock.at += OPEN_S - 1
    assert not (await coder(two)).shaky
    clock.at += 1
    found = await coder(two)
    assert (found.ready, found.shaky) == (True, True)
    assert (await two.read(pulse.of_one, "coder")).why_not_able is None


@rule("H3", "H6", "Q2")
def test_the_best_is_ready_sound_least_loaded_and_has_not_failed_it() -> None:
    line = [
        taker("least", tasks=0, place=5),
        taker("first", tasks=1, place=0),
        taker("yields", tasks=1, place=0),
        taker("second", tasks=1, place=1),
        taker("given", tasks=0, place=0),
        taker("unfit", tasks=0, place=0),
        taker("shaky", shaky=True),
        taker("down", lives=False),
        taker("failed"),
        taker("failed twice"),
    ]

    def key(each: Taker) -> object:
        failed_by = ("failed", "failed twice", "failed twice")
        return order(each, (each.name == "unfit",), yields=each.name in ("yields", "second"), more={"given": 2}, failed_by=failed_by)

    mixed = [*line[5:], *line[:5][::-1]]
    assert sorted(mixed, key=key) == line  # type: ignore[arg-type]


@rule("A3", "A1a")
async def test_how_long_a_heart_may_be_silent_is_the_fleets_setting_wherever_it_is_asked(two: Store, clock: ManualClock) -> None:
    before = await two.read(pulse.of_one, "coder")
    await two.write(configuring.configure, Settings(agents=(before.settings,), limits="off", heartbeat_s=120.0, stale_s=300.0))
    clock.at += 4 * STALE_S
    assert (await coder(two)).ready
    assert (await two.read(pulse.of_one, "coder")).status == "idle"
    assert (await two.read(work.workload))["agents"][0]["status"] == "idle"
    clock.at += 2 * STALE_S
    assert (await coder(two)).why_not == "it is down"
    assert (await two.read(pulse.of_one, "coder")).status == "stalled"


@rule("K8")
def test_a_bar_ends_without_a_period_of_its_own_so_that_a_sentence_can() -> None:
    assert str(takers.Bar("is paused", "Until Monday.")) == "is paused: Until Monday"
    assert str(takers.Bar("is paused")) == "is paused"
