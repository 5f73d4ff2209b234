"""The sweep: one look says whether anything is due; each part is a verb of its own, and one that fails takes no other along (H8a)."""

from __future__ import annotations

import asyncio
import logging

import pytest

from covey.messages import reading
from covey.messages.model import draft
from covey.messages.sending import send
from covey.runner import sweeping
from covey.runner.sweeping import Sweeper, due
from covey.store import Store, Transaction
from tests.conftest import ManualClock
from tests.rules import rule
from tests.runner.desk import START_S, Desk, by


@rule("H8a")
def test_nothing_is_due_in_a_fleet_where_nothing_happens(desk: Desk) -> None:
    desk.sweep()
    assert not desk.hand(due, START_S)


@rule("H8a", "M7", "M9", "K4a", "K1")
def test_each_due_thing_makes_the_sweep_due_and_is_done_by_it(desk: Desk) -> None:
    desk.sweep()
    now = desk.hand.now
    desk.ask("coder", sender="chief", deadline=now + 10)
    desk.hand(_send_stale, now + 20)
    late = desk.add("in time or never", "intel", deadline=now + 28)
    claimed = desk.add("never begun", "devops")
    desk.take("devops", "task")
    desk.sweep()
    for seconds in (11, 10, 8, 2):
        assert not desk.hand(due, START_S)
        desk.pass_time(seconds)
        assert desk.hand(due, START_S)
        assert desk.sweep() > 0
        desk.sweep()
    assert any("did not answer" in each.body for each in desk.inbox("chief"))
    assert desk.inbox("ops")[0].state == "expired"
    assert desk.task(late).state == "failed"
    assert desk.task(claimed).state == "queued"


def _send_stale(tx: Transaction, at: float) -> str:
    message = draft("ops", "soon stale")
    message.expires_at = at
    return send(tx, message, by("operator")).message_id


@rule("H8a")
async def test_a_part_that_fails_does_not_keep_the_others_from_their_work(
    fleet: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(tx: Transaction) -> int:
        raise ZeroDivisionError("broken")

    monkeypatch.setattr(sweeping, "PARTS", (broken, *sweeping.PARTS))
    await fleet.write(send, draft("coder", "find me"), by("operator"))
    with caplog.at_level(logging.ERROR, "covey.sweep"):
        assert await Sweeper(fleet, START_S, clock).one_round() > 0
    assert "broken" in caplog.text
    assert not await fleet.read(due, START_S)


@rule("H8a", "M7")
async def test_two_sweepers_at_once_tell_the_asker_once(fleet: Store, clock: ManualClock) -> None:
    message = draft("coder", "well?", requires_response=True)
    asked = await fleet.write(send, message, by("chief"), wait_s=5.0)
    clock.at += 6.0
    await asyncio.gather(*(Sweeper(fleet, START_S, clock).one_round() for _ in range(3)))
    notices = [each for each in await fleet.read(reading.answers, asked.message_id) if each.from_ == "system"]
    assert len(notices) == 1
