"""`why` of a task: where it stands and what it waits for, from the store."""

from __future__ import annotations

import msgspec
import pytest

from covey.agents import configuring, living
from covey.agents.model import THE_OPERATOR, THE_SYSTEM, as_agent
from covey.base.errors import Conflict
from covey.base.settings import AgentSettings, Settings
from covey.messages import sending
from covey.messages.model import draft
from covey.reports.model import Why
from covey.reports.why import why
from covey.store import Store
from covey.tasks import changing, working
from covey.tasks.model import TaskDraft
from tests.conftest import ManualClock
from tests.reports.acting import add, awake, take
from tests.rules import rule


async def asked(store: Store, ident: str) -> Why:
    found = await store.read(why, ident)
    assert msgspec.json.decode(msgspec.json.encode(found))["kind"] == found.kind
    return found


@rule("K8")
async def test_a_task_that_needs_others_names_them_and_the_first_unfinished_behind_them(fleet: Store) -> None:
    await awake(fleet)
    a = await add(fleet, "Dig", "coder", task_id="dig")
    b = await add(fleet, "Pour", "coder", task_id="pour", dependencies=[a.task_id])
    await add(fleet, "Build", "ops", task_id="build", dependencies=[b.task_id])
    await take(fleet, "coder")
    found = await asked(fleet, "build")
    assert (found.kind, found.facts["state"]) == ("task", "blocked")
    assert "It needs pour (blocked) to be done first." in found.sentence
    assert "the first unfinished task is dig (“Dig”, running with coder)" in found.sentence
    assert [need["taskId"] for need in found.facts["needs"]] == ["pour"]
    assert found.facts["firstUnfinished"]["taskId"] == "dig"
    assert "It needs dig (running with coder) to be done first." in (await asked(fleet, "pour")).sentence


@rule("K8", "K5a")
async def test_a_task_that_wants_approval_says_how_to_give_it(fleet: Store) -> None:
    task = await add(fleet, "Pay the bill", "finance", approval=True)
    found = await asked(fleet, task.task_id)
    assert f"`covey approve {task.task_id}`" in found.sentence
    assert found.facts["approval"] == "wanted"
    last = await add(fleet, "Book it", "finance", dependencies=[task.task_id])
    assert "which wants the operator's approval" in (await asked(fleet, last.task_id)).sentence


@rule("K8", "M7")
async def test_a_task_that_waits_for_an_answer_says_from_whom_and_until_when(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    task = await add(fleet, "Price the deal", "sales")
    _, token = await take(fleet, "sales")
    receipt = await fleet.write(sending.send, draft("finance", "What is the floor?", requires_response=True), as_agent("sales"))
    await fleet.write(working.wait_for_answer, "sales", token, receipt.message_id)
    clock.at += 600
    found = await asked(fleet, task.task_id)
    assert f"It waits for finance to answer the message {receipt.message_id}, sent 10 min ago" in found.sentence
    assert "floor" not in str(msgspec.to_builtins(found))
    assert "and gives up in 50 min" in found.sentence
    assert found.facts["waitsFor"]["from"] == ["finance"]


@rule("K8")
async def test_a_queued_task_says_how_many_are_before_it_and_with_what_its_agent_is_busy(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    await add(fleet, "First", "coder", task_id="first")
    await take(fleet, "coder")
    await add(fleet, "Second", "coder")
    clock.at += 1
    third = await add(fleet, "Third", "coder")
    await add(fleet, "Urgent for a coder", capability="code", priority="urgent")
    found = await asked(fleet, third.task_id)
    assert "It waits in coder's own queue; 1 task is before it." in found.sentence
    assert "Up to 1 more, from the queues that coder shares with others, may go first." in found.sentence
    assert "coder is busy with first (“First”)" in found.sentence
    assert (found.facts["before"], found.facts["beforeShared"], found.facts["able"]) == (1, 1, ["coder"])


@rule("K8", "A1a")
async def test_work_that_nobody_is_able_to_take_says_why_not(fleet: Store, clock: ManualClock) -> None:
    task = await add(fleet, "Test it", capability="test")
    assert "Nobody is able to take it now: coder is down: it has no process that beats." in (await asked(fleet, task.task_id)).sentence
    await awake(fleet)
    assert "coder may take it; coder is free." in (await asked(fleet, task.task_id)).sentence
    await fleet.write(living.pause, "coder", THE_OPERATOR, "lunch")
    found = await asked(fleet, task.task_id)
    assert "Nobody is able to take it now: coder is paused: lunch." in found.sentence
    assert found.facts["notAble"] == {"coder": "is paused: lunch"}
    own = await add(fleet, "Code it", "coder")
    assert "coder takes no work now: it is paused: lunch." in (await asked(fleet, own.task_id)).sentence
    await fleet.write(living.stop, "coder", THE_OPERATOR, "fire")
    assert "coder is stopped: fire" in (await asked(fleet, task.task_id)).sentence
    await fleet.write(living.give_up, "coder", "five restarts")
    assert "coder is in error: five restarts" in (await asked(fleet, task.task_id)).sentence


@rule("K8")
async def test_a_capability_that_nobody_has_any_more_is_said(store: Store) -> None:
    two = (AgentSettings(id="a", port=8001, capabilities=("general", "dig")), AgentSettings(id="b", port=8002))
    await store.write(configuring.configure, Settings(agents=two))
    shared, own = await add(store, "Dig", capability="dig"), await add(store, "Dig more", "a")
    await store.write(configuring.configure, Settings(agents=two[1:]))
    assert "Nobody in the fleet has that capability." in (await asked(store, shared.task_id)).sentence
    assert "a, who was removed from the fleet" in (await asked(store, own.task_id)).sentence


@rule("K8", "K5")
async def test_a_task_in_backoff_says_which_attempt_failed_why_and_when_the_next_comes(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    task = await add(fleet, "Fetch", "intel")
    _, token = await take(fleet, "intel")
    await fleet.write(working.fail, "intel", token, "the site is down")
    found = await asked(fleet, task.task_id)
    assert "Attempt 1 of 3 failed: the site is down. It is tried again in " in found.sentence
    assert found.facts["notBefore"] is not None
    clock.at += 10
    assert "failed: the site is down. The next attempt waits for its turn." in (await asked(fleet, task.task_id)).sentence


@rule("K8")
async def test_a_task_for_later_and_one_with_a_deadline_say_so(fleet: Store, clock: ManualClock) -> None:
    now = await fleet.read(lambda tx: tx.now)
    task = await add(fleet, "Later", "ops", not_before=now + 7200, deadline=now + 9000)
    found = await asked(fleet, task.task_id)
    assert "It starts in 2 h" in found.sentence
    assert "If it still waits at its deadline, in 2 h 30 min" in found.sentence


@rule("K8", "K4")
async def test_a_running_task_says_who_holds_it_since_when_and_how_far_it_is(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    task = await add(fleet, "Count", "coder", estimated_seconds=120.0)
    _, token = await take(fleet, "coder")
    clock.at += 30
    await fleet.write(working.progress, "coder", token, "half of it")
    clock.at += 10
    found = await asked(fleet, task.task_id)
    assert "coder has held it since 40 s ago" in found.sentence
    assert "in attempt 1 of 3" in found.sentence
    assert "by its estimate of 2 min the end is in 1 min" in found.sentence
    assert "Last progress 10 s ago" in found.sentence
    assert "“half of it”" in found.sentence
    assert "The lease stands until" in found.sentence
    clock.at += 60
    assert "Its lease ended 40 s ago" in (await asked(fleet, task.task_id)).sentence
    await fleet.write(living.stop, "coder", THE_OPERATOR)
    assert "coder is stopped, so its brain is being ended." in (await asked(fleet, task.task_id)).sentence


@rule("K8")
async def test_a_claim_without_a_start_is_said(fleet: Store) -> None:
    task = await add(fleet, "Count", "coder")
    await fleet.write(working.claim, "coder", "run_1", lease_s=60.0)
    assert "Its brain has not started yet" in (await asked(fleet, task.task_id)).sentence


@rule("K8", "K3")
async def test_ended_tasks_say_how_when_and_why(fleet: Store, clock: ManualClock) -> None:
    await awake(fleet)
    good, bad, dropped = [await add(fleet, text, "coder", max_attempts=1) for text in ("Good", "Bad", "Dropped")]
    after = await add(fleet, "After", "ops", dependencies=[bad.task_id])
    _, token = await take(fleet, "coder")
    clock.at += 5
    await fleet.write(working.finish, "coder", token, "7")
    _, token = await take(fleet, "coder")
    await fleet.write(working.fail, "coder", token, "no disk")
    await fleet.write(changing.cancel, dropped.task_id, THE_OPERATOR, "no longer wanted")
    clock.at += 60
    assert "coder finished it 1 min ago" in (await asked(fleet, good.task_id)).sentence
    assert "after 5 s" in (await asked(fleet, good.task_id)).sentence
    failed = (await asked(fleet, bad.task_id)).sentence
    assert "The reason, after 1 of 1 attempts: no disk." in failed
    assert f"`covey task retry {bad.task_id}`" in failed
    assert "The reason: no longer wanted." in (await asked(fleet, dropped.task_id)).sentence
    assert f"The reason: it needs {bad.task_id}, which is failed: no disk." in (await asked(fleet, after.task_id)).sentence


@rule("K8", "K3")
async def test_a_failed_task_says_what_brings_it_back_and_what_it_says_is_so(fleet: Store) -> None:
    await awake(fleet)
    bad, dropped = [await add(fleet, text, "coder", max_attempts=1) for text in ("Bad", "Dropped")]
    after_bad = await add(fleet, "After", "ops", dependencies=[bad.task_id])
    after_dropped = await add(fleet, "After", "ops", dependencies=[dropped.task_id])
    _, token = await take(fleet, "coder")
    await fleet.write(working.fail, "coder", token, "no disk")
    await fleet.write(changing.cancel, dropped.task_id, THE_OPERATOR)
    said = (await asked(fleet, after_bad.task_id)).sentence
    assert said.endswith(f"Once {bad.task_id} is retried, `covey task retry {after_bad.task_id}` queues it again.")
    await fleet.write(changing.retry, bad.task_id, THE_OPERATOR)
    assert (await fleet.write(changing.retry, after_bad.task_id, THE_OPERATOR)).state == "blocked"
    said = (await asked(fleet, after_dropped.task_id)).sentence
    assert said.endswith(f"It can't be tried again, since {dropped.task_id} was cancelled; add a new task instead.")
    with pytest.raises(Conflict, match="which is cancelled; what was cancelled stays so; add a new task instead"):
        await fleet.write(changing.retry, after_dropped.task_id, THE_OPERATOR)


@rule("K8", "H3")
async def test_a_split_task_waits_for_its_parts(fleet: Store) -> None:
    await awake(fleet)
    whole = await add(fleet, "All", "coder")
    _, token = await take(fleet, "coder")
    parts = await fleet.write(
        working.split, "coder", token, [TaskDraft(description="One", agent="coder"), TaskDraft(description="Two", agent="ops")]
    )
    await take(fleet, "ops")
    found = await asked(fleet, whole.task_id)
    assert f"still open: {parts[0].task_id} (queued for coder) and {parts[1].task_id} (running with ops)." in found.sentence
    assert [part["taskId"] for part in found.facts["parts"]] == [part.task_id for part in parts]
    assert found.facts["needs"] == []


@rule("K8")
async def test_a_long_chain_ends_in_its_first_unfinished_task(fleet: Store) -> None:
    before: list[str] = []
    for number in range(40):
        task = await add(fleet, f"step {number}", "ops", task_id=f"step-{number}", dependencies=before)
        before = [task.task_id]
    assert (await asked(fleet, "step-39")).facts["firstUnfinished"]["taskId"] == "step-0"


@pytest.mark.parametrize("origin", ["system", "operator"])
@rule("K8")
async def test_who_made_it_is_said(fleet: Store, origin: str) -> None:
    from covey.tasks import adding

    by = THE_SYSTEM if origin == "system" else THE_OPERATOR
    task = await fleet.write(adding.add, TaskDraft(description="Look", agent="ops"), by)
    assert f"from {origin}" in (await asked(fleet, task.task_id)).sentence
