"""A machine that is short of something, and the calm of it: hysteresis, urgent and high work alone, back to normal by itself (H10)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.agents.model import OPERATOR
from covey.healing import incidents, pressing
from covey.healing.pressing import Watcher
from covey.healing.resources import RESOURCES, Resource, short_of, told
from covey.messages import reading as mail
from covey.reports.machine import Room, room
from covey.store import Store, Transaction
from tests.conftest import ManualClock
from tests.healing.ward import NODE, Ward, nothing
from tests.rules import rule

PLENTY = Room(1e12, 0.5, 0.5, 0.1)
shares = st.floats(0.0, 1.0)
rooms = st.builds(Room, st.floats(0.0, 1e13), shares, shares, shares)
shorts = st.frozensets(st.sampled_from(RESOURCES))


@rule("H10")
@pytest.mark.parametrize(
    ("resource", "tight", "between", "free"),
    [
        ("disk", PLENTY._replace(disk_share=0.0499), PLENTY._replace(disk_share=0.0599), PLENTY._replace(disk_share=0.0601)),
        ("disk", PLENTY._replace(disk_bytes=499e6), PLENTY._replace(disk_bytes=599e6), PLENTY._replace(disk_bytes=601e6)),
        ("memory", PLENTY._replace(memory_share=0.099), PLENTY._replace(memory_share=0.119), PLENTY._replace(memory_share=0.121)),
        ("files", PLENTY._replace(files_used=0.801), PLENTY._replace(files_used=0.76), PLENTY._replace(files_used=0.74)),
    ],
)
def test_a_shortage_begins_at_its_bound_and_ends_a_good_way_beyond_it(resource: Resource, tight: Room, between: Room, free: Room) -> None:
    short = frozenset({resource})
    assert short_of((), tight) == short
    assert short_of((), between) == frozenset()
    assert short_of(short, between) == short
    assert short_of(short, free) == frozenset()


@rule("H10")
@given(shorts, rooms)
def test_looking_again_at_the_same_room_changes_nothing(before: frozenset[Resource], found: Room) -> None:
    once = short_of(before, found)
    assert short_of(once, found) == once
    assert bool(told(once, found)) == bool(once)


@rule("H10")
@given(shorts, rooms, rooms)
def test_more_room_never_makes_a_shortage(before: frozenset[Resource], one: Room, other: Room) -> None:
    best = [max(each) for each in zip(one[:3], other[:3], strict=True)]
    more = Room(best[0], best[1], best[2], min(one.files_used, other.files_used))
    assert short_of(before, more) <= short_of(before, one)
    assert short_of((), one) <= short_of(before, one)


@rule("H10")
@given(
    shorts,
    st.lists(st.tuples(st.floats(501e6, 599e6), st.floats(0.051, 0.059), st.floats(0.101, 0.119), st.floats(0.76, 0.79)), max_size=20),
)
def test_between_the_bounds_nothing_ever_changes(before: frozenset[Resource], found: list[tuple[float, float, float, float]]) -> None:
    now = before
    for each in found:
        now = short_of(now, Room(*each))
        assert now == before


@rule("H10")
def test_this_machine_has_room_figures(tmp_path_factory: pytest.TempPathFactory) -> None:
    found = room(tmp_path_factory.getbasetemp() / "not" / "there")
    assert found.disk_bytes > 0
    assert all(0.0 <= each <= 1.0 for each in found[1:])


class Machine:
    """A machine whose room a test sets."""

    def __init__(self, store: Store) -> None:
        self.room = PLENTY
        self.cleaned: list[str] = []
        self.watcher = Watcher(store, NODE, lambda: self.room, self.clean_up)

    def clean_up(self, _tx: Transaction, agent: str) -> None:
        """Remember whose context was cleaned up."""
        self.cleaned.append(agent)


@rule("H10")
async def test_a_short_machine_takes_urgent_and_high_work_alone_calls_a_person_and_goes_back_by_itself(
    fleet: Store, clock: ManualClock
) -> None:
    """Resource Exhaustion, as seed 000 has it: context clean-up, non-critical tasks wait, priorities hold, an alert."""
    ward, machine = Ward(fleet, clock, nothing), Machine(fleet)
    await ward.enter()
    assert await machine.watcher.one_round() == frozenset()
    medium, high, urgent = [await ward.add("coder", priority, priority=priority) for priority in ("medium", "high", "urgent")]
    machine.room = PLENTY._replace(disk_bytes=100e6)
    for _ in range(3):
        assert await machine.watcher.one_round() == {"disk"}
    assert machine.cleaned == ward.alive
    assert [(await ward.begin("coder")).item for _ in range(2)] == [urgent, high]
    assert await ward.take("coder") is None
    (story,) = await ward.incidents("resource_pressure")
    assert story.called_at is not None
    assert "95.4 MiB" in story.cause
    alerts = [each for each in (await fleet.read(mail.inbox, OPERATOR)).items if each.type == "alert"]
    assert len(alerts) == 1
    again = Machine(fleet)
    again.room = PLENTY._replace(disk_bytes=550e6)
    assert await again.watcher.one_round() == {"disk"}, "the next node on this machine knows"
    assert again.cleaned == []
    again.room = PLENTY
    assert await again.watcher.one_round() == frozenset()
    (story,) = await ward.incidents("resource_pressure")
    assert story.outcome == "relieved"
    taken = await ward.take("coder")
    assert taken is not None
    assert taken.item == medium


@rule("H10")
async def test_another_machines_shortage_is_not_ours(fleet: Store, clock: ManualClock) -> None:
    ward, machine = Ward(fleet, clock, nothing), Machine(fleet)
    await ward.enter()
    machine.watcher = Watcher(fleet, "elsewhere", lambda: machine.room, machine.clean_up)
    machine.room = PLENTY._replace(memory_share=0.01)
    assert await machine.watcher.one_round() == {"memory"}
    assert machine.cleaned == []
    ident = await ward.add("coder")
    assert (await ward.begin("coder")).item == ident
    assert not await fleet.read(pressing.pressed, NODE)
    assert await fleet.read(incidents.open_of, "", "resource_pressure")


@rule("H10")
async def test_a_second_shortage_is_told_in_the_same_incident(fleet: Store, clock: ManualClock) -> None:
    ward, machine = Ward(fleet, clock, nothing), Machine(fleet)
    await ward.enter()
    machine.room = PLENTY._replace(memory_share=0.01)
    await machine.watcher.one_round()
    machine.room = machine.room._replace(files_used=0.9)
    await machine.watcher.one_round()
    machine.room = machine.room._replace(memory_share=0.5)
    await machine.watcher.one_round()
    (story,) = await ward.incidents("resource_pressure")
    assert [each.action for each in story.steps] == ["urgent_only", "changed", "changed"]
    assert len(machine.cleaned) == 16
