"""`tx.lock`: whoever checks before it acts is alone with what it checks, over all processes and on both databases."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from covey.base.errors import Failed
from covey.store import Store, Transaction, locking
from tests.conftest import Database, ManualClock, opened
from tests.rules import rule
from tests.store.verbs import SET, WAIT_S, get, put

PROCESSES = 4


@pytest.fixture
async def stores(database: Database, clock: ManualClock, tmp_path: Path) -> AsyncIterator[list[Store]]:
    """One database, opened as several processes would."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(opened(database, tmp_path, clock)) for _ in range(PROCESSES)]


def spend(tx: Transaction, sender: str) -> bool:
    """Whether the sender got the credit: look, then take."""
    tx.lock("circle", "")
    left = int(get(tx, "left") or 0)
    time.sleep(0.002)  # widens the gap between the look and the act
    if left == 0:
        return False
    tx.run(SET, name="left", value=str(left - 1))
    tx.happened("credit.spent", subject=sender)
    return True


@rule("N1")
@pytest.mark.parametrize("left", [1, 3])
async def test_many_senders_spend_no_more_than_there_is(stores: list[Store], left: int) -> None:
    await stores[0].write(put, "left", str(left))
    won = await asyncio.gather(*(store.write(spend, f"s{n}") for n in range(4) for store in stores))
    assert sum(won) == left
    assert await stores[-1].read(get, "left") == "0"


@rule("N1")
async def test_opposite_orders_of_locks_are_sorted_out(stores: list[Store]) -> None:
    """Two verbs that take two locks in opposite order: the database ends one of them, which runs again."""

    def both(first: str, second: str) -> Callable[[Transaction], None]:
        def verb(tx: Transaction) -> None:
            tx.lock(first, "")
            time.sleep(0.05)
            tx.lock(second, "")
            tx.run(SET, name="n", value=str(int(get(tx, "n") or 0) + 1))

        return verb

    await stores[0].write(put, "n", "0")
    await asyncio.gather(stores[0].write(both("circle", "dedupe")), stores[1].write(both("dedupe", "circle")))
    assert await stores[0].read(get, "n") == "2"


async def test_locks_told_beforehand_are_taken_once(stores: list[Store]) -> None:
    held = []

    @locking(lambda sender: [("circle", sender), ("dedupe", sender)])
    def told(tx: Transaction, sender: str) -> None:
        before = tx.mark()[-1]
        tx.lock("circle", sender)
        held.append((before, tx.mark()[-1]))

    await stores[0].write(told, "a")
    assert held == [(2, 2)]


class TestOnPostgres:
    """What only a database with many writers can show."""

    @pytest.fixture
    def database(self, postgres: object, request: pytest.FixtureRequest, tmp_path: Path) -> object:
        with request.getfixturevalue("postgres").fresh() as url:
            yield Database("postgres", url, tmp_path / "store.db")

    @rule("T2")
    async def test_time_is_read_once_the_lock_is_there(self, stores: list[Store], clock: ManualClock) -> None:
        """Else a verb that waited for its lock would find traces of a later time than its own."""
        early, done = threading.Event(), threading.Event()

        def waits(tx: Transaction) -> tuple[float, float]:
            before = tx.now
            early.set()
            done.wait(WAIT_S)
            tx.lock("circle", "")
            return before, tx.now

        def late(tx: Transaction) -> float:
            tx.lock("circle", "")
            return tx.now

        waiting = asyncio.ensure_future(stores[0].write(waits))
        await asyncio.to_thread(early.wait, WAIT_S)
        clock.at += 5
        later = await stores[1].write(late)
        done.set()
        before, now = await waiting
        assert before < later <= now

    async def test_a_lock_of_an_unknown_kind_is_a_fault_and_not_nothing(self, stores: list[Store]) -> None:
        with pytest.raises(Failed, match="no lock of the kind 'moon'"):
            await stores[0].write(lambda tx: tx.lock("moon", ""))
