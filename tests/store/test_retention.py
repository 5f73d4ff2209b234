"""What ended long ago goes, with all that belongs to it; what is open, dead, or still referred to stays."""

from __future__ import annotations

import pytest

from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.errors import IdTaken
from covey.base.settings import Retention
from covey.messages import handling, indexing, reading, sending
from covey.messages import retention as mail
from covey.messages.model import MAX_ATTEMPTS, draft
from covey.store import Store, Transaction, answered, events, upkeep
from covey.store.answered import Given, Request
from covey.store.statements import Statement
from covey.store.upkeep import DAY_S, Pruned
from covey.tasks import adding, runs, working
from covey.tasks import reading as task_reading
from covey.tasks import retention as work
from covey.tasks.model import TaskDraft
from tests.conftest import ManualClock
from tests.rules import rule

LEFT = {
    name: Statement(f"tests:{name}", f"SELECT count(*) AS n FROM {name}")
    for name in ("messages", "copies", "message_words", "tasks", "needs", "runs", "events", "answered_requests")
}
CLOSED = {"messages": mail.prune, "tasks": work.prune, "runs": work.prune_runs}
KEEP = Retention(events_days=30, closed_days=90)


def left(tx: Transaction) -> dict[str, int]:
    """How many rows each growing table has."""
    return {name: tx.all(count)[0].n for name, count in LEFT.items()}


def send(tx: Transaction, ident: str, *, priority: str = "medium", asks_until: float | None = None) -> None:
    words = draft(
        "coder", f"about {ident}", message_id=ident, priority=priority, requires_response=asks_until is not None, deadline=asks_until
    )
    sending.send(tx, words, as_agent("chief"))


def handle(tx: Transaction, ident: str) -> None:
    handling.acknowledge(tx, "coder", ident)


def finish(tx: Transaction, run: str) -> str:
    """The next task of the coder, done by this run."""
    claimed = working.claim(tx, "coder", run, lease_s=60)
    assert claimed is not None
    task, token = claimed
    runs.open_run(tx, run, item=task.task_id, kind="task", agent="coder", node="here", attempt=1)
    runs.close(tx, run, "done")
    working.finish(tx, "coder", token, "done")
    return task.task_id


def add(tx: Transaction, ident: str, *needs: str) -> None:
    adding.add(tx, TaskDraft(description=ident, agent="coder", task_id=ident, dependencies=list(needs)), THE_OPERATOR)


async def test_handled_mail_goes_after_ninety_days_with_its_copies_and_words(fleet: Store, clock: ManualClock) -> None:
    await fleet.write(send, "old")
    await fleet.write(handle, "old")
    await fleet.write(indexing.index_new)
    clock.at += 50 * DAY_S
    await fleet.write(send, "young")
    await fleet.write(handle, "young")
    await fleet.write(indexing.index_new)
    assert (await upkeep.retain(fleet, KEEP, CLOSED))["messages"] == 0
    clock.at += 41 * DAY_S
    assert (await upkeep.retain(fleet, KEEP, CLOSED))["messages"] == 1
    counts = await fleet.read(left)
    assert (counts["messages"], counts["copies"], counts["message_words"]) == (1, 1, 1)
    assert [message.message_id for message in await fleet.read(reading.search, "about")] == ["young"]


async def test_mail_that_is_waiting_leased_dead_or_unanswered_stays_however_old(fleet: Store, clock: ManualClock) -> None:
    def to_death(tx: Transaction) -> None:
        send(tx, "dead", priority="urgent")
        for _ in range(MAX_ATTEMPTS):
            claimed = handling.claim(tx, "coder", "run", lease_s=60, digest_s=900)
            assert claimed is not None
            handling.failed(tx, "coder", claimed.token, "no")
            tx.now += 100

    await fleet.write(to_death)
    clock.at += 1000
    await fleet.write(send, "asked", asks_until=clock.wall() + 400 * DAY_S)
    await fleet.write(handle, "asked")
    await fleet.write(send, "leased", priority="urgent")
    assert await fleet.write(handling.claim, "coder", "run", lease_s=60, digest_s=900) is not None
    await fleet.write(send, "waits")
    clock.at += 200 * DAY_S
    assert (await upkeep.retain(fleet, KEEP, CLOSED))["messages"] == 0
    for ident in ("dead", "asked", "leased", "waits"):
        assert await fleet.read(reading.show, ident)


async def test_mail_handled_lately_stays_though_it_came_long_ago(fleet: Store, clock: ManualClock) -> None:
    await fleet.write(send, "slow")
    clock.at += 200 * DAY_S
    await fleet.write(handle, "slow")
    assert (await upkeep.retain(fleet, KEEP, CLOSED))["messages"] == 0
    clock.at += 91 * DAY_S
    assert (await upkeep.retain(fleet, KEEP, CLOSED))["messages"] == 1


async def test_closed_tasks_go_with_their_needs_and_runs(fleet: Store, clock: ManualClock) -> None:
    await fleet.write(add, "first")
    await fleet.write(add, "second", "first")
    assert await fleet.write(finish, "run-1") == "first"
    assert await fleet.write(finish, "run-2") == "second"
    clock.at += 91 * DAY_S
    gone = await upkeep.retain(fleet, KEEP, CLOSED)
    assert (gone["tasks"], gone["runs"]) == (2, 2)
    counts = await fleet.read(left)
    assert (counts["tasks"], counts["needs"], counts["runs"]) == (0, 0, 0)


async def test_a_closed_part_stays_as_long_as_the_whole_is_open(fleet: Store, clock: ManualClock) -> None:
    def two_parts(tx: Transaction) -> None:
        add(tx, "whole")
        claimed = working.claim(tx, "coder", "run", lease_s=60)
        assert claimed is not None
        parts = [TaskDraft(description=name, agent="coder", task_id=name) for name in ("part-1", "part-2")]
        working.split(tx, "coder", claimed[1], parts)

    await fleet.write(two_parts)
    assert await fleet.write(finish, "run-1") == "part-1"
    clock.at += 200 * DAY_S
    assert (await upkeep.retain(fleet, KEEP, CLOSED))["tasks"] == 0
    assert await fleet.write(finish, "run-2") == "part-2"
    whole = await fleet.read(task_reading.show, "whole")
    assert [part["taskId"] for part in whole.result["parts"]] == ["part-1", "part-2"]
    clock.at += 91 * DAY_S
    await upkeep.retain(fleet, KEEP, CLOSED)
    assert (await fleet.read(left))["tasks"] == 0


async def test_a_closed_task_stays_as_long_as_an_open_one_needs_it(fleet: Store, clock: ManualClock) -> None:
    await fleet.write(add, "needed")
    await fleet.write(add, "other")
    await fleet.write(add, "needs-both", "needed", "other")
    assert await fleet.write(finish, "run-1") == "needed"
    clock.at += 200 * DAY_S
    assert (await upkeep.retain(fleet, KEEP, CLOSED))["tasks"] == 0
    assert (await fleet.read(task_reading.show, "needs-both")).dependencies == ["needed", "other"]


@rule("T3")
async def test_ids_are_known_for_seven_days_whatever_is_configured(fleet: Store, clock: ManualClock) -> None:
    await fleet.write(send, "m1")
    await fleet.write(handle, "m1")
    clock.at += 6.9 * DAY_S
    await upkeep.retain(fleet, Retention(closed_days=0.001), CLOSED)
    with pytest.raises(IdTaken):
        await fleet.write(sending.send, draft("coder", "mine", message_id="m1"), as_agent("sales"))
    clock.at += 0.2 * DAY_S
    await upkeep.retain(fleet, Retention(closed_days=0.001), CLOSED)
    assert (await fleet.read(left))["messages"] == 0


async def test_old_events_and_answered_requests_go(fleet: Store, clock: ManualClock) -> None:
    await fleet.write(answered.once, Request("operator", "key", "digest"), lambda result: Given(200, "{}"), send, "m1")
    assert (await fleet.read(left))["answered_requests"] == 1
    clock.at += 8 * DAY_S
    assert (await upkeep.retain(fleet, KEEP, CLOSED))["requests"] == 1
    before = (await fleet.read(left))["events"]
    assert before > 0
    clock.at += 23 * DAY_S
    assert (await upkeep.retain(fleet, KEEP, CLOSED))["events"] == before
    await fleet.write(send, "m2")
    assert (await upkeep.retain(fleet, Retention(events_bytes=0), CLOSED))["events"] == 0, "what happened in this moment stays"
    clock.at += 1
    assert (await upkeep.retain(fleet, Retention(events_bytes=0), CLOSED))["events"] == 1
    assert (await fleet.read(events.after, events.START)).events == []


async def test_each_step_looks_at_so_many_rows_and_the_next_goes_on_from_there(fleet: Store, clock: ManualClock) -> None:
    def many(tx: Transaction) -> None:
        for n in range(25):
            send(tx, f"m{n:02}")
            if n % 2:
                handle(tx, f"m{n:02}")

    await fleet.write(many)
    clock.at += 100 * DAY_S
    await fleet.write(send, "young")
    step, steps = Pruned(0, 0), []
    while step.after is not None:
        step = await fleet.write(mail.prune, older_s=90 * DAY_S, after=step.after, limit=10)
        steps.append(step.deleted)
    assert steps == [5, 5, 2]
    assert (await fleet.read(left))["messages"] == 14
