"""A task that takes twice its estimate: its brain is asked beside the attempt to split it, or it goes on, and then to another (H3)."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import msgspec
import pytest

from covey.agents import living
from covey.base.clock import SystemClock
from covey.base.settings import Settings
from covey.brains.model import Hands, Outcome, Turn, failure
from covey.healing import incidents
from covey.healing.model import Incident
from covey.store import Statement, Store
from covey.tasks import runs
from covey.tasks.model import TaskDraft
from tests.rules import rule
from tests.runner.office import QUICK, Office, OwnBrain, office, until

ESTIMATE_S = 1000.0
SHORT_S = 0.4
"""An estimate whose time limit, four times as long, is waited for."""
PATIENT: Settings = msgspec.structs.replace(QUICK, idle_timeout_s=3600.0)
TWO = Outcome(kind="split", tasks=[TaskDraft(description="first half", agent="sales"), TaskDraft(description="second half", agent="sales")])
BRAINS = Statement("test:brains", "UPDATE agents SET brain = 'python'")


class Hasty(SystemClock):
    """A clock to which two estimates are no time at all."""

    async def sleep(self, seconds: float) -> None:
        """Sleep, unless it is for two estimates."""
        if seconds not in (2 * ESTIMATE_S, 2 * SHORT_S):
            await super().sleep(seconds)


class Slow(OwnBrain):
    """A brain that is at its task until it is ended, and answers a split at once."""

    def __init__(self, parts: Outcome) -> None:
        super().__init__(self._think_long)
        self.parts = parts
        self.ended: list[str] = []

    async def _think_long(self, turn: Turn, hands: Hands) -> Outcome:
        if turn.kind == "split":
            return self.parts
        try:
            await self.go_on.wait()
        finally:
            self.ended.append(turn.run_id)
        return Outcome(summary="done after all")


async def story(at: Office) -> Incident:
    """The one incident of the agent, once it has ended."""
    found: list[Incident] = []

    async def is_over() -> bool:
        rows = await at.store.read(lambda tx: [incidents.find(tx, row.id) for row in tx.all(ALL)])
        found[:] = [each for each in rows if each.kind == "task_timeout"]
        return bool(found) and found[0].ended_at is not None

    await until(is_over)
    (one,) = found
    return one


ALL = Statement("test:all", "SELECT id FROM incidents ORDER BY seq")


@pytest.fixture(autouse=True)
async def python_brains(fleet: Store) -> None:
    """Everybody's brain is free and takes anything."""
    await fleet.write(lambda tx: tx.run(BRAINS))


@rule("H3")
async def test_a_task_that_splits_is_ended_first_and_its_parts_stand_for_it(fleet: Store) -> None:
    brain = Slow(TWO)
    async with office(fleet, brain, settings=PATIENT, clock=Hasty()) as at:
        ident = await at.add(estimated_seconds=ESTIMATE_S)
        task = await at.in_state(ident, "blocked")
        assert task.attempts == 0, "a split is no failed try"
        assert len(task.dependencies) == 2
        assert [turn.kind for turn in brain.turns] == ["task", "split"]
        assert brain.ended == [brain.turns[0].run_id]
        assert brain.turns[1].run_id != brain.turns[0].run_id
        told = await story(at)
        assert (told.subject, told.outcome) == (ident, "split")
        assert [each.action for each in told.steps] == ["asked_to_split", "split", "split"]
        outcomes = {run.kind: run.outcome for run in await fleet.read(runs.of_item, ident)}
        assert outcomes == {"task": "split", "split": "split"}


@rule("H3")
@pytest.mark.parametrize(
    "parts",
    [
        failure("it is one piece"),
        Outcome(kind="done", summary="done?"),
        Outcome(kind="split", tasks=[TaskDraft(description="x", agent="nobody")]),
    ],
)
async def test_a_task_that_can_not_be_split_goes_on(fleet: Store, parts: Outcome) -> None:
    brain = Slow(parts)
    async with office(fleet, brain, settings=PATIENT, clock=Hasty()) as at:
        ident = await at.add(estimated_seconds=ESTIMATE_S)

        async def is_answered() -> bool:
            return any(each.action == "not_split" for each in sum((i.steps for i in await at.store.read(incidents.open_of, "coder")), ()))

        await until(is_answered)
        assert (await at.task(ident)).state == "running"
        brain.go_on.set()
        assert (await at.in_state(ident, "done")).result["summary"] == "done after all"
        assert (await story(at)).outcome == "done"


async def beats(store: Store, *names: str) -> None:
    """These agents live."""
    for name in names:
        await store.write(living.arrive, name, node="there", pid=2, start_ticks=1, boot_id="b", port=1)


@rule("H3")
async def test_one_that_runs_into_its_time_limit_goes_to_another_able_agent(fleet: Store) -> None:
    await beats(fleet, "sales", "intel")
    brain = Slow(failure("it is one piece"))
    async with office(fleet, brain, settings=PATIENT, clock=Hasty()) as at:
        ident = await at.add(estimated_seconds=SHORT_S)

        async def is_moved() -> bool:
            return (await at.task(ident)).agent in ("sales", "intel")

        await until(is_moved)
        task = await at.task(ident)
        assert (task.state, task.attempts) == ("queued", 1)
        told = await story(at)
        assert told.outcome == "reassigned"
        assert (told.steps[0].action, told.steps[-1].action) == ("asked_to_split", "reassigned")


@rule("H3", "A1a")
async def test_one_that_nobody_else_is_able_to_do_fails_aloud_instead_of_going_to_the_same_agent_again(fleet: Store) -> None:
    brain = Slow(failure("it is one piece"))
    async with office(fleet, brain, settings=PATIENT, clock=Hasty()) as at:
        ident = await at.add(estimated_seconds=SHORT_S)
        task = await at.in_state(ident, "failed")
        assert "nobody else is able to do it" in (task.error or "")
        assert (await story(at)).outcome == "nobody_able"
        assert [turn.kind for turn in brain.turns] == ["task", "split"]


@rule("H3")
async def test_an_attempt_that_ends_by_itself_while_its_brain_is_asked_is_what_counts(fleet: Store) -> None:
    brain = Slow(TWO)
    asked = asyncio.Event()

    async def think(turn: Turn, hands: Hands) -> Outcome:
        if turn.kind == "split":
            asked.set()
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            return TWO
        await asked.wait()
        return Outcome(summary="just in time")

    brain._think = think
    async with office(fleet, brain, settings=PATIENT, clock=Hasty()) as at:
        ident = await at.add(estimated_seconds=ESTIMATE_S)
        assert (await at.in_state(ident, "done")).result["summary"] == "just in time"
        assert {run.kind: run.outcome for run in await fleet.read(runs.of_item, ident)} == {"task": "done", "split": "returned"}
        assert (await story(at)).outcome == "done"


@rule("H3")
async def test_a_quick_task_is_never_asked_about(fleet: Store) -> None:
    brain = Slow(TWO)
    async with office(fleet, brain, settings=PATIENT) as at:
        ident = await at.add()
        await asyncio.wait_for(brain.began.wait(), 20)
        brain.go_on.set()
        await at.in_state(ident, "done")
        assert [turn.kind for turn in brain.turns] == ["task"]
