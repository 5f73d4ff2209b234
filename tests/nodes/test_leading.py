"""Nodes register, beat and lead: never two at a time, whatever pauses they make (H8, N2)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.base.errors import Conflict
from covey.base.processes import Identity
from covey.nodes import records
from covey.nodes.node import Duty
from tests.inline import Hand
from tests.nodes.workshop import Workshop
from tests.rules import rule

NAMES = ("one", "two", "three")


def enter(hand: Hand, name: str, who: Identity | None = None) -> None:
    """The node of this name is there, with that process."""
    me = who or Identity.of(os.getpid())
    assert me is not None
    hand(records.register, name, host="h", pid=me.pid, start_ticks=me.start_ticks, boot_id=me.boot_id, version="0")


@rule("H8")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(steps=st.lists(st.tuples(st.sampled_from(NAMES), st.floats(0.0, 40.0), st.booleans()), max_size=40))
def test_the_leaders_lease_is_never_held_by_two(hand: Hand, steps: list[tuple[str, float, bool]]) -> None:
    """Each node beats when it likes; one may leave in good order. A token once superseded never leads again."""
    held: dict[str, int] = {}
    past: set[int] = set()
    newest = 0
    for name, pause, leaves in steps:
        hand.clock.at += pause
        if leaves:
            hand(records.leave, name)
            held.pop(name, None)
        else:
            fence = hand(records.beat, name)
            if fence is not None:
                assert fence >= newest
                past |= {fence - 1} if fence > newest else set()
                newest = max(newest, fence)
                held[name] = fence
        now_leading = {who for who, fence in held.items() if hand(records.leads, fence)}
        assert len(now_leading) <= 1
        assert not any(hand(records.leads, fence) for fence in past)


@rule("H8")
def test_another_node_leads_once_the_leaders_lease_has_lapsed_and_at_once_if_it_resigns(hand: Hand) -> None:
    first = hand(records.beat, "one")
    assert first is not None
    assert hand(records.beat, "two") is None
    hand.clock.at += records.LEAD_S - 1
    assert hand(records.beat, "one") == first
    hand.clock.at += records.LEAD_S - 1
    assert hand(records.beat, "two") is None
    assert hand(records.leads, first)
    hand.clock.at += 2
    assert not hand(records.leads, first)
    second = hand(records.beat, "two")
    assert second == first + 1
    assert not hand(records.leads, first)
    hand(records.leave, "two")
    assert hand(records.beat, "one") == first + 2
    assert hand(records.beat, "one", candidate=False) is None
    hand.clock.at += records.LEAD_S + 1
    assert hand(records.beat, "one") == first + 3, "what lapsed begins anew, even its own"


@rule("N2")
def test_a_second_live_node_of_the_same_name_is_refused(hand: Hand) -> None:
    with a_process() as other:
        enter(hand, "one", other)
        with pytest.raises(Conflict, match="COVEY_NODE"):
            enter(hand, "one")
        enter(hand, "two")
    enter(hand, "one")


@rule("H9")
def test_the_next_node_of_a_name_takes_over_from_one_that_has_died_or_left(hand: Hand) -> None:
    with a_process() as other:
        enter(hand, "one", other)
        hand(records.leave, "one")
        enter(hand, "one")
    hand(records.leave, "one")
    enter(hand, "one", Identity(os.getpid(), 1, "another boot"))
    with pytest.raises(Conflict):
        enter(hand, "one")
    hand.clock.at += records.LOST_S + 1
    enter(hand, "one")


@contextmanager
def a_process() -> Iterator[Identity]:
    """A live process other than this one."""
    with subprocess.Popen(["sleep", "60"]) as process:
        found = Identity.of(process.pid)
        assert found is not None
        try:
            yield found
        finally:
            process.kill()


@rule("H8")
async def test_a_node_does_not_lead_by_a_lease_that_may_have_lapsed_while_it_was_paused(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds: list[int] = []

    async def one_round(fence: int) -> None:
        rounds.append(fence)

    duty = Duty("lead", 3600.0, True, one_round)
    node = await workshop.open(duties=[duty])
    await node._do(duty)
    count = len(rounds)
    assert count
    boot = node.clock.boot
    monkeypatch.setattr(node.clock, "boot", lambda: boot() + records.LEAD_S)
    assert not node.leading
    await node._do(duty)
    assert len(rounds) == count
