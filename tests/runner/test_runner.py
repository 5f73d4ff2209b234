"""An agent at work on a real store: takes, thinks, settles; stopped, paused, cancelled, cut off, out of time (A7, K4, K4a, K7, M3)."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import msgspec
import pytest

from covey.agents import configuring, living, roster
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.clock import SystemClock
from covey.base.errors import Forbidden, StoreUnavailable
from covey.base.ports import EX_OWN_INSTANCE
from covey.brains.model import Hands, Outcome, Turn
from covey.messages import sending
from covey.messages.checking import DATA_BYTES
from covey.messages.model import draft
from covey.runner import lanes as module
from covey.runner.taking import take
from covey.runner.turning import turn_of
from covey.runner.watchdog import EX_HUNG
from covey.runner.work import Lane, Limits, Work
from covey.store import Store, Transaction, relaxed
from covey.store.attending import Attendant
from covey.tasks import changing, runs
from tests.conftest import EIGHT, ManualClock
from tests.rules import rule
from tests.runner.office import QUICK, OwnBrain, deaf, done, held_up, office, until


@rule("M3", "K4")
async def test_mail_and_tasks_are_taken_done_and_settled(fleet: Store) -> None:
    brain = done()
    async with office(fleet, brain) as coder:
        tasks = [await coder.add(f"task {number}") for number in range(3)]
        asked = [await coder.send(f"message {number}") for number in range(3)]
        for ident in tasks:
            assert (await coder.in_state(ident, "done")).result["summary"] == "coder did it"
        for ident in asked:
            await coder.handled(ident)
    assert sorted(turn.kind for turn in brain.turns) == ["message"] * 3 + ["task"] * 3
    assert await fleet.read(runs.open_of, "coder") == []


@rule("M3")
async def test_work_that_waited_for_its_agent_is_done_when_it_comes(fleet: Store) -> None:
    async with office(fleet, done(), name="ops") as ops:
        ident = await ops.add()
        await ops.in_state(ident, "done")
    async with office(fleet, done(), name="ops") as ops:
        assert (await ops.task(ident)).state == "done"


@rule("K4a")
async def test_a_long_task_does_not_hold_up_the_mail_and_counts_as_begun(fleet: Store, clock: ManualClock) -> None:
    async def think(turn: Turn, hands: Hands) -> Outcome:
        if turn.kind == "task":
            await brain.go_on.wait()
        return Outcome()

    brain = OwnBrain(think)
    async with office(fleet, brain) as coder:
        task = await coder.add()
        await brain.began.wait()
        await coder.handled(await coder.send())
        clock.at += QUICK.start_s + 1
        await coder.runner.poll()
        assert (await coder.task(task)).state == "running"
        brain.go_on.set()
        await coder.in_state(task, "done")


@rule("K4a")
@pytest.mark.parametrize(("kind", "most"), [("python", 2), ("command", 1)])
async def test_lanes_work_side_by_side_and_a_command_brain_has_one(fleet: Store, kind: str, most: int) -> None:
    brain = held_up()
    brain.kind = kind
    async with office(fleet, brain, task_lanes=2) as coder:
        tasks = [await coder.add(f"task {number}") for number in range(4)]
        await until(lambda: _true(len(brain.turns) == most))
        for _ in range(3):
            await coder.runner.poll()
        assert len(brain.turns) == most
        brain.go_on.set()
        for ident in tasks:
            await coder.in_state(ident, "done")


@rule("A7")
async def test_an_emergency_stop_ends_the_brain_gives_the_work_back_and_lasts_until_resume(fleet: Store) -> None:
    brain = held_up()
    async with office(fleet, brain) as coder:
        task = await coder.add()
        await brain.began.wait()
        told = await coder.runner.emergency_stop(THE_OPERATOR, "smoke")
        assert told == {"stopped": True, "taskId": task, "returnedToQueue": True}
        assert (coder.runner.health(), coder.runner.ready()) == ("paused", False)
        assert "`covey resume coder`" in (coder.runner.why_not_ready() or "")
        assert ((await coder.task(task)).state, (await coder.task(task)).attempts) == ("queued", 0)
        await coder.runner.poll()
        assert not coder.runner.busy
        brain.go_on.set()
        await fleet.write(living.resume, "coder", THE_OPERATOR)
        assert (await coder.in_state(task, "done")).attempts == 1
        assert coder.runner.health() == "healthy"


@rule("A7")
async def test_a_stop_by_a_flag_set_elsewhere_ends_the_brain_too(fleet: Store) -> None:
    brain = held_up()
    async with office(fleet, brain) as coder:
        task = await coder.add()
        await brain.began.wait()
        await fleet.write(living.stop, "coder", THE_OPERATOR, "smoke")
        assert (await coder.in_state(task, "queued")).attempts == 0


@rule("A7")
async def test_only_the_operator_and_the_lead_may_stop_an_agent(fleet: Store) -> None:
    brain = held_up()
    async with office(fleet, brain) as coder:
        task = await coder.add()
        await brain.began.wait()
        with pytest.raises(Forbidden):
            await coder.runner.emergency_stop(as_agent("sales"), "mischief")
        assert (await coder.task(task)).state == "running"
        assert (await coder.runner.emergency_stop(as_agent("chief"), "smoke"))["taskId"] == task


class Held:
    """Holds back the answer to the first take that gets something, which is committed by then."""

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch, *, lost: bool = False) -> None:
        self.taken, self.go_on = asyncio.Event(), asyncio.Event()
        self._write, self._attend = store.write_and_look, store.attend
        self._lost = lost
        self._patch = monkeypatch.setattr
        self._patch(store, "write_and_look", self.write)
        self._patch(store, "attend", self.attend)

    async def write(self, verb: object, *args: object, **more: object) -> object:
        answer: tuple[object, object] = await self._write(verb, *args, **more)  # type: ignore[arg-type]
        return await self._held(answer) if verb is take else answer

    def attend(self, *args: Any) -> Attendant[Any, Any]:
        attendant: Attendant[Any, Any] = self._attend(*args)
        real = attendant.answer

        async def answer() -> object:
            return await self._held(await real())

        self._patch(attendant, "answer", answer)
        return attendant

    async def _held(self, answer: tuple[object, object]) -> object:
        if answer[0] is not None and not self.taken.is_set():
            self.taken.set()
            if self._lost:
                raise StoreUnavailable("the answer was lost")
            await self.go_on.wait()
        return answer


@rule("A7")
async def test_what_is_being_taken_while_a_stop_comes_goes_back_unbegun(fleet: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    brain, held = held_up(), Held(fleet, monkeypatch)
    async with office(fleet, brain) as coder:
        task = await coder.add()
        await held.taken.wait()
        assert (await coder.runner.emergency_stop(THE_OPERATOR, "smoke"))["taskId"] is None
        held.go_on.set()
        assert (await coder.in_state(task, "queued")).attempts == 0
    assert brain.turns == []


@rule("M5")
async def test_a_paused_agent_finishes_what_it_does_and_takes_nothing_new(fleet: Store) -> None:
    brain = held_up()
    async with office(fleet, brain) as coder:
        task, next_one = await coder.add(), await coder.add("the next")
        await brain.began.wait()
        await fleet.write(living.pause, "coder", THE_OPERATOR)
        await coder.runner.poll()
        assert coder.runner.busy
        brain.go_on.set()
        await coder.in_state(task, "done")
        await coder.runner.poll()
        assert (await coder.task(next_one)).state == "queued"
        assert coder.runner.health() == "paused"


@rule("K4")
async def test_a_process_that_is_told_to_end_gives_its_work_back_whatever_it_was_about_to_do(fleet: Store) -> None:
    brain = held_up()
    async with office(fleet, brain) as coder:
        task, asked = await coder.add(), await coder.send()
        await until(lambda: _true(len(brain.turns) == 2))
    assert ((await coder.task(task)).state, (await coder.task(task)).attempts) == ("queued", 0)
    copy = await coder.copy(asked)
    assert (copy.state, copy.attempts) == ("delivered", 0)
    assert await fleet.read(runs.open_of, "coder") == []


@rule("K4")
async def test_what_is_being_taken_while_the_process_is_told_to_end_goes_back(fleet: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    brain, held = held_up(), Held(fleet, monkeypatch)
    async with office(fleet, brain) as coder:
        task = await coder.add()
        await held.taken.wait()
        stopping = asyncio.create_task(coder.runner.stop())
        await until(lambda: _true(not coder.runner.ready()))
        held.go_on.set()
        await stopping
        assert ((await coder.task(task)).state, (await coder.task(task)).attempts) == ("queued", 0)
    assert brain.turns == []


@rule("K7")
async def test_a_cancelled_tasks_brain_is_ended_and_what_it_says_is_dropped(fleet: Store) -> None:
    ended = asyncio.Event()

    async def think(turn: Turn, hands: Hands) -> Outcome:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError("never")

    brain = OwnBrain(think)
    async with office(fleet, brain, settings=msgspec.structs.replace(QUICK, heartbeat_s=3600.0, lease_s=86400.0)) as coder:
        quiet = await coder.send("by the way", sender="chief")
        task = await coder.add()
        await brain.began.wait()
        assert [asked.message.message_id for asked in brain.turns[0].also] == [quiet]
        await fleet.write(changing.cancel, task, THE_OPERATOR)
        await asyncio.wait_for(ended.wait(), 10)
        await until(lambda: _true(not coder.runner.busy))
        copy = await coder.copy(quiet)
        assert (copy.state, copy.attempts) == ("delivered", 0)
        assert (await coder.task(task)).state == "cancelled"


@rule("K4", "K7")
async def test_a_brain_that_finishes_just_as_its_lease_is_lost_changes_nothing(fleet: Store) -> None:
    async def think(turn: Turn, hands: Hands) -> Outcome:
        assert turn.task is not None
        await fleet.write(changing.cancel, turn.task.task_id, THE_OPERATOR)
        return Outcome(summary="too late", decisions=["too late"])

    brain = OwnBrain(think)
    async with office(fleet, brain) as coder:
        task = await coder.add()
        await brain.began.wait()
        await until(lambda: _true(not coder.runner.busy))
        found = await coder.task(task)
        assert (found.state, found.result) == ("cancelled", None)
        (run,) = await fleet.read(runs.of_item, task)
        assert run.outcome == "lost"
        after = await coder.add("the next")
        await coder.in_state(after, "cancelled")


@rule("K4a")
async def test_a_brain_that_takes_too_long_is_ended_and_its_try_has_failed(fleet: Store) -> None:
    brain = held_up()
    async with office(fleet, brain) as coder:
        task = await coder.add(estimated_seconds=0.01, max_attempts=1)
        found = await coder.in_state(task, "failed")
        assert "did not end within 0.04 s" in (found.error or "")


@rule("K4a")
async def test_the_brains_own_limit_counts_if_it_is_shorter(fleet: Store) -> None:
    own = msgspec.structs.replace(EIGHT.agents[1].brain, timeout_s=0.05)
    async with office(fleet, held_up(), brain=own) as coder:
        task = await coder.add(max_attempts=1)
        assert "within 0.05 s" in ((await coder.in_state(task, "failed")).error or "")


@rule("K4a")
async def test_silence_ends_only_a_brain_that_promises_progress(fleet: Store) -> None:
    quick = msgspec.structs.replace(QUICK, idle_timeout_s=0.05)
    promises = msgspec.structs.replace(EIGHT.agents[1].brain, promises_progress=True)
    async with office(fleet, held_up(), settings=quick, brain=promises) as coder:
        task = await coder.add(max_attempts=1)
        assert "no sign of progress for 0.05 s" in ((await coder.in_state(task, "failed")).error or "")
    brain = held_up()
    async with office(fleet, brain, settings=quick, name="ops") as ops:
        task = await ops.add(max_attempts=1)
        await brain.began.wait()
        await asyncio.sleep(0.2)
        assert (await ops.task(task)).state == "running"
        brain.go_on.set()
        await ops.in_state(task, "done")


@rule("K4a")
async def test_progress_keeps_a_brain_that_promises_it_alive(fleet: Store) -> None:
    quick = msgspec.structs.replace(QUICK, idle_timeout_s=0.3)
    promises = msgspec.structs.replace(EIGHT.agents[1].brain, promises_progress=True)

    async def think(turn: Turn, hands: Hands) -> Outcome:
        for step in range(8):
            await hands.progress(f"step {step}")
            await asyncio.sleep(0.1)
        return Outcome(summary="there")

    async with office(fleet, OwnBrain(think), settings=quick, brain=promises) as coder:
        found = await coder.in_state(await coder.add(max_attempts=1), "done", "failed")
        assert (found.state, found.progress) == ("done", "step 7")


@rule("K4a", "A7")
async def test_a_brain_that_cannot_be_ended_takes_its_process_along_and_nobody_gets_its_work_before(
    fleet: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("covey.runner.run.MARGIN_S", 0.2)
    brain = deaf()
    async with office(fleet, brain) as coder:
        task = await coder.add()
        await brain.began.wait()
        await coder.runner.emergency_stop(THE_OPERATOR, "smoke")
        why, code = await coder.gone()
        assert (code, "could not be ended" in why) == (EX_HUNG, True)
        clock.at += 61
        await coder.runner.beat()
        assert (await coder.task(task)).state == "running", "whoever comes after this process frees it"
        brain.go_on.set()
    assert (await coder.task(task)).state == "running"


@rule("M8", "K5")
async def test_what_a_brain_raises_is_a_failed_try_with_its_words(fleet: Store) -> None:
    async def think(turn: Turn, hands: Hands) -> Outcome:
        raise ZeroDivisionError("by nothing")

    async with office(fleet, OwnBrain(think)) as coder:
        found = await coder.in_state(await coder.add(max_attempts=1), "failed")
        assert "ZeroDivisionError: by nothing" in (found.error or "")


@rule("M10", "K5")
async def test_an_outcome_that_cannot_be_stored_is_a_failed_try_that_says_why(fleet: Store) -> None:
    async def think(turn: Turn, hands: Hands) -> Outcome:
        return Outcome(data={"x": "y" * DATA_BYTES})

    async with office(fleet, OwnBrain(think)) as coder:
        found = await coder.in_state(await coder.add(max_attempts=1), "failed")
        assert "its outcome could not be stored: data is" in (found.error or "")


@rule("M8", "K5")
async def test_a_turn_that_cannot_be_made_is_a_failed_try_and_not_tried_for_ever(fleet: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> Turn:
        raise KeyError("colleagues")

    monkeypatch.setattr(module, "turn_of", broken)
    brain = done()
    async with office(fleet, brain) as coder:
        found = await coder.in_state(await coder.add(max_attempts=1), "failed")
        assert "its turn could not be made: KeyError" in (found.error or "")
    assert brain.turns == []


@rule("K4b", "M3")
async def test_a_store_that_cannot_be_read_for_a_while_costs_no_try(fleet: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TRY_AGAIN_S", 0.01)
    failing = 3

    def unsure(*args: object, **more: object) -> Turn:
        nonlocal failing
        if failing:
            failing -= 1
            raise StoreUnavailable("gone for a moment")
        return turn_of(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "turn_of", unsure)
    async with office(fleet, done()) as coder:
        assert (await coder.in_state(await coder.add(), "done")).attempts == 1
    assert failing == 0


@rule("K4", "K4a")
async def test_a_claimed_task_whose_answer_was_lost_goes_back_since_no_brain_began(
    fleet: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(fleet, monkeypatch, lost=True)
    async with office(fleet, done()) as coder:
        task = await coder.add()
        await held.taken.wait()
        await coder.runner.poll()
        assert (await coder.task(task)).state == "running"
        await coder.runner.beat()
        assert (await coder.task(task)).state == "running"
        clock.at += 31
        await coder.runner.beat()
        assert (await coder.in_state(task, "done")).attempts == 1


@rule("M3", "K4")
async def test_claimed_mail_whose_answer_was_lost_is_found_and_freed_when_its_lease_ends(
    fleet: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(fleet, monkeypatch, lost=True)
    async with office(fleet, done(), settings=msgspec.structs.replace(QUICK, heartbeat_s=3600.0, lease_s=3600.0)) as coder:
        asked = await coder.send()
        await held.taken.wait()
        await coder.runner.beat()
        assert (await coder.copy(asked)).state == "seen"
        clock.at += 3601
        await coder.runner.beat()
        assert ((await coder.copy(asked)).state, (await coder.copy(asked)).attempts) == ("delivered", 1)
        clock.at += 3
        await coder.handled(asked)
        assert (await coder.copy(asked)).attempts == 2


@rule("A8")
async def test_a_process_leaves_when_another_one_is_its_agent(fleet: Store) -> None:
    async with office(fleet, done()) as coder:
        await fleet.write(living.arrive, "coder", node="there", pid=os.getpid() + 1, start_ticks=1, boot_id="b", port=8002)
        why, code = await coder.gone()
        assert code == EX_OWN_INSTANCE
        assert "is not coder" in why


@rule("A2")
async def test_a_process_leaves_when_its_agent_is_removed(fleet: Store) -> None:
    async with office(fleet, done(), name="ops") as ops:
        fewer = msgspec.structs.replace(EIGHT, agents=tuple(agent for agent in EIGHT.agents if agent.id != "ops"), deputy="")
        await fleet.write(configuring.configure, fewer)
        assert await ops.gone() == ("ops was removed from the fleet", 0)


@rule("A8")
async def test_heartbeats_come_from_the_runner_alone(fleet: Store, clock: ManualClock) -> None:
    async with office(fleet, done(), settings=msgspec.structs.replace(QUICK, heartbeat_s=3600.0, lease_s=86400.0)) as coder:
        before = await fleet.read(_heartbeat)
        clock.at += 100
        await coder.send("inbound mail", sender="chief")
        await coder.runner.poll()
        assert await fleet.read(_heartbeat) == before
        await coder.runner.beat()
        assert await fleet.read(_heartbeat) > before


class NotingClock(SystemClock):
    """Notes how long it was slept."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await super().sleep(seconds)


@rule("A8", "K4")
async def test_a_heart_beats_four_times_a_lease_however_rarely_it_is_set_to(fleet: Store) -> None:
    clock = NotingClock()
    settings = msgspec.structs.replace(QUICK, heartbeat_s=3600.0, lease_s=5.0)
    async with office(fleet, done(), clock=clock, settings=settings) as coder:
        await coder.in_state(await coder.add(), "done")
    assert 1.25 in clock.slept
    assert 3600.0 not in clock.slept


@rule("M4b")
async def test_hints_to_a_busy_agent_coalesce(fleet: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    brain, clock, polls = held_up(), NotingClock(), list[int]()
    async with office(fleet, brain, clock=clock, settings=msgspec.structs.replace(QUICK, wake_debounce_s=0.123)) as coder:
        await coder.add()
        await brain.began.wait()
        poll = coder.runner.poll

        async def counted() -> object:
            polls.append(clock.slept.count(0.123))
            return await poll()

        monkeypatch.setattr(coder.runner, "poll", counted)
        for _ in range(50):
            coder.runner._rung()
            await asyncio.sleep(0.01)
        brain.go_on.set()
    assert len(polls) >= 2
    assert len(polls) == len(set(polls)), "between any two looks of a busy agent its debounce passed"


@rule("M4b")
async def test_mail_has_the_lane_for_mail_look_and_a_task_the_lane_for_tasks(fleet: Store, taken: list[tuple[str, Transaction]]) -> None:
    async with office(fleet, done()) as coder:
        await coder.handled(await coder.send())
        assert {lane for lane, _ in taken} == {"mail"}
        taken.clear()
        await coder.in_state(await coder.add(), "done")
        assert {lane for lane, _ in taken} == {"task"}


@rule("M4b")
async def test_what_its_own_process_stores_for_an_idle_agent_is_taken_in_the_same_commit(
    fleet: Store, taken: list[tuple[str, Transaction]]
) -> None:
    if not fleet.engine.is_exclusive:
        pytest.skip("beside others who write it takes what it is rung for in a commit of its own")
    stored: list[Transaction] = []

    def store(tx: Transaction) -> str:
        stored.append(tx)
        return sending.send(tx, draft("coder", "hello"), THE_OPERATOR).message_id

    async with office(fleet, done()) as coder:
        await coder.runner.poll()
        await coder.handled(await fleet.write(store))
        assert [tx for _, tx in taken if tx is stored[0]] == stored


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Transaction]]:
    """The lane and the transaction of each try to take something."""
    found: list[tuple[str, Transaction]] = []

    @relaxed
    def noting(tx: Transaction, agent: str, lane: Lane, node: str, pid: int, limits: Limits) -> Work | None:
        found.append((lane, tx))
        return take(tx, agent, lane, node, pid, limits)

    monkeypatch.setattr(module, "take", noting)
    return found


@rule("A5b")
async def test_an_external_agents_work_is_left_to_its_own_session(fleet: Store) -> None:
    async with office(fleet, OwnBrain(done().think, "external")) as coder:
        task = await coder.add()
        await coder.runner.poll()
        await asyncio.sleep(0.05)
        assert (await coder.task(task)).state == "queued"


async def _true(value: bool) -> bool:
    return value


def _heartbeat(tx: Transaction) -> float:
    found = roster.vitals(tx, "coder").heartbeat_at
    assert found is not None
    return found
