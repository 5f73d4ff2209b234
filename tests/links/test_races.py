"""Many senders at once, and processes killed at their commits: no credit is spent twice or lost, no message lost or doubled (L8, M3)."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from covey.agents import configuring
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.clock import SystemClock
from covey.links import reading
from covey.links.model import LinkChange
from covey.messages import releasing, relinking, sending
from covey.messages.model import draft
from covey.store import Statement, Store, Transaction
from covey.store.batches import write_alone
from covey.store.engine import Engine
from tests.conftest import Database, ManualClock
from tests.links.conftest import LIMITED
from tests.pairs import pair
from tests.rules import rule
from tests.store.worker import engine_of

__all__ = ["pair"]

ROOT = Path(__file__).parents[2]
WAIT_S = 60.0
PROCESSES = 16
THREADS = 100
AT_ONCE = 24
"""So many connections a PostgreSQL of a test allows beside the others'."""
STATES = Statement("tests:states", "SELECT state, count(*) AS n FROM copies GROUP BY state")
IDS = Statement("tests:ids", "SELECT message_id, state FROM copies ORDER BY seq")
MAKE_DUE = Statement("tests:make_due", "UPDATE copies SET deliver_at = :at WHERE state = 'deferred'")
LAPSE = Statement("tests:lapse", "UPDATE peer_states SET reset_at = :at")


def states(tx: Transaction) -> dict[str, int]:
    return {row.state: row.n for row in tx.all(STATES)}


def copies(tx: Transaction) -> list[tuple[str, str]]:
    return [(row.message_id, row.state) for row in tx.all(IDS)]


def credits_left(tx: Transaction) -> int | None:
    return reading.show(tx, "chief", "coder", THE_OPERATOR).directions["chief"].credits_remaining


def window_ends(tx: Transaction) -> None:
    """The window is over, so that all that waits is due."""
    tx.run(MAKE_DUE, at=tx.now - 1)
    tx.run(LAPSE, at=tx.now - 1)


def address(database: Database) -> str:
    return database.url or str(database.path)


def limit(engine: Engine, messages: int) -> None:
    change = LinkChange(messages_per_window=messages, debounce_s=0.0)
    write_alone(engine, relinking.change, "chief", "coder", change, THE_OPERATOR)


@pytest.fixture
def engine(database: Database) -> Iterator[Engine]:
    """A store of the default eight with limits, by the real clock."""
    found = engine_of(address(database))
    found.migrate(SystemClock().wall)
    write_alone(found, configuring.configure, LIMITED)
    yield found
    found.close()


@contextmanager
def processes(database: Database, *tasks: str) -> Iterator[list[subprocess.Popen[str]]]:
    """A worker process for each task, set up and waiting."""
    made = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.links.worker", task, address(database), f"m{number}"],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for number, task in enumerate(tasks)
    ]  # fmt: skip
    try:
        for each in made:
            assert each.stdout is not None
            assert each.stdout.readline().strip() == "ready"
        yield made
    finally:
        for each in made:
            each.kill()
            each.communicate(timeout=WAIT_S)


def answers(started: list[subprocess.Popen[str]]) -> list[str]:
    """Let all begin at once; the word that each has said, empty for one that died."""
    for each in started:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    said = []
    for each in started:
        assert each.stdout is not None
        said.append(each.stdout.readline().strip())
        each.wait(WAIT_S)
    return said


@rule("L8")
@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_hundred_threads_race_for_the_last_credit_and_one_gets_it(database: Database, engine: Engine) -> None:
    limit(engine, 1)
    gate = threading.Barrier(AT_ONCE)

    def one(number: int) -> str:
        if number < AT_ONCE:
            gate.wait(WAIT_S)
        words = draft("coder", f"message {number}", thread_id=f"t{number}")
        return write_alone(engine, sending.send, words, as_agent("chief")).status

    with ThreadPoolExecutor(AT_ONCE if database.kind == "postgres" else THREADS) as pool:
        found = Counter(pool.map(one, range(THREADS)))
    assert found == {"delivered": 1, "deferred": 1, "exhausted": THREADS - 2}
    assert write_alone(engine, states) == {"delivered": 1, "deferred": 1}
    assert write_alone(engine, credits_left) == 0


@rule("L8")
@pytest.mark.scenario
@pytest.mark.slow
@pytest.mark.timeout(180)
def test_sixteen_processes_race_for_the_last_credit_and_one_gets_it(database: Database, engine: Engine) -> None:
    limit(engine, 1)
    with processes(database, *["send"] * PROCESSES) as started:
        found = Counter(answers(started))
    assert found == {"delivered": 1, "deferred": 1, "exhausted": PROCESSES - 2}
    assert write_alone(engine, credits_left) == 0


@rule("L6", "L8")
@pytest.mark.scenario
@pytest.mark.slow
@pytest.mark.timeout(180)
def test_four_processes_that_deliver_what_is_due_at_once_deliver_each_once(database: Database, engine: Engine) -> None:
    limit(engine, 20)
    for number in range(40):
        write_alone(engine, sending.send, draft("coder", f"{number}", message_id=f"d{number}", thread_id=f"t{number}"), as_agent("chief"))
    write_alone(engine, window_ends)
    with processes(database, *["deliver"] * 4) as started:
        answers(started)
    assert write_alone(engine, states) == {"delivered": 40}
    assert write_alone(engine, credits_left) == 0


@rule("L8", "M3")
@pytest.mark.scenario
@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_send_killed_at_its_commit_is_done_or_not_and_pays_accordingly(database: Database, engine: Engine) -> None:
    limit(engine, 3)
    for when, done in (("before", 0), ("after", 1)):
        with processes(database, f"send:{when}") as started:
            assert answers(started) == [""]
        assert (len(write_alone(engine, copies)), write_alone(engine, credits_left)) == (done, 3 - done)
    again = write_alone(engine, sending.send, draft("coder", "message m0", message_id="m0", thread_id="t.m0"), as_agent("chief"))
    assert (again.known, write_alone(engine, credits_left)) == (True, 2)


@rule("L6", "L8", "M3")
@pytest.mark.scenario
@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_due_delivery_killed_at_its_commit_is_done_or_not_and_pays_accordingly(database: Database, engine: Engine) -> None:
    limit(engine, 3)
    for number in range(5):
        write_alone(engine, sending.send, draft("coder", f"{number}", message_id=f"d{number}", thread_id=f"t{number}"), as_agent("chief"))
    write_alone(engine, window_ends)
    for when, waits, left in (("before", 2, 3), ("after", 0, 1)):
        with processes(database, f"deliver:{when}") as started:
            assert answers(started) == [""]
        assert (write_alone(engine, states).get("deferred", 0), write_alone(engine, credits_left)) == (waits, left)
    assert write_alone(engine, releasing.deliver_due) == 0
    assert write_alone(engine, copies) == [(f"d{number}", "delivered") for number in range(5)]


@rule("L8", "L6")
@pytest.mark.slow
async def test_over_an_hour_of_load_from_two_processes_no_window_has_more_than_its_credits(
    pair: tuple[Store, Store], clock: ManualClock
) -> None:
    chance = random.Random(7)
    await pair[0].write(configuring.configure, LIMITED)
    change = LinkChange(messages_per_window=7, window_hours=1, debounce_s=0.0)
    await pair[0].write(relinking.change, "chief", "coder", change, THE_OPERATOR)
    statuses: Counter[str] = Counter()
    for number in range(300):
        store = pair[number % 2]
        receipt = await store.write(sending.send, draft("coder", f"{number}", thread_id=f"t{number}"), as_agent("chief"))
        statuses[receipt.status] += 1
        clock.at += chance.expovariate(1 / 60.0)
        if chance.random() < 0.2:
            await pair[1 - number % 2].write(releasing.deliver_due)
    clock.at += 3600.0
    while await pair[0].write(releasing.deliver_due):
        pass
    delivered = await pair[0].read(delivered_in_windows)
    assert statuses["exhausted"] > 0
    assert max(delivered.values()) <= 7
    assert sum(delivered.values()) == statuses["delivered"] + statuses["deferred"]


DELIVERED_AT = Statement("tests:delivered_at", "SELECT delivered_at FROM copies WHERE state = 'delivered' ORDER BY delivered_at")


def delivered_in_windows(tx: Transaction) -> dict[float, int]:
    """How many were delivered in each window, a window beginning with the first one after the last lapsed."""
    found: dict[float, int] = {}
    began = float("-inf")
    for row in tx.all(DELIVERED_AT):
        if row.delivered_at >= began + 3600.0:
            began = row.delivered_at
        found[began] = found.get(began, 0) + 1
    return found
