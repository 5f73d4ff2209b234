"""Two processes at once: one owner of a task, one end of it, no blocker lost, one task a slot and a key."""

from __future__ import annotations

import asyncio
import collections
from functools import partial
from typing import Any

import pytest

from covey.agents import living
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.errors import Conflict, CoveyError, IllegalMove, LeaseLost
from covey.base.settings import ScheduleSettings, Settings
from covey.messages import sending
from covey.messages.model import draft
from covey.store import Store, events
from covey.tasks import adding, changing, reading, scheduling, working
from covey.tasks.model import Task, TaskDraft
from tests.conftest import EIGHT, ManualClock
from tests.pairs import at_once
from tests.rules import rule

Pair = tuple[Store, Store]
ROUNDS = 10


async def add(store: Store, description: str = "work", agent: str | None = "coder", **words: Any) -> Task:
    """A task, added."""
    return await store.write(adding.add, TaskDraft(description=description, agent=agent, **words), THE_OPERATOR)


async def take(store: Store, agent: str = "coder") -> tuple[Task, str] | None:
    """The next task of an agent and its token."""
    return await store.write(working.claim, agent, "run", lease_s=60.0)


async def taken(store: Store, agent: str = "coder") -> tuple[Task, str]:
    """As `take`, when something must be there."""
    found = await take(store, agent)
    assert found is not None
    return found


async def show(store: Store, ident: str) -> Task:
    """The task as it stands."""
    return await store.read(reading.show, ident)


@rule("K4a", "K4")
@pytest.mark.slow
async def test_thirty_two_claimers_take_each_task_once(pair: Pair) -> None:
    """beads#4657, #3570, #5998: a claim is no compare-and-swap; two to seven of eight win."""
    count, names = 320, ("chief", "coder", "sales", "finance", "intel", "devops", "comms", "ops")
    await asyncio.gather(*(add(pair[number % 2], f"{number}", None) for number in range(count)))

    async def claimer(number: int) -> list[tuple[str, str]]:
        store, agent, mine = pair[number % 2], names[number % 8], []
        while len(owned) < count:
            found = await take(store, agent)
            if found is None:
                continue
            owned.append(found[0].task_id)
            mine.append((agent, found[0].task_id))
            await store.write(working.finish, agent, found[1], "ok")
        return mine

    owned: list[str] = []
    mine = await asyncio.gather(*map(claimer, range(32)))
    assert collections.Counter(owned).most_common(1)[0][1] == 1
    assert sum(map(len, mine)) == count
    assert await pair[0].read(reading.counts) == {"done": count}
    assert all(task.attempts == 1 for task in (await pair[0].read(reading.listed, limit=count)).items)


@rule("K3")
async def test_two_needs_that_end_at_once_leave_no_blocker(pair: Pair) -> None:
    for number in range(ROUNDS):
        needs = [await add(pair[0], f"need {each}", agent) for each, agent in enumerate(("coder", "ops", "sales"))]
        last = await add(pair[0], "last", "chief", dependencies=[need.task_id for need in needs])
        held = [(agent, (await taken(pair[0], agent))[1]) for agent in ("coder", "ops", "sales")]
        await at_once(*(partial(pair[each % 2].write, working.finish, agent, token, "ok") for each, (agent, token) in enumerate(held)))
        found = await show(pair[0], last.task_id)
        assert (found.state, found.blockers) == ("queued", 0), number
        await pair[0].write(changing.cancel, last.task_id, THE_OPERATOR)


@rule("K1", "K3")
async def test_two_parts_that_end_at_once_join_the_whole_once(pair: Pair) -> None:
    for _ in range(ROUNDS):
        whole = await add(pair[0], "whole", "chief")
        _, token = await taken(pair[0], "chief")
        await pair[0].write(working.split, "chief", token, [TaskDraft(description=name, agent=name) for name in ("coder", "ops")])
        held = [(agent, (await taken(pair[0], agent))[1]) for agent in ("coder", "ops")]
        await at_once(
            *(partial(store.write, working.finish, agent, token, agent) for store, (agent, token) in zip(pair, held, strict=True))
        )
        found = await show(pair[0], whole.task_id)
        assert (found.state, found.blockers, found.result["summary"]) == ("done", 0, "coder\n\nops")
        kinds = [event.kind for event in await pair[0].read(events.of_subject, whole.task_id)]
        assert kinds.count("task.done") == 1
        assert "task.unblocked" not in kinds


@rule("K3")
async def test_a_need_that_ends_while_it_is_named_blocks_nobody_for_ever(pair: Pair) -> None:
    for _ in range(ROUNDS):
        need = await add(pair[0])
        _, token = await taken(pair[0])
        found = await at_once(
            partial(pair[0].write, working.finish, "coder", token, "ok"), partial(add, pair[1], "after", "ops", dependencies=[need.task_id])
        )
        after = next(each for each in found if isinstance(each, Task) and each.description == "after")
        assert (await show(pair[0], after.task_id)).state == "queued"


@rule("K7", "K4")
async def test_a_finish_and_a_cancel_at_once_leave_one_end(pair: Pair) -> None:
    ends = collections.Counter[str]()
    for number in range(ROUNDS):
        task = await add(pair[0])
        _, token = await taken(pair[0])
        calls = [
            partial(pair[0].write, working.finish, "coder", token, "ok"),
            partial(pair[1].write, changing.cancel, task.task_id, THE_OPERATOR),
        ]
        found = await at_once(*(calls if number % 2 else calls[::-1]))
        refused = [each for each in found if isinstance(each, CoveyError)]
        state = (await show(pair[0], task.task_id)).state
        assert [type(each) for each in refused] == [IllegalMove if state == "done" else LeaseLost]
        kinds = [event.kind for event in await pair[0].read(events.of_subject, task.task_id)]
        assert len({"task.done", "task.cancelled"} & set(kinds)) == 1
        ends[state] += 1
    assert set(ends) <= {"done", "cancelled"}


@rule("K1", "K4")
async def test_a_split_and_a_cancel_at_once_leave_no_orphan(pair: Pair) -> None:
    for number in range(ROUNDS):
        task = await add(pair[0])
        _, token = await taken(pair[0])
        calls: list[Any] = [
            partial(
                pair[0].write,
                working.split,
                "coder",
                token,
                [TaskDraft(description="a", agent="ops"), TaskDraft(description="b", agent="ops")],
            ),
            partial(pair[1].write, changing.cancel, task.task_id, THE_OPERATOR),
        ]
        await at_once(*(calls if number % 2 else calls[::-1]))
        assert (await show(pair[0], task.task_id)).state == "cancelled"
        assert all(part.state == "cancelled" for part in await pair[0].read(reading.children, task.task_id))


@rule("K4", "K5")
async def test_a_failure_and_a_release_at_once_count_once(pair: Pair) -> None:
    for number in range(ROUNDS):
        task = await add(pair[0])
        _, token = await taken(pair[0])
        calls: list[Any] = [
            partial(pair[0].write, working.fail, "coder", token, "no luck"),
            partial(pair[1].write, working.give_back, token, "stop"),
        ]
        await at_once(*(calls if number % 2 else calls[::-1]))
        found = await show(pair[0], task.task_id)
        assert (found.state, found.attempts, found.error) in {("queued", 1, "no luck"), ("queued", 0, None)}
        await pair[0].write(changing.cancel, task.task_id, THE_OPERATOR)
        await pair[0].write(living.acted, "coder")  # else its breaker opens


@rule("K1")
async def test_a_claim_and_a_deadline_at_once_leave_one_of_them(pair: Pair, clock: ManualClock) -> None:
    for _ in range(ROUNDS):
        task = await add(pair[0], deadline=clock.wall() + 1)
        clock.at += 1
        found = await at_once(partial(take, pair[0]), partial(pair[1].write, changing.fail_overdue))
        claimed = next((each for each in found if isinstance(each, tuple)), None)
        assert (await show(pair[0], task.task_id)).state == ("running" if claimed else "failed")
        if claimed:
            await pair[0].write(working.finish, "coder", claimed[1], "ok")


@rule("K5a")
async def test_an_approval_and_a_refusal_at_once_leave_one_of_them(pair: Pair) -> None:
    for number in range(ROUNDS):
        task = await add(pair[0], approval=True)
        calls = [
            partial(pair[0].write, changing.approve, task.task_id, THE_OPERATOR),
            partial(pair[1].write, changing.refuse, task.task_id, THE_OPERATOR),
        ]
        found = await at_once(*(calls if number % 2 else calls[::-1]))
        assert [type(each) for each in found if isinstance(each, CoveyError)] == [Conflict]
        now = await show(pair[0], task.task_id)
        assert (now.state, now.approval) in {("queued", "approved"), ("cancelled", "refused")}
        if now.is_open:
            await pair[0].write(changing.cancel, task.task_id, THE_OPERATOR)


@rule("K6")
async def test_one_key_added_by_many_at_once_is_one_task(pair: Pair) -> None:
    for number in range(ROUNDS):
        found = await asyncio.gather(*(add(pair[each % 2], f"{each}", dedupe_key=f"k{number}") for each in range(6)))
        assert len({task.task_id for task in found}) == 1
        assert sorted(task.known for task in found) == [False, True, True, True, True, True]


@rule("K6", "T3")
async def test_one_id_added_by_many_at_once_is_one_task(pair: Pair) -> None:
    for number in range(ROUNDS):
        found = await asyncio.gather(*(add(pair[each % 2], task_id=f"t{number}") for each in range(4)))
        assert sorted(task.known for task in found) == [False, True, True, True]


@rule("K6", "K5")
async def test_a_retry_and_an_add_of_one_key_at_once_open_one(pair: Pair) -> None:
    for number in range(ROUNDS):
        task = await add(pair[0], dedupe_key=f"k{number}", max_attempts=1)
        _, token = await taken(pair[0])
        await pair[0].write(working.fail, "coder", token, "no")
        await pair[0].write(living.acted, "coder")  # else its breaker opens
        await at_once(partial(pair[0].write, changing.retry, task.task_id, THE_OPERATOR), partial(add, pair[1], dedupe_key=f"k{number}"))
        open_ones = (await pair[0].read(reading.listed, state="open")).items
        assert [each.dedupe_key for each in open_ones] == [f"k{number}"]
        await pair[0].write(changing.cancel, open_ones[0].task_id, THE_OPERATOR)


@rule("K6a", "H8a")
async def test_two_sweepers_make_one_task_a_slot(pair: Pair, clock: ManualClock) -> None:
    schedule = ScheduleSettings(name="often", text="look", agent="ops", every_s=60.0)
    await pair[0].write(scheduling.configure, Settings(agents=EIGHT.agents, lead="chief", deputy="ops", schedules=(schedule,)))

    async def sweep_and_do(store: Store) -> int:
        made = await store.write(scheduling.make_due)
        for _ in made:
            found = await take(store, "ops")
            if found is not None:
                await store.write(working.finish, "ops", found[1], "ok")
        return len(made)

    for _ in range(ROUNDS):
        clock.at += 60
        assert sum(await asyncio.gather(*(sweep_and_do(store) for store in (*pair, *pair)))) == 1


@rule("M7", "K1")
async def test_an_answer_while_a_task_begins_to_wait_for_it_is_not_lost(pair: Pair) -> None:
    for number in range(ROUNDS):
        task = await add(pair[0])
        _, token = await taken(pair[0])
        asked = await pair[0].write(sending.send, draft("ops", "well?", requires_response=True), as_agent("coder"))

        async def answer(store: Store, ident: str) -> list[str]:
            await store.write(sending.send, draft(None, "yes", in_reply_to=ident), as_agent("ops"))
            return await store.write(working.answer_came, "coder", ident)

        calls: list[Any] = [
            partial(pair[0].write, working.wait_for_answer, "coder", token, asked.message_id),
            partial(answer, pair[1], asked.message_id),
        ]
        found = await at_once(*(calls if number % 2 else calls[::-1]))
        now = await show(pair[0], task.task_id)
        refused = [each for each in found if isinstance(each, Conflict)]
        assert now.state == ("running" if refused else "queued")
        if refused:
            await pair[0].write(working.finish, "coder", token, "answered already")
        else:
            await pair[0].write(changing.cancel, task.task_id, THE_OPERATOR)


@rule("K3", "K1")
async def test_two_splits_that_would_close_a_circle_at_once_do_not(pair: Pair) -> None:
    for number in range(ROUNDS):
        one, other = (
            await add(pair[0], "one", "coder", task_id=f"one{number}"),
            await add(pair[0], "other", "ops", task_id=f"other{number}"),
        )
        tokens = [(await taken(pair[0], agent))[1] for agent in ("coder", "ops")]
        found = await at_once(
            partial(
                pair[0].write, working.split, "coder", tokens[0], [TaskDraft(description="a", agent="sales", dependencies=[other.task_id])]
            ),
            partial(
                pair[1].write, working.split, "ops", tokens[1], [TaskDraft(description="b", agent="intel", dependencies=[one.task_id])]
            ),
        )
        assert sum(isinstance(each, CoveyError) for each in found) == 1
        for task in (one, other):
            if (await show(pair[0], task.task_id)).is_open:
                await pair[0].write(changing.cancel, task.task_id, THE_OPERATOR)
