"""The nodes of a fleet as they are shown."""

from __future__ import annotations

import pytest

from covey.nodes import records, showing
from covey.nodes.showing import state_of
from covey.store import Store
from tests.conftest import ManualClock
from tests.rules import rule


@rule("N2")
@pytest.mark.parametrize(
    ("stopped_at", "beat_at", "state"), [(None, 80.001, "live"), (None, 80.0, "lost"), (90.0, 80.001, "ended"), (90.0, 10.0, "ended")]
)
def test_a_node_silent_for_twenty_seconds_is_lost_unless_it_said_that_it_ends(stopped_at: float | None, beat_at: float, state: str) -> None:
    assert state_of(stopped_at, beat_at, 100.0) == state


@rule("H8", "N2")
async def test_the_list_says_who_lives_and_who_leads(store: Store, clock: ManualClock) -> None:
    for name in ("one", "two"):
        await store.write(records.register, name, host="here", pid=7, start_ticks=1, boot_id=name, version="1.2.3")
    assert await store.write(records.beat, "two") is not None
    found = {each.node_id: each for each in await store.read(showing.listed)}
    assert {name: (each.state, each.leads) for name, each in found.items()} == {"one": ("live", False), "two": ("live", True)}
    assert (found["one"].host, found["one"].pid, found["one"].version) == ("here", 7, "1.2.3")

    await store.write(records.leave, "two")
    clock.at += records.LOST_S + 1
    found = {each.node_id: each for each in await store.read(showing.listed)}
    assert {name: (each.state, each.leads) for name, each in found.items()} == {"one": ("lost", False), "two": ("ended", False)}
