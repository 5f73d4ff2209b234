"""Many verbs share a commit, and an error is its own caller's alone."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.base.clock import Clock
from covey.base.errors import CoveyError, Failed, StoreBusy, StoreUnavailable
from covey.base.ids import Ids
from covey.store import Store, Transaction, events
from covey.store.engine import Writer
from covey.store.transaction import Retry
from covey.store.writing import BATCH_S, BATCH_VERBS, most_verbs
from tests.conftest import Database, ManualClock, opened
from tests.rules import rule
from tests.store.verbs import PUT, busy, get, names, put


class Counting:
    """A writer that counts its commits."""

    def __init__(self, inner: Writer, counts: list[int]) -> None:
        self._inner = inner
        self._counts = counts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def commit(self, tx: Transaction) -> None:
        self._inner.commit(tx)
        self._counts.append(len(tx.events))


def counted(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many events each commit of this store has, as they come."""
    counts: list[int] = []
    plain = store.engine.writer

    def writer(ids: Ids) -> Any:
        return Counting(plain(ids), counts)

    monkeypatch.setattr(store.engine, "writer", writer)
    return counts


def heard(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whom the store rings, as it rings."""
    rung: list[str] = []
    monkeypatch.setattr(store.bell, "ring", lambda bells: rung.extend(sorted(bells - {"news", "gateway.news"})))
    return rung


async def kinds_and_subjects(store: Store) -> list[tuple[str, str | None]]:
    return [(event.kind, event.subject) for event in (await store.read(events.after, events.START)).events]


def refuse_at_once(tx: Transaction, name: str) -> None:
    tx.happened("never", subject=name)
    tx.ring("nobody")
    raise ValueError(name)


def refuse_late(tx: Transaction, name: str) -> None:
    put(tx, name)
    raise ValueError(name)


@rule("N1")
async def test_many_waiting_verbs_share_one_commit(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = counted(store, monkeypatch)
    async with busy(store):
        puts = [asyncio.ensure_future(store.write(put, f"n{n:02}")) for n in range(40)]
        await asyncio.sleep(0)
    assert await asyncio.gather(*puts) == [f"n{n:02}" for n in range(40)]
    # the verb that was at work took long, so the batch after it may be a small one
    assert (counts[0], sum(counts)) == (0, 40)
    assert len(counts) <= 8
    assert await store.read(names) == [f"n{n:02}" for n in range(40)]


@pytest.mark.parametrize("refuse", [refuse_at_once, refuse_late])
async def test_an_error_is_its_callers_alone(store: Store, monkeypatch: pytest.MonkeyPatch, refuse: Any) -> None:
    rung = heard(store, monkeypatch)
    async with busy(store):
        before = asyncio.ensure_future(store.write(put, "before"))
        wrong = asyncio.ensure_future(store.write(refuse, "wrong"))
        after = asyncio.ensure_future(store.write(put, "after"))
        await asyncio.sleep(0)
    await asyncio.gather(before, wrong, after, return_exceptions=True)
    assert (before.result(), after.result()) == ("before", "after")
    assert isinstance(wrong.exception(), ValueError)
    assert await store.read(names) == ["after", "before"]
    assert await kinds_and_subjects(store) == [("fact.put", "before"), ("fact.put", "after")]
    await store.write(names)  # the bells of a batch are rung before the next one
    assert rung == ["after", "before"]


async def test_verbs_that_run_again_leave_no_double_news(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    rung, runs = heard(store, monkeypatch), []

    def put_noting(tx: Transaction, name: str) -> str:
        runs.append(name)
        return put(tx, name)

    async with busy(store):
        jobs = [asyncio.ensure_future(store.write(verb, name)) for verb, name in
                ((put_noting, "a"), (refuse_late, "b"), (put_noting, "c"), (refuse_late, "d"), (put_noting, "e"))]  # fmt: skip
        await asyncio.sleep(0)
    await asyncio.gather(*jobs, return_exceptions=True)
    assert runs == ["a", "a", "c", "e"], "the first failure after a write makes the batch run again, once"
    assert await kinds_and_subjects(store) == [("fact.put", name) for name in "ace"]
    await store.write(names)
    assert rung == ["a", "c", "e"]


async def test_a_refused_statement_spoils_nothing_for_the_others(store: Store) -> None:
    await store.write(put, "taken")
    async with busy(store):
        before = asyncio.ensure_future(store.write(put, "before"))
        wrong = asyncio.ensure_future(store.write(put, "taken"))
        after = asyncio.ensure_future(store.write(put, "after"))
        await asyncio.sleep(0)
    await asyncio.gather(before, wrong, after, return_exceptions=True)
    assert isinstance(wrong.exception(), Failed)
    assert await store.read(names) == ["after", "before", "taken"]


@pytest.mark.parametrize("last", [False, True])
async def test_a_verb_that_swallows_a_refused_statement_costs_no_other_its_write(store: Store, last: bool) -> None:
    await store.write(put, "taken")

    def careless(tx: Transaction) -> str:
        try:
            tx.run(PUT, name="taken", value="")
        except CoveyError:
            return "as if nothing were wrong"
        return "?"

    async with busy(store):
        jobs = [store.write(put, "before"), store.write(put, "after")]
        jobs.insert(2 if last else 1, store.write(careless))
        done = asyncio.gather(*jobs, return_exceptions=True)
        await asyncio.sleep(0)
    assert {"before", "after"} <= set(map(str, await done))
    assert await store.read(names) == ["after", "before", "taken"]


async def test_a_part_of_a_verb_can_be_refused_by_itself(store: Store) -> None:
    def in_parts(tx: Transaction) -> None:
        put(tx, "whole")
        with pytest.raises(ValueError, match="part"), tx.attempt():
            refuse_late(tx, "part")
        put(tx, "rest")

    await store.write(in_parts)
    assert await store.read(names) == ["rest", "whole"]
    assert await kinds_and_subjects(store) == [("fact.put", "whole"), ("fact.put", "rest")]


async def test_a_verb_that_was_undone_holds_no_lock_any_more(store: Store) -> None:
    seen = []

    def lock_and_fail(tx: Transaction) -> None:
        tx.lock("circle", "")
        put(tx, "x")
        raise ValueError

    def look(tx: Transaction) -> None:
        seen.append(tx.mark()[-1])

    async with busy(store):
        jobs = [asyncio.ensure_future(store.write(lock_and_fail)), asyncio.ensure_future(store.write(look))]
        await asyncio.sleep(0)
    await asyncio.gather(*jobs, return_exceptions=True)
    assert seen == [0]


async def test_a_read_that_writes_is_refused(store: Store) -> None:
    with pytest.raises(CoveyError, match="call it by write"):
        await store.read(put, "x")
    assert await store.read(names) == []


async def test_what_waits_at_the_close_is_still_written(database: Database, clock: ManualClock, tmp_path: Path) -> None:
    async with opened(database, tmp_path, clock) as store:
        async with busy(store):
            puts = [asyncio.ensure_future(store.write(put, f"n{n}")) for n in range(5)]
            await asyncio.sleep(0)
            closing = asyncio.ensure_future(store.close())
            await asyncio.sleep(0)
            with pytest.raises(StoreUnavailable, match="closed"):
                await store.write(put, "late")
        await closing
        assert await asyncio.gather(*puts) == [f"n{n}" for n in range(5)]
    async with opened(database, tmp_path, clock) as store:
        assert await store.read(names) == [f"n{n}" for n in range(5)]


async def test_a_caller_that_went_away_is_no_trouble(store: Store) -> None:
    async with busy(store):
        gone = asyncio.ensure_future(store.write(put, "gone"))
        stays = asyncio.ensure_future(store.write(put, "stays"))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
    assert await stays == "stays"
    assert await store.read(names) == ["gone", "stays"]


async def test_a_writer_that_can_not_start_fails_its_caller_and_starts_anew(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = store.engine.writer
    faults = iter([StoreUnavailable("not now"), RuntimeError("nor now")])

    def writer(ids: Ids) -> Writer:
        for fault in faults:
            raise fault
        return plain(ids)

    store.engine.writers = 1
    monkeypatch.setattr(store.engine, "writer", writer)
    with pytest.raises(StoreUnavailable, match="not now"):
        await store.write(put, "a")
    with pytest.raises(StoreUnavailable, match=r"the store failed \(nor now\); nothing was stored"):
        await store.write(put, "a")
    assert await store.write(put, "a") == "a"


async def test_readers_do_not_grow_beyond_their_number(database: Database, clock: Clock, tmp_path: Path) -> None:
    async with opened(database, tmp_path, clock) as plain:
        with ThreadPoolExecutor(12) as many:
            store = Store(plain.engine, plain.bell, executor=many)
            await asyncio.gather(*(store.read(names) for _ in range(100)))
            assert 1 <= store._readers.qsize() <= store.engine.readers
            await store.close()


async def test_a_read_that_fails_leaves_a_sound_reader(store: Store) -> None:
    def wrong(tx: Transaction) -> None:
        raise KeyError("x")

    for _ in range(5):
        with pytest.raises(KeyError):
            await store.read(wrong)
    assert await store.read(get, "nothing") is None


async def test_a_batch_that_can_never_run_is_given_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("covey.store.batches.time.sleep", lambda seconds: None)

    def never(tx: Transaction) -> None:
        put(tx, "never")
        raise Retry("a deadlock")

    async with busy(store):
        jobs = [asyncio.ensure_future(store.write(never)), asyncio.ensure_future(store.write(put, "other"))]
        await asyncio.sleep(0)
    await asyncio.gather(*jobs, return_exceptions=True)
    assert isinstance(jobs[0].exception(), StoreBusy)
    assert jobs[1].exception() is None
    assert await store.read(names) == ["other"]


@given(count=st.integers(1, BATCH_VERBS), took=st.floats(0, 100))
def test_the_next_batch_is_as_large_as_fits_its_time(count: int, took: float) -> None:
    most = most_verbs(count, took)
    assert 8 <= most <= BATCH_VERBS
    assert most == BATCH_VERBS if took <= BATCH_S else most <= max(8, count)
