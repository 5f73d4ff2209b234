"""The stamp of commits: whoever polls reads it instead of asking the store, and trusts it only as far as it can be trusted (M4b)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from covey.agents import living
from covey.base.clock import SystemClock
from covey.nodes import records
from covey.store import Store, Transaction, events, relaxed
from covey.store.batches import write_alone
from covey.store.sqlite import SqliteEngine
from covey.store.turns import Stamp, TurnLock, turn
from tests.rules import rule
from tests.store.verbs import get, put


@pytest.fixture
def engine(tmp_path: Path) -> SqliteEngine:
    """A store that is set up."""
    found = SqliteEngine(tmp_path / "store.db", SystemClock())
    found.migrate(SystemClock().wall)
    return found


def stamp_of(engine: SqliteEngine) -> Stamp:
    found = engine.stamp()
    assert found is not None
    return found


def ring(tx: Transaction) -> None:
    """Wakes somebody and writes nothing."""
    tx.ring("coder")


@relaxed
def fail(tx: Transaction) -> None:
    """Writes, and then can't go on."""
    put(tx, "half", "done")
    raise ZeroDivisionError


@rule("M4b")
def test_every_commit_that_changes_something_is_counted_whoever_makes_it(engine: SqliteEngine) -> None:
    other = SqliteEngine(engine.path, SystemClock())
    before = stamp_of(engine)
    write_alone(other, put, "a", "1")
    write_alone(engine, ring)
    assert stamp_of(engine) == stamp_of(other) == (before.changes + 2, before.commits + 2)


@rule("M4b")
def test_reads_and_what_was_undone_are_not_counted(engine: SqliteEngine) -> None:
    write_alone(engine, put, "a", "1")
    before = stamp_of(engine)
    assert write_alone(engine, get, "a") == "1"
    with pytest.raises(ZeroDivisionError):
        write_alone(engine, fail)
    assert stamp_of(engine) == before


@rule("M4b", "A8")
async def test_signs_of_life_and_bookmarks_are_commits_that_nobody_has_to_look_for(fleet: Store) -> None:
    if fleet.stamp() is None:
        pytest.skip("a server keeps no stamp")
    await fleet.write(living.arrive, "coder", node="here", pid=1, start_ticks=1, boot_id="b", port=1)
    await fleet.write(records.register, "here", host="h", pid=1, start_ticks=1, boot_id="b", version="1")
    assert await fleet.write(records.beat, "here") == 1  # a leader is elected, which is news
    before = fleet.stamp()
    await fleet.write(living.beat, "coder", pid=1)
    assert await fleet.write(records.beat, "here") == 1
    await fleet.write(events.set_bookmark, "logs", events.START)
    after = fleet.stamp()
    assert before is not None
    assert after == (before.changes, before.commits + 3)


@rule("M4b")
@pytest.mark.parametrize("left", ["the holder's name, as who was killed leaves it", "blanks, as a version without a stamp does"])
def test_after_a_holder_that_may_not_have_counted_the_next_one_counts_for_it(engine: SqliteEngine, left: str) -> None:
    write_alone(engine, put, "a", "1")
    before = stamp_of(engine)
    lock = TurnLock(engine.lock_path, SystemClock())
    lock.take()
    if left.startswith("blanks"):
        lock.give()
        file = os.open(engine.lock_path, os.O_WRONLY)
        os.pwrite(file, b" " * 42, 0)
        os.close(file)
        assert engine.stamp() is None  # so that whoever polls looks
    lock.close()
    with turn(engine.lock_path, SystemClock()):
        pass
    assert stamp_of(engine).changes == before.changes + 1


@rule("M4b")
def test_a_store_whose_lock_file_is_gone_has_no_stamp(tmp_path: Path) -> None:
    engine = SqliteEngine(tmp_path / "store.db", SystemClock())
    assert engine.stamp() is None
    engine.close()


@rule("M4b")
def test_what_a_verb_took_back_is_no_change(engine: SqliteEngine) -> None:
    def tries(tx: Transaction) -> bool:
        mark = tx.mark()
        tx.ring("coder")
        assert tx.changed
        tx.forget(mark)
        return tx.changed

    assert write_alone(engine, tries) is False
