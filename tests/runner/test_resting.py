"""What an idle agent and an idle sweep do: they look when somebody has written or something falls due, and else read the stamp alone."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from covey.agents import breaking
from covey.agents.model import THE_OPERATOR, as_agent
from covey.brains.model import Outcome
from covey.messages.model import draft
from covey.messages.sending import send
from covey.nodes import records
from covey.runner.runner import IDLE_POLL_S, POLL_S
from covey.runner.standing import AHEAD_S, Standing, standing
from covey.runner.sweeping import Sweeper
from covey.store import Store
from covey.tasks import adding
from covey.tasks.model import TaskDraft
from tests.conftest import ManualClock
from tests.rules import rule
from tests.runner.desk import START_S, Desk
from tests.runner.office import QUICK, Office, done, office, until

LONG_S = 60.0


class StepClock(ManualClock):
    """A clock on which whoever sleeps is woken by the test's own steps."""

    def __init__(self) -> None:
        super().__init__()
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    async def sleep(self, seconds: float) -> None:
        """Until the test has stepped so far."""
        waits = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.at + seconds, waits))
        await waits

    async def step(self, seconds: float) -> None:
        """Time passes, and whoever that wakes has had a turn."""
        self.at += seconds
        due = [each for each in self._sleepers if each[0] <= self.at]
        self._sleepers = [each for each in self._sleepers if each[0] > self.at]
        for _, waits in due:
            if not waits.done():
                waits.set_result(None)
        for _ in range(20):
            await asyncio.sleep(0)


class Looks:
    """Counts the looks of an agent's poll."""

    def __init__(self, at: Office, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun = self.ended = 0
        self._poll = at.runner.poll
        monkeypatch.setattr(at.runner, "poll", self._counted)

    async def _counted(self) -> Standing:
        self.begun += 1
        found = await self._poll()
        self.ended += 1
        return found


async def led(fleet: Store) -> None:
    """The fleet has a node that leads."""
    await fleet.write(records.register, "here", host="h", pid=1, start_ticks=1, boot_id="b", version="1")
    assert await fleet.write(records.beat, "here") is not None


async def one_look(clock: StepClock, looks: Looks) -> None:
    """Let it look once more, whatever it saw before."""
    before = looks.ended
    while looks.ended == before:
        await clock.step(POLL_S)
        await asyncio.sleep(0.01)


@rule("M4b")
async def test_an_agent_for_whom_nothing_happens_does_not_ask_the_store_each_second(fleet: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = StepClock()
    await led(fleet)
    quiet = msgspec.structs.replace(QUICK, heartbeat_s=LONG_S)
    async with office(fleet, done(), settings=quiet, clock=clock) as coder:
        looks = Looks(coder, monkeypatch)
        await one_look(clock, looks)
        before = looks.begun
        for _ in range(5):
            await clock.step(POLL_S)
        assert looks.begun - before <= (0 if fleet.stamp() else 2)


@rule("M4b")
async def test_a_hint_that_was_lost_is_made_good_within_a_second_by_an_agent_that_rests(
    fleet: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = StepClock()
    await led(fleet)
    async with office(fleet, done(), settings=msgspec.structs.replace(QUICK, heartbeat_s=LONG_S), clock=clock) as coder:
        looks = Looks(coder, monkeypatch)
        await one_look(clock, looks)
        monkeypatch.setattr(fleet.bell, "ring", lambda names: None)
        task = await coder.add()
        before = looks.ended
        await clock.step(POLL_S)
        if fleet.stamp() is None:  # nobody tells of changes there, so it looks as often as an agent that is not lively
            await clock.step(IDLE_POLL_S - POLL_S)
        await coder.in_state(task, "done")
        assert looks.ended > before


@rule("M4b", "H8a")
def test_an_agent_rests_only_if_nothing_will_be_ready_soon_and_somebody_leads(desk: Desk) -> None:
    def rests() -> bool:
        return bool(desk.hand(standing, "coder", [], 900.0).rests)

    assert not rests(), "nobody leads, so it has to sweep"
    desk.hand(records.register, "here", host="h", pid=1, start_ticks=1, boot_id="b", version="1")
    desk.hand(records.beat, "here")
    assert rests()
    desk.pass_time(records.LEAD_S - AHEAD_S + 0.1)
    assert not rests(), "the leader's lease may have ended by then"
    desk.hand(records.beat, "here")
    desk.add(max_attempts=3)
    assert not rests(), "a task is ready"
    desk.settle(desk.begin("coder"), Outcome(kind="failed", summary="not now"))
    assert not rests(), "it is tried again soon"


@rule("H6", "M4b")
def test_an_agent_behind_an_open_breaker_rests_until_shortly_before_it_half_opens(desk: Desk) -> None:
    desk.hand(records.register, "here", host="h", pid=1, start_ticks=1, boot_id="b", version="1")
    desk.add()
    for name in ("a", "b", "c"):
        desk.hand(breaking.failed, "coder", name, "it fails")
    desk.hand(records.beat, "here")
    assert desk.hand(standing, "coder", [], 900.0).rests
    desk.pass_time(60.0 - AHEAD_S + 0.1)
    desk.hand(records.beat, "here")
    assert not desk.hand(standing, "coder", [], 900.0).rests


@rule("H8a")
async def test_a_sweep_of_a_fleet_where_nothing_happens_asks_nothing(
    fleet: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fleet.stamp() is None:
        pytest.skip("a server keeps no stamp")
    sweeper = Sweeper(fleet, START_S, clock)
    await sweeper.one_round()
    await sweeper.one_round()  # what the first one wrote made it look again
    with monkeypatch.context() as patch:
        patch.setattr(fleet, "read", None)
        assert await sweeper.one_round() == 0


@rule("H8a", "M7")
@pytest.mark.parametrize("wait_s", [5.0, 40.0])
async def test_what_falls_due_is_swept_within_a_second_though_nobody_writes_meanwhile(
    fleet: Store, clock: ManualClock, wait_s: float
) -> None:
    sweeper = Sweeper(fleet, START_S, clock)
    await sweeper.one_round()
    await fleet.write(send, draft("coder", "well?", requires_response=True), as_agent("chief"), wait_s=wait_s)
    while await sweeper.one_round():
        pass
    asked_at = clock.at
    while clock.at < asked_at + wait_s - 0.5:
        assert await sweeper.one_round() == 0
        clock.at += 0.5
    clock.at += 1.0
    assert await sweeper.one_round() > 0


@rule("H8a", "K1")
async def test_what_somebody_writes_while_the_sweep_rests_is_swept_in_time(fleet: Store, clock: ManualClock) -> None:
    sweeper = Sweeper(fleet, START_S, clock)
    for _ in range(3):  # what one round writes makes the next one look
        await sweeper.one_round()
    task = await fleet.write(adding.add, TaskDraft(description="soon", agent="coder", deadline=clock.wall() + 2.0), THE_OPERATOR)
    while await sweeper.one_round():
        pass
    clock.at += 3.0

    async def swept() -> bool:
        return await sweeper.one_round() > 0

    await until(swept)
    assert task.task_id
