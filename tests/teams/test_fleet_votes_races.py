"""Sixteen voters at once, and processes killed at their commits: each voter counts once, and a vote ends once (Q4, M3)."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec
import pytest

from covey.agents import configuring
from covey.agents.model import OPERATOR, THE_OPERATOR, as_agent
from covey.base.clock import SystemClock
from covey.base.errors import CoveyError
from covey.base.settings import AgentSettings
from covey.messages import reading as mail
from covey.store import Store, Transaction, events
from covey.store.batches import write_alone
from covey.store.engine import Engine
from covey.teams.votes import casting, closing, opening, reading
from covey.teams.votes.model import VoteDraft, VoteShown
from tests.conftest import EIGHT, Database
from tests.pairs import at_once, pair
from tests.rules import rule
from tests.store.worker import engine_of

__all__ = ["pair"]

ROOT = Path(__file__).parents[2]
WAIT_S = 60.0
VOTERS = [f"voter{number}" for number in range(16)]
SIXTEEN = msgspec.structs.replace(
    EIGHT, agents=tuple(AgentSettings(id=name, port=9000 + place) for place, name in enumerate(VOTERS)), lead="voter0", deputy="voter1"
)
DRAFT = VoteDraft(topic="Which?", voters=VOTERS, options=["a", "b"], vote_id="v", deadline_s=86400.0)


def kinds(tx: Transaction) -> Counter[str]:
    """What happened to the vote, how often."""
    return Counter(event.kind for event in events.of_subject(tx, "v", limit=1000))


def told(tx: Transaction) -> int:
    """How often the operator was told of a result."""
    return sum(each.content["subject"].startswith("Voted") for each in mail.inbox(tx, OPERATOR).items)


@rule("Q4", "N1")
async def test_sixteen_voters_at_once_are_all_counted_and_the_vote_ends_once(pair: tuple[Store, Store]) -> None:
    one, other = pair
    await one.write(configuring.configure, SIXTEEN)
    await one.write(opening.open_vote, DRAFT, THE_OPERATOR)

    def cast(place: int, name: str) -> Callable[[], Awaitable[VoteShown]]:
        store = (one, other)[place % 2]
        return partial(store.write, casting.cast, "v", as_agent(name), "a" if place < 9 else "b", 0.5)

    found = await at_once(*(cast(place, name) for place, name in enumerate(VOTERS)))
    assert not [each for each in found if isinstance(each, CoveyError)]
    vote = await one.read(reading.show, "v", THE_OPERATOR)
    assert vote.result is not None
    assert (vote.result.winner, vote.result.cast, vote.result.silent) == ("a", 16, [])
    assert vote.result.strength == 9 * 0.5 / 16
    assert await one.read(kinds) == {"vote.opened": 1, "vote.cast": 16, "vote.closed": 1}
    assert await one.read(told) == 1


@rule("Q4", "N1")
async def test_ballots_beside_closings_and_sweeps_are_counted_or_refused_never_lost(pair: tuple[Store, Store]) -> None:
    one, other = pair
    await one.write(configuring.configure, SIXTEEN)
    await one.write(opening.open_vote, DRAFT, THE_OPERATOR)
    calls = [partial((one, other)[place % 2].write, casting.cast, "v", as_agent(name), "a") for place, name in enumerate(VOTERS)]
    ends = [partial(other.write, closing.close, "v", THE_OPERATOR), partial(one.write, closing.close_due)]
    found = await at_once(*calls[:8], *ends, *calls[8:])  # type: ignore[arg-type]
    vote = await one.read(reading.show, "v", THE_OPERATOR)
    assert vote.result is not None
    counted = [each for each in (*found[:8], *found[10:]) if isinstance(each, VoteShown)]
    assert vote.result.cast == len(counted)
    assert (await one.read(kinds))["vote.closed"] == 1


@rule("Q4", "T3")
async def test_a_vote_opened_by_two_processes_at_once_under_one_id_is_one(pair: tuple[Store, Store]) -> None:
    one, other = pair
    await one.write(configuring.configure, SIXTEEN)
    found = await at_once(*(partial(store.write, opening.open_vote, DRAFT, THE_OPERATOR) for store in (one, other, one, other)))
    assert sorted(each.known for each in found if isinstance(each, VoteShown)) == [False, True, True, True]
    assert len((await one.read(mail.inbox, "voter0")).items) == 1


@pytest.fixture
def engine(database: Database) -> Iterator[Engine]:
    """A store of sixteen by the real clock, with an open vote."""
    found = engine_of(database.url or str(database.path))
    found.migrate(SystemClock().wall)
    write_alone(found, configuring.configure, SIXTEEN)
    write_alone(found, opening.open_vote, msgspec.structs.replace(DRAFT, voters=VOTERS[:3]), THE_OPERATOR)
    yield found
    found.close()


def run(database: Database, voter: str, task: str) -> str:
    """The word that a process has said, empty for one that died."""
    words = [sys.executable, "-m", "tests.teams.voter", task, database.url or str(database.path), voter]
    done = subprocess.run(words, cwd=ROOT, input="go\n", stdout=subprocess.PIPE, text=True, timeout=WAIT_S, check=False)
    return " ".join(done.stdout.split()[1:])


@rule("Q4", "M3")
@pytest.mark.scenario
@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_ballot_whose_process_is_killed_at_its_commit_is_cast_again_and_counts_once(
    database: Database, engine: Engine, when: str
) -> None:
    for place, voter in enumerate(VOTERS[:3]):
        assert run(database, voter, f"v:a:{when}") == ""
        assert write_alone(engine, kinds)["vote.cast"] == place + (when == "after"), "whole or not at all"
        assert run(database, voter, "v:a") == ("closed" if place == 2 else "open")
        assert write_alone(engine, kinds)["vote.cast"] == place + 1
    vote = write_alone(engine, reading.show, "v", THE_OPERATOR)
    assert vote.result is not None
    assert (vote.result.status, vote.result.cast, vote.result.strength) == ("complete", 3, 0.5)
    assert write_alone(engine, kinds)["vote.closed"] == 1
    assert write_alone(engine, told) == 1
