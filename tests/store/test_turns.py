"""Who writes to the embedded store, between real processes: each in its turn, nobody for ever."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from covey.base.clock import SystemClock
from covey.base.errors import StoreBusy, StoreUnavailable
from covey.base.ids import Ids
from covey.store import DatagramBell, Store
from covey.store.batches import write_alone
from covey.store.sqlite import SqliteEngine
from covey.store.turns import TurnLock, turn, turn_holder
from tests.rules import rule
from tests.store.processes import WAIT_S, workers
from tests.store.verbs import names, put


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store that is set up."""
    found = tmp_path / "store.db"
    SqliteEngine(found, SystemClock()).migrate(SystemClock().wall)
    return found


@pytest.fixture
def lock_path(path: Path) -> Path:
    return path.with_name("store.db.lock")


def counts_of(path: Path, names_: list[str]) -> list[int]:
    """How much each process has written so far."""
    written = write_alone(SqliteEngine(path, SystemClock()), names)
    return [sum(each.startswith(f"{name}.") for each in written) for name in names_]


@rule("N1")
@pytest.mark.scenario
@pytest.mark.slow
def test_each_of_eight_processes_gets_its_share(path: Path, tmp_path: Path) -> None:
    with workers(*["count"] * 8, store=str(path), folder=tmp_path) as started:
        for worker in started:
            worker.go()
        for worker in started:
            worker.line()  # each has begun
        before = counts_of(path, [f"w{n}" for n in range(8)])
        while int(started[0].line()) < before[0] + 200:
            pass
        after = counts_of(path, [f"w{n}" for n in range(8)])
        for worker in started:
            worker.end()
    shares = [there - here for here, there in zip(before, after, strict=True)]
    assert min(shares) * 3 >= max(shares), f"shares differ: {shares}"


@rule("N1")
@pytest.mark.scenario
def test_a_stopped_holder_costs_the_others_their_patience_and_nothing_else(path: Path, lock_path: Path, tmp_path: Path) -> None:
    with workers("stop", "hasty", "hasty", store=str(path), folder=tmp_path) as (holder, *others):
        holder.go()
        assert holder.line() == "stops"
        held = wait_for(lambda: turn_holder(lock_path))
        assert held[0] == holder.pid
        assert 0 <= SystemClock().boot() - held[1] < WAIT_S
        for other in others:
            other.go()
        assert [other.line() for other in others] == ["store_busy", "store_busy"]
        holder.signal(signal.SIGCONT)
        assert holder.line() == "done"
        holder.end()
        for other in others:
            other.end()
    assert turn_holder(lock_path) is None
    assert write_alone(SqliteEngine(path, SystemClock()), names) == ["w0"], "what was given up was not stored later either"


@rule("N1")
@pytest.mark.scenario
def test_a_killed_holder_holds_nothing(path: Path, lock_path: Path, tmp_path: Path) -> None:
    with workers("stop", "once", store=str(path), folder=tmp_path) as (holder, other):
        holder.go()
        assert holder.line() == "stops"
        assert wait_for(lambda: turn_holder(lock_path))[0] == holder.pid
        holder.kill()
        assert turn_holder(lock_path) is None
        other.go()
        assert other.line() == "w1"
        other.end()
    assert write_alone(SqliteEngine(path, SystemClock()), names) == ["w1"], "half of a verb is nothing"


def wait_for(look: Callable[[], tuple[int, float] | None]) -> tuple[int, float]:
    """What a look finds, once it finds something."""
    end = time.monotonic() + WAIT_S
    while (found := look()) is None:
        assert time.monotonic() < end, "nothing was found in time"
    return found


def test_the_holder_is_told_only_while_it_holds(lock_path: Path) -> None:
    assert turn_holder(lock_path.with_name("nowhere")) is None
    assert turn_holder(lock_path) is None
    with turn(lock_path, SystemClock()):
        held = turn_holder(lock_path)
        assert held is not None
        assert held[0] == os.getpid()
    assert turn_holder(lock_path) is None


def test_a_turn_just_taken_is_not_put_down_to_whoever_had_it_last(lock_path: Path) -> None:
    with turn(lock_path, SystemClock()):
        pass
    with lock_path.open("rb") as unsigned:
        fcntl.flock(unsigned, fcntl.LOCK_EX)
        assert turn_holder(lock_path) is None


def test_a_store_that_is_set_up_opens_while_somebody_holds_the_turn(path: Path, lock_path: Path) -> None:
    with lock_path.open("rb") as stranger:
        fcntl.flock(stranger, fcntl.LOCK_EX)
        assert SqliteEngine(path, SystemClock()).migrate(SystemClock().wall) == []


def test_one_piece_of_work_waits_for_its_turn_so_long_and_says_who_has_it(lock_path: Path) -> None:
    with turn(lock_path, SystemClock()):
        with (
            pytest.raises(StoreBusy, match=f"the process {os.getpid()} has held .*store.db.lock for 0.05 s; nothing was stored") as refused,
            turn(lock_path, SystemClock(), patience_s=0.05),
        ):
            raise AssertionError("two have the turn")
        assert refused.value.retry_at is not None


async def test_a_store_closes_soon_though_a_write_that_was_given_up_has_no_turn(path: Path, lock_path: Path, tmp_path: Path) -> None:
    store = Store(SqliteEngine(path, SystemClock()), DatagramBell(tmp_path / "bells"), patience_s=0.1)
    with lock_path.open("rb") as stranger:
        fcntl.flock(stranger, fcntl.LOCK_EX)
        with pytest.raises(StoreBusy):
            await store.write(put, "a")
        store._patience_s = 60.0  # what a close would wait for what is still waited for
        began = time.monotonic()
        await store.close()
        assert time.monotonic() - began < WAIT_S
    assert write_alone(SqliteEngine(path, SystemClock()), names) == [], "what was given up was not stored later either"


def test_a_turn_can_be_waited_for_so_long(lock_path: Path) -> None:
    mine, yours = TurnLock(lock_path, SystemClock()), TurnLock(lock_path, SystemClock())
    assert mine.take_within(0)
    assert not yours.take_within(0.02)
    mine.give()
    assert yours.take_within(0)
    yours.close()
    assert mine.take_within(0), "whoever closes gives its turn back"
    mine.close()


def test_a_store_deleted_while_it_is_open_takes_no_more_writes(path: Path, lock_path: Path) -> None:
    writer = SqliteEngine(path, SystemClock()).writer(Ids())
    writer.wait_turn()
    writer.end_turn()
    lock_path.unlink()
    with pytest.raises(StoreUnavailable, match=r"was deleted while the store is open; nothing was stored"):
        writer.wait_turn()
    writer.close()
