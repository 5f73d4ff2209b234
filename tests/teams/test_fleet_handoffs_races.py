"""Answers at once from two processes, and processes killed at their commits: one owner, one end, and all that came along once (Q3, M3)."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from covey.agents import configuring
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.clock import SystemClock
from covey.base.errors import CoveyError
from covey.contexts import entries
from covey.messages import reading as mail
from covey.store import Statement, Store, Transaction
from covey.store.batches import write_alone
from covey.store.engine import Engine
from covey.tasks import adding, changing, working
from covey.tasks import reading as tasks
from covey.tasks.model import TaskDraft
from covey.teams.handoffs import answering, lapsing, offering, reading
from covey.teams.handoffs.model import DEADLINE_S, Handoff, HandoffDraft
from tests.conftest import Database, ManualClock
from tests.pairs import at_once, pair
from tests.rules import rule
from tests.store.worker import engine_of
from tests.teams.hander import act
from tests.teams.handing_over import owner_of, thinking

__all__ = ["pair"]

ROOT = Path(__file__).parents[2]
WAIT_S = 60.0
OVERDUE = Statement("overdue", "UPDATE handoffs SET deadline = 1")
KINDS = Statement("kinds", "SELECT kind FROM events WHERE kind LIKE 'handoff.%' OR kind = 'task.done'")


def make(tx: Transaction) -> None:
    """The fleet, and the coder's task `t`."""
    configuring.configure(tx, thinking())
    adding.add(tx, TaskDraft(description="a task", agent="coder", task_id="t"), THE_OPERATOR)


class Stands(NamedTuple):
    """How it stands."""

    owner: str | None
    state: str
    told: Counter[str]
    mails: int
    remembered: int


def stands(tx: Transaction) -> Stands:
    row = tasks.seek(tx, "t")
    assert row is not None
    offers = [each for each in mail.inbox(tx, "sales").items if each.type == "handover"]
    known = [entry for entry in entries.live(tx, "sales") if entry.text == "mind the dog"]
    return Stands(owner_of(tx, "t"), row.state, Counter(row.kind for row in tx.all(KINDS)), len(offers), len(known))


@rule("Q3", "N1")
@pytest.mark.parametrize("round_", range(3))
async def test_of_all_that_may_end_an_offer_at_once_one_does(pair: tuple[Store, Store], clock: ManualClock, round_: int) -> None:
    one, other = pair
    await one.write(make)
    claimed = await one.write(working.claim, "coder", "", lease_s=60.0)
    assert claimed is not None
    made = await one.write(offering.offer, HandoffDraft(task_id="t", to="sales"), as_agent("coder"))
    ident, sales, coder = made.handoff_id, as_agent("sales"), as_agent("coder")
    if round_ == 2:
        clock.at += DEADLINE_S
    calls = [
        partial(other.write, answering.accept, ident, sales),
        partial(one.write, answering.decline, ident, sales),
        partial(other.write, answering.decline, ident, coder),
        partial(one.write, answering.accept, ident, THE_OPERATOR),
        partial(one.write, lapsing.expire_due),
        partial(other.write, lapsing.expire_due),
        partial(other.write, working.finish, "coder", claimed[1], "done first"),
    ]
    found: list[object] = [*await at_once(*(calls if round_ != 1 else calls[::-1]))]  # type: ignore[arg-type]
    await one.write(lapsing.withdraw_void)
    new = [each for each in found if isinstance(each, Handoff) and not each.known]
    how = await one.read(stands)
    ended = (await one.read(reading.show, ident)).state
    assert len(new) <= 1
    assert how.told == Counter({"handoff.offered": 1, f"handoff.{ended}": 1, **({"task.done": 1} if how.state == "done" else {})})
    assert how.owner == ("sales" if ended == "accepted" else "coder")
    assert (how.state == "done") <= (ended != "accepted")
    refused = [each for each in found if isinstance(each, CoveyError)]
    assert all(each.code in ("conflict", "lease_lost") for each in refused)


@rule("Q3", "N1")
async def test_of_offers_made_at_once_by_two_processes_one_stands(pair: tuple[Store, Store]) -> None:
    one, other = pair
    await one.write(make)
    names = ("sales", "intel", "devops", "sales", "chief", "finance")
    calls = [
        partial((one, other)[place % 2].write, offering.offer, HandoffDraft(task_id="t", to=name), as_agent("coder"))
        for place, name in enumerate(names)
    ]
    found = await at_once(*calls)
    made = [each for each in found if isinstance(each, Handoff)]
    assert len({each.handoff_id for each in made}) == 1
    assert all("one offer at a time" in each.message for each in found if isinstance(each, CoveyError))
    assert (await one.read(stands)).told == {"handoff.offered": 1}


@rule("Q3", "N1")
async def test_an_acceptance_beside_a_reassignment_and_a_cancellation_leaves_one_owner(pair: tuple[Store, Store]) -> None:
    one, other = pair
    await one.write(make)
    made = await one.write(offering.offer, HandoffDraft(task_id="t", to="sales"), as_agent("coder"))
    await at_once(
        partial(one.write, answering.accept, made.handoff_id, as_agent("sales")),
        partial(other.write, changing.reassign, "t", "intel", THE_OPERATOR),
        partial(other.write, changing.cancel, "t", THE_OPERATOR),
    )
    for _ in range(2):
        await one.write(lapsing.withdraw_void)
    how, found = await one.read(stands), await one.read(reading.show, made.handoff_id)
    assert not found.is_open
    assert how.owner in ("sales", "intel", "coder")
    assert how.state == "cancelled"


# killed at a commit


@pytest.fixture
def engine(database: Database) -> Iterator[Engine]:
    """A store by the real clock, with the coder's task."""
    found = engine_of(database.url or str(database.path))
    found.migrate(SystemClock().wall)
    write_alone(found, make)
    yield found
    found.close()


def run(database: Database, agent: str, task: str) -> str:
    """The word that a process has said, empty for one that died."""
    words = [sys.executable, "-m", "tests.teams.hander", task, database.url or str(database.path), agent]
    done = subprocess.run(words, cwd=ROOT, input="go\n", stdout=subprocess.PIPE, text=True, timeout=WAIT_S, check=False)
    return done.stdout.removeprefix("ready\n").strip()


def overdue(tx: Transaction) -> None:
    """The offer's time is over."""
    tx.run(OVERDUE)


STORIES = {
    "accepted": [("coder", "offer"), ("sales", "accept"), ("sales", "claim"), ("sales", "finish")],
    "handed over": [("coder", "claim"), ("coder", "hand_over"), ("sales", "accept"), ("sales", "claim"), ("sales", "finish")],
    "taken away": [("coder", "claim"), ("coder", "offer"), ("sales", "accept"), ("sales", "claim"), ("sales", "finish")],
    "declined": [("coder", "claim"), ("coder", "hand_over"), ("sales", "decline"), ("coder", "claim"), ("coder", "finish")],
    "expired": [("coder", "offer"), ("system", "expire"), ("coder", "claim"), ("coder", "finish")],
}


@rule("Q3", "M3", "N1")
@pytest.mark.scenario
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("story", list(STORIES))
def test_a_kill_before_or_after_any_commit_of_a_handoff_does_each_thing_once(database: Database, engine: Engine, story: str) -> None:
    """Each step is done by a process that dies before its commit, then by one that dies after it, then once more."""
    way = STORIES[story]
    for agent, what in way:
        if what == "expire":
            write_alone(engine, overdue)
        before = write_alone(engine, stands)
        assert run(database, agent, f"{what}:before") == ""
        assert write_alone(engine, stands) == before, "nothing of what was not committed is there"
        assert run(database, agent, f"{what}:after") == ""
        after = write_alone(engine, stands)
        assert after != before
        assert act(engine, what, agent) in ("offered", "accepted", "declined", "nothing", "lease_lost"), "done again, it is known"
        assert write_alone(engine, stands) == after
    end = write_alone(engine, stands)
    doer = way[-1][0]
    ended = {"declined": "declined", "expired": "expired"}.get(story, "accepted")
    assert (end.owner, end.state, end.told) == (doer, "done", {"handoff.offered": 1, f"handoff.{ended}": 1, "task.done": 1})
    assert (end.mails, end.remembered) == (1, int(ended == "accepted"))
