"""Real processes killed with SIGKILL in the middle of their batches: what was acknowledged is there, and there is no half of anything."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from covey.agents import configuring
from covey.base.clock import SystemClock
from covey.store import Transaction, upkeep
from covey.store.batches import write_alone
from covey.store.engine import Engine
from covey.store.statements import Statement
from tests.conftest import EIGHT, Database
from tests.rules import rule
from tests.store.processes import workers
from tests.store.worker import engine_of

IDS = Statement("tests:ids", "SELECT id FROM messages")
COPIES = Statement("tests:copies", "SELECT message_id, count(*) AS n FROM copies GROUP BY message_id")
TOLD = Statement("tests:told", "SELECT subject, count(*) AS n FROM events WHERE kind = 'message.sent' GROUP BY subject")
KILLS = 5


def stored(tx: Transaction) -> tuple[set[str], dict[str, int], dict[str, int]]:
    """The ids of all messages; how many copies each has; how often each was told of."""
    return (
        {row.id for row in tx.all(IDS)},
        {row.message_id: row.n for row in tx.all(COPIES)},
        {row.subject: row.n for row in tx.all(TOLD)},
    )


@pytest.fixture
def engine(database: Database) -> Engine:
    """A store of eight agents, with the real clock."""
    found = engine_of(database.url or str(database.path))
    found.migrate(SystemClock().wall)
    write_alone(found, configuring.configure, EIGHT)
    return found


@rule("M3", "N1")
@pytest.mark.scenario
@pytest.mark.slow
def test_what_was_acknowledged_before_a_kill_is_there_and_nothing_is_by_halves(database: Database, engine: Engine, tmp_path: Path) -> None:
    chance = random.Random(20)
    acknowledged: set[str] = set()
    for kill in range(KILLS):
        with workers("send", "send", store=database.url or str(database.path), folder=tmp_path, name=f"k{kill}.") as started:
            for worker in started:
                worker.go()
            for _ in range(chance.randrange(1, 200)):
                started[0].line()
            for worker in started:
                acknowledged |= set(worker.kill()) - {"ready"}
        ids, copies, told = write_alone(engine, stored)
        assert acknowledged <= ids
        assert copies == dict.fromkeys(ids, 2)
        assert told == dict.fromkeys(ids, 1)
    assert len(acknowledged) > KILLS
    upkeep.check(engine)
