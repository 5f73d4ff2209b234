"""Breakers: when they open, whom they let through, what closes them; nothing is routed to an agent behind an open one (H6)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import settings as budget
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant
from hypothesis.stateful import rule as step

from covey.agents import breaking, living
from covey.agents.breaker import CLOSED, FAILURES, OPEN_S, Breaker, after_failure, phase
from covey.agents.model import THE_OPERATOR, as_agent
from covey.messages import handling, sending
from covey.messages.model import draft
from covey.store import Store, events
from covey.tasks import adding, reading, working
from covey.tasks.model import Task, TaskDraft
from tests.conftest import ManualClock
from tests.rules import rule


async def add(store: Store, agent: str | None = "coder", **words: Any) -> Task:
    return await store.write(adding.add, TaskDraft(description="work", agent=agent, **words), THE_OPERATOR)


async def take(store: Store, agent: str = "coder", run: str = "run_1") -> tuple[Task, str] | None:
    return await store.write(working.claim, agent, run, lease_s=60.0)


async def fail(store: Store, agent: str = "coder", error: str = "the model's server is down", **how: Any) -> Task:
    found = await take(store, agent)
    assert found is not None
    return await store.write(working.fail, agent, found[1], error, **how)


async def break_open(store: Store, agent: str = "coder") -> None:
    """Three failures over three tasks, none of which waits again."""
    for _ in range(FAILURES):
        await add(store, agent, max_attempts=1)
        await fail(store, agent)


async def told(store: Store, name: str = "coder") -> list[str]:
    return [event.kind for event in await store.read(events.of_agent, name) if event.kind.startswith("breaker.")][::-1]


@rule("H6")
async def test_three_failures_in_a_row_over_two_tasks_open_it_and_its_own_work_waits(fleet: Store, clock: ManualClock) -> None:
    first = await add(fleet)
    await fail(fleet)
    second = await add(fleet)
    assert (await fail(fleet)).task_id == second.task_id
    assert await fleet.read(breaking.open_of, "coder") is None
    clock.at += 10
    await fail(fleet)
    found = await fleet.read(breaking.open_of, "coder")
    assert found is not None
    assert (found.failures, found.phase, found.reason) == (3, "open", "the model's server is down")
    clock.at += OPEN_S - 1
    assert await take(fleet) is None
    assert (await fleet.read(reading.show, first.task_id)).state == "queued"
    assert await told(fleet) == ["breaker.opened"]


@rule("H6")
async def test_failures_over_one_task_alone_never_open_it(fleet: Store, clock: ManualClock) -> None:
    await add(fleet, max_attempts=10)
    for _ in range(6):
        await fail(fleet)
        clock.at += 60
    assert await fleet.read(breaking.open_of, "coder") is None


@rule("H6")
async def test_a_refusal_of_the_task_is_no_failure_of_the_agents(fleet: Store) -> None:
    """instar PR#1851, cux#39: any error at all taken for an outage."""
    for _ in range(5):
        await add(fleet)
        await fail(fleet, error="I don't do this", permanent=True)
    assert await fleet.read(breaking.of, "coder") == CLOSED


@rule("H6")
async def test_a_brain_that_cannot_start_opens_it_at_once_and_shared_work_is_for_others(fleet: Store) -> None:
    shared = await add(fleet, None, capability="code")
    failed = await fail(fleet, error="the command codex was not found", permanent=True, not_started=True)
    assert (failed.task_id, failed.state) == (shared.task_id, "queued")
    found = await fleet.read(breaking.open_of, "coder")
    assert found is not None
    assert found.reason == "the command codex was not found"
    own = await add(fleet, "ops")
    assert (await fail(fleet, "ops", permanent=True, not_started=True)).state == "failed"
    assert (await fleet.read(reading.show, own.task_id)).attempts == 1, "it is not tried again: the cause does not pass"


@rule("H6")
async def test_it_takes_nothing_of_shared_queues_and_mail_waits(fleet: Store, clock: ManualClock) -> None:
    await break_open(fleet)
    shared = await add(fleet, None, capability="test")
    await fleet.write(sending.send, draft("coder", "are you well?"), THE_OPERATOR)
    assert await take(fleet) is None
    assert await fleet.write(handling.claim, "coder", "run_m", lease_s=60.0, digest_s=900.0) is None
    clock.at += OPEN_S
    mail = await fleet.write(handling.claim, "coder", "run_m", lease_s=60.0, digest_s=900.0)
    assert mail is not None
    assert await take(fleet) is None, "one is let through, be it mail or a task"
    await fleet.write(handling.close, "coder", mail.token)
    await fleet.write(living.acted, "coder", messages=1)
    found = await take(fleet)
    assert found is not None
    assert found[0].task_id == shared.task_id


@rule("H6", "M6")
async def test_capability_routing_skips_it_unless_there_is_nobody_else(fleet: Store) -> None:
    await break_open(fleet)
    receipt = await fleet.write(sending.send, draft("@test", "who reads this?"), as_agent("chief"))
    assert set(receipt.outcomes) == {"coder"}, "only coder can test"
    receipt = await fleet.write(sending.send, draft("@review", "who reads this?"), THE_OPERATOR)
    assert set(receipt.outcomes) == {"chief"}


@rule("H6")
async def test_a_success_closes_it_at_once_and_a_failed_trial_opens_it_for_another_minute(fleet: Store, clock: ManualClock) -> None:
    await break_open(fleet)
    clock.at += OPEN_S
    await add(fleet)
    await fail(fleet)
    clock.at += OPEN_S - 1
    assert await take(fleet) is None
    clock.at += 1
    found = await take(fleet)
    assert found is not None
    await fleet.write(working.finish, "coder", found[1], "done")
    assert await fleet.read(breaking.of, "coder") == CLOSED
    assert await told(fleet) == ["breaker.opened", "breaker.opened", "breaker.closed"]


@rule("H6")
async def test_a_trial_that_is_given_back_lets_the_next_one_through(fleet: Store, clock: ManualClock) -> None:
    await break_open(fleet)
    clock.at += OPEN_S
    for _ in range(2):
        await add(fleet)
    found = await take(fleet, run="run_a")
    assert found is not None
    assert await take(fleet, run="run_b") is None
    await fleet.write(working.give_back, found[1], "stopped")
    assert await take(fleet, run="run_b") is not None
    assert await take(fleet, run="run_c") is None


@rule("H6")
async def test_of_sixteen_claimers_a_half_open_breaker_lets_exactly_one_through(pair: tuple[Store, Store], clock: ManualClock) -> None:
    await break_open(pair[0])
    for _ in range(16):
        await add(pair[0])
    for number in range(4):
        clock.at += OPEN_S
        claims = await asyncio.gather(*(take(pair[each % 2], run=f"run_{number}_{each}") for each in range(16)))
        won = [claim for claim in claims if claim is not None]
        assert len(won) == 1
        await pair[number % 2].write(working.fail, "coder", won[0][1], "still down")


class Naive:
    """A breaker as one would tell it to a child: the list of what happened, looked through anew each time."""

    def __init__(self) -> None:
        self.story: list[tuple[float, str, bool]] = []

    def phase(self, now: float) -> str:
        streak: list[str] = []
        opened: float | None = None
        for at, what, not_started in self.story:
            if what == "success":
                streak, opened = [], None
                continue
            streak.append(what)
            if opened is not None and at < opened + OPEN_S:
                continue
            if not_started or opened is not None or (len(streak) >= FAILURES and len(set(streak)) > 1):
                opened = at
        return "closed" if opened is None else "open" if now < opened + OPEN_S else "half-open"


class Breakers(RuleBasedStateMachine):
    """The arithmetic against the naive one, over any story."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.naive = Naive()
        self.breaker = CLOSED

    @step(seconds=st.sampled_from([0.0, 1.0, 29.5, 30.0, 59.999, OPEN_S, 3600.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @step(item=st.sampled_from(["task_1", "task_2", "msg_1"]), not_started=st.sampled_from([False, False, False, True]))
    def fail(self, item: str, not_started: bool) -> None:
        self.naive.story.append((self.now, item, not_started))
        self.breaker = after_failure(self.breaker, item, f"over {item}", self.now, not_started=not_started)
        assert self.breaker.reason == f"over {item}"

    @step()
    def succeed(self) -> None:
        self.naive.story.append((self.now, "success", False))
        self.breaker = CLOSED

    @invariant()
    def they_agree(self) -> None:
        assert phase(self.breaker, self.now) == self.naive.phase(self.now)


TestBreakers = rule("H6")(Breakers.TestCase)
Breakers.TestCase.settings = budget(max_examples=150, stateful_step_count=30, deadline=None)


@rule("H6")
@pytest.mark.parametrize(("failures", "first", "item", "opens"), [(2, "a", "a", False), (2, "a", "b", True), (1, "a", "b", False)])
def test_at_the_edge(failures: int, first: str, item: str, opens: bool) -> None:
    after = after_failure(Breaker(failures, first), item, "why", 7.0)
    assert (after.opened_at, after.until) == ((7.0, 67.0) if opens else (None, None))


@rule("H6")
async def test_an_open_breaker_is_open_after_a_restart_and_in_every_process(pair: tuple[Store, Store], clock: ManualClock) -> None:
    await break_open(pair[0])
    found = await pair[1].read(breaking.open_of, "coder")
    assert found is not None
    assert found.phase == "open"
    assert await take(pair[1]) is None
    clock.at += 30
    await pair[1].write(living.arrive, "coder", node="n1", pid=9, start_ticks=9, boot_id="a-boot", port=8002)
    assert await take(pair[1]) is None, "a new process is no success"
    assert await pair[1].read(breaking.open_of, "coder") == found


@rule("H6", "T2")
async def test_a_step_of_the_clock_moves_an_open_breaker_along(fleet: Store, clock: ManualClock) -> None:
    await break_open(fleet)
    before = await fleet.read(breaking.open_of, "coder")
    await fleet.write(living.shift_beats, 500.0)
    after = await fleet.read(breaking.open_of, "coder")
    assert before is not None
    assert after is not None
    assert after.until == before.until + 500.0
