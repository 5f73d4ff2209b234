"""Backups: one moment of a store that is in use, in one file that restores into either database."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import apsw
import pytest

from covey.agents import configuring, living, roster
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.errors import Conflict, Invalid, NotFound, StoreDamaged, StoreUnavailable
from covey.messages import handling, indexing, reading, sending
from covey.messages import retention as mail
from covey.messages.model import draft
from covey.nodes import records
from covey.store import Store, Transaction, events, upkeep
from covey.store.migrate import Migration, migrations
from covey.store.statements import Statement
from covey.store.upkeep import Repair
from covey.tasks import adding, working
from covey.tasks import reading as task_reading
from covey.tasks import retention as work
from covey.tasks.model import TaskDraft
from tests.conftest import EIGHT, Database, ManualClock, opened
from tests.rules import rule
from tests.store.verbs import get, put

REPAIRS: tuple[Repair, ...] = (mail.end_leases, work.end_leases, living.end_processes, records.end_all, mail.index_again)


async def some_work(store: Store) -> None:
    """A fleet in the middle of its work: mail seen and waiting, a task running, one blocked."""

    def verb(tx: Transaction) -> None:
        configuring.configure(tx, EIGHT)
        living.arrive(tx, "coder", node="here", pid=7, start_ticks=1, boot_id="a-boot", port=8002)
        records.register(tx, "here", host="127.0.0.1", pid=6, start_ticks=1, boot_id="a-boot", version="0")
        assert records.beat(tx, "here") == 1
        for n in range(3):
            sending.send(tx, draft("coder", f"first words {n}", message_id=f"m{n}", subject="ünïcode ✓"), as_agent("chief"))
        assert handling.claim(tx, "coder", "run-1", lease_s=60, digest_s=0)
        adding.add(tx, TaskDraft(description="one", agent="coder", task_id="t1"), THE_OPERATOR)
        adding.add(tx, TaskDraft(description="two", agent="coder", task_id="t2", dependencies=["t1"]), THE_OPERATOR)
        assert working.claim(tx, "coder", "run-2", lease_s=60)

    await store.write(verb)
    await store.write(indexing.index_new)
    await store.write(events.set_bookmark, "reader", await store.read(events.last))
    await store.write(put, "at", "backup")


async def check_work(store: Store) -> None:
    """All of it is there again, and nobody holds anything."""
    assert len(await store.read(reading.search, "first")) == 3
    assert {message.state for message in (await store.read(reading.inbox, "coder")).items} == {"delivered"}
    tasks = {task.task_id: task for task in (await store.read(task_reading.listed)).items}
    assert (tasks["t1"].state, tasks["t1"].attempts, tasks["t1"].lease_ends) == ("queued", 0, None)
    assert (tasks["t2"].state, tasks["t2"].dependencies) == ("blocked", ["t1"])
    assert (await store.read(roster.vitals, "coder")).pid is None
    assert not await store.read(records.leads, 1)
    assert [node.stopped_at is None for node in await store.read(records.nodes)] == [False]
    assert await store.write(records.beat, "there") == 3, "nobody holds the lead, and the next fence is above all before"
    await store.write(records.leave, "there")
    assert await store.read(get, "at") == "backup"
    page = await store.read(events.after, await store.read(events.bookmark, "reader"))
    assert page.events[0].subject == "at", "a reader goes on from where it was"
    assert "store.restored" in [event.kind for event in page.events]
    sent = [event.subject for event in (await store.read(events.after, events.START, kinds=("message.sent",))).events]
    assert sent == ["m0", "m1", "m2"]
    await store.write(sending.send, draft("coder", "after", message_id="m3"), as_agent("chief"))
    assert (await store.read(reading.show, "m3"))[0].state == "delivered"


@pytest.fixture
def again(database: Database, clock: ManualClock, tmp_path: Path) -> Callable[[], contextlib.AbstractAsyncContextManager[Store]]:
    """Opens the test's store."""
    return lambda: opened(database, tmp_path, clock)


Again = Callable[[], contextlib.AbstractAsyncContextManager[Store]]


@rule("N1")
async def test_a_restored_store_is_what_it_was_and_nobody_holds_anything(again: Again, clock: ManualClock, tmp_path: Path) -> None:
    backup = tmp_path / "there" / "backup.db"
    backup.parent.mkdir()
    async with again() as store:
        await some_work(store)
        await upkeep.backup(store.engine, backup)
        await store.write(put, "later")
        engine = store.engine
    assert backup.stat().st_mode & 0o777 == 0o600
    assert list(backup.parent.iterdir()) == [backup], "nothing is left beside it"
    epoch = upkeep.restore(engine, backup, clock.wall, REPAIRS)
    async with again() as store:
        assert await store.read(get, "later") is None
        assert await store.read(get, "epoch") == epoch
        await check_work(store)
        assert store.engine.faults() == []


@rule("N1")
async def test_upkeep_tells_how_far_it_is_and_comes_to_the_end(again: Again, clock: ManualClock, tmp_path: Path) -> None:
    told: dict[str, list[tuple[int, int]]] = {}

    def tell(what: str, done: int, total: int) -> None:
        told.setdefault(what, []).append((done, total))

    async with again() as store:
        await some_work(store)
        upkeep.check(store.engine, tell)
        upkeep.vacuum(store.engine, tell)
        await upkeep.backup(store.engine, tmp_path / "backup.db", tell)
        engine = store.engine
    there = {what: parts[-1] for what, parts in told.items()}
    told.clear()
    upkeep.restore(engine, tmp_path / "backup.db", clock.wall, REPAIRS, tell=tell)
    back = {what: parts[-1] for what, parts in told.items()}
    assert there.pop("reading the store's pages", (0, 0)) == back.pop("reading the store's pages") == (0, 0), "nobody knows of how much"
    assert (len(there), len(back)) == (3, 2)
    assert all(done == total > 0 for done, total in (*there.values(), *back.values()))


@rule("N1")
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_a_copy_made_in_steps_is_of_one_moment_and_never_begins_anew(again: Again, tmp_path: Path) -> None:
    async with again() as store:
        for number in range(20):
            await store.write(put, f"before{number}", "x" * 500_000)
        loop, done, told = asyncio.get_running_loop(), [], []

        def tell(_what: str, pages: int, _of: int) -> None:
            done.append(pages)
            assert len(done) < 50, "it begins anew each time"
            asyncio.run_coroutine_threadsafe(store.write(put, f"meanwhile{len(done)}"), loop).result(30)
            told.append(len(done))

        await upkeep.backup(store.engine, tmp_path / "backup.db", tell)
        assert await store.read(get, f"meanwhile{len(told)}") is not None
    assert len(told) >= 3
    assert done == sorted(set(done)), "each step goes on where the one before ended"
    with contextlib.closing(sqlite3.connect(tmp_path / "backup.db")) as copy:
        assert copy.execute("SELECT count(*) FROM facts WHERE name LIKE 'meanwhile%'").fetchone() == (0,)


@rule("N1")
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_a_backup_moves_a_fleet_to_the_other_database(
    again: Again, clock: ManualClock, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    backup, back = tmp_path / "one.db", tmp_path / "two.db"
    async with again() as store:
        await some_work(store)
        await upkeep.backup(store.engine, backup)
        embedded = store.engine
    with request.getfixturevalue("postgres").fresh() as url:
        async with opened(Database("postgres", url, tmp_path), tmp_path, clock) as store:
            upkeep.restore(store.engine, backup, clock.wall, REPAIRS)
            await check_work(store)
            await upkeep.backup(store.engine, back)
    upkeep.restore(embedded, back, clock.wall, REPAIRS)
    async with again() as store:
        assert (await store.read(reading.show, "m3"))[0].body == "after"
        assert [event.subject for event in (await store.read(events.after, events.START, kinds=("message.sent",))).events] == [
            "m0",
            "m1",
            "m2",
            "m3",
        ]
        assert store.engine.faults() == []


@rule("N1")
async def test_a_backup_is_one_moment_of_a_store_in_use(again: Again, clock: ManualClock, tmp_path: Path) -> None:
    """Each verb writes a pair; no backup has half of one."""
    done = False

    def pair(tx: Transaction, n: int) -> None:
        put(tx, f"left.{n}")
        put(tx, f"right.{n}")

    async def write(store: Store) -> int:
        n = 0
        while not done:
            await asyncio.gather(*(store.write(pair, n + each) for each in range(16)))
            n += 16
        return n

    async with again() as store:
        writing = asyncio.ensure_future(write(store))
        for place in range(4):
            await upkeep.backup(store.engine, tmp_path / f"{place}.db")
        done = True
        assert await writing > 0
    seen = [pairs_in(tmp_path / f"{place}.db") for place in range(4)]
    assert all(left == right for left, right in seen)
    assert [len(left) for left, _ in seen] == sorted(len(left) for left, _ in seen)


def pairs_in(path: Path) -> tuple[set[str], set[str]]:
    """The halves in a backup; it is read with another program's library, to show that nothing of ours is needed."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        found = [name for (name,) in db.execute("SELECT name FROM facts WHERE name LIKE '%.%'")]
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    return {name.split(".")[1] for name in found if name.startswith("left")}, {
        name.split(".")[1] for name in found if name.startswith("right")
    }


async def test_what_is_no_backup_is_refused_and_nothing_changed(again: Again, clock: ManualClock, tmp_path: Path) -> None:
    async with again() as store:
        await store.write(put, "kept")
        await upkeep.backup(store.engine, tmp_path / "good.db")
        engine = store.engine
    whole = (tmp_path / "good.db").read_bytes()
    (tmp_path / "text").write_text("hello " * 1000)
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "newer").write_bytes(whole)
    with contextlib.closing(apsw.Connection(str(tmp_path / "newer"))) as db:
        db.execute("INSERT INTO migrations (name, at) VALUES ('9999_from_the_future', 1)")
    for name in ("text", "empty", "cut", "newer", "."):
        with pytest.raises((Invalid, NotFound), match=r"[Nn]othing was changed") as refused:
            upkeep.restore(engine, tmp_path / name, clock.wall, REPAIRS)
        assert refused.value.field == "path"
    async with again() as store:
        assert await store.read(get, "kept") is not None


async def test_a_backup_that_can_not_be_written_says_so_and_leaves_nothing(again: Again, tmp_path: Path) -> None:
    async with again() as store:
        with pytest.raises(StoreUnavailable, match="nowhere"):
            await upkeep.backup(store.engine, tmp_path / "nowhere" / "backup.db")


async def test_a_backup_takes_the_place_of_an_earlier_one_alone(again: Again, tmp_path: Path) -> None:
    kept, other = tmp_path / "kept.db", tmp_path / "other"
    other.write_text("not ours")
    async with again() as store:
        await upkeep.backup(store.engine, kept)
        await store.write(put, "at", "a later moment")
        await upkeep.backup(store.engine, kept)
        with contextlib.closing(sqlite3.connect(kept)) as read:
            assert read.execute("SELECT value FROM facts WHERE name = 'at'").fetchone() == ("a later moment",)
        with pytest.raises(Conflict, match="no backup"):
            await upkeep.backup(store.engine, other)
    assert other.read_text() == "not ours"


async def test_a_backup_of_an_earlier_version_is_brought_up_to_date(
    again: Again, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with again() as store:
        await some_work(store)
        await upkeep.backup(store.engine, tmp_path / "old.db")
        engine = store.engine
    text = "ALTER TABLE facts ADD COLUMN note TEXT NOT NULL DEFAULT 'new'"
    steps = [*migrations(), Migration("0002_later", text, text)]
    for module in ("migrate", "snapshots", "sqlite", "postgres", "postgres_files"):
        monkeypatch.setattr(f"covey.store.{module}.migrations", lambda: steps)
    upkeep.restore(engine, tmp_path / "old.db", clock.wall, REPAIRS)
    async with again() as store:
        note = Statement("tests:note", "SELECT note AS value FROM facts WHERE name = 'at'")
        assert await store.read(lambda tx: tx.all(note)[0].value) == "new"
        await check_work(store)
        assert store.engine.faults() == []


async def test_a_sound_store_passes_the_check_and_vacuum_changes_nothing(again: Again) -> None:
    async with again() as store:
        await some_work(store)
        upkeep.check(store.engine)
        upkeep.vacuum(store.engine)
        upkeep.check(store.engine)
        assert await store.read(get, "at") == "backup"


class TestTheEmbeddedFile:
    """What is the file's own."""

    @pytest.fixture
    async def store(self, clock: ManualClock, tmp_path: Path) -> AsyncIterator[Store]:
        async with opened(Database("sqlite", "", tmp_path / "store.db"), tmp_path, clock) as found:
            yield found

    async def test_vacuum_makes_the_file_smaller(self, store: Store, clock: ManualClock, tmp_path: Path) -> None:
        def fill(tx: Transaction) -> None:
            for _ in range(2000):
                tx.happened("note.made", words="x" * 1000)

        await store.write(fill)
        clock.at += 10
        while await store.write(events.prune, older_s=1, most_bytes=0):
            pass
        upkeep.vacuum(store.engine)
        assert (tmp_path / "store.db").stat().st_size < 1_000_000
        assert (tmp_path / "store.db-wal").stat().st_size == 0

    async def test_a_row_whose_reference_leads_nowhere_is_found(self, store: Store, tmp_path: Path) -> None:
        with contextlib.closing(apsw.Connection(str(tmp_path / "store.db"))) as db:
            db.execute("INSERT INTO needs (task_id, needs_id) VALUES ('a', 'b')")
        with pytest.raises(StoreDamaged, match="needs has a row") as found:
            upkeep.check(store.engine)
        assert len(found.value.details["faults"]) == 2

    async def test_what_was_there_before_a_restore_is_kept_beside_it(self, store: Store, clock: ManualClock, tmp_path: Path) -> None:
        await upkeep.backup(store.engine, tmp_path / "backup.db")
        await store.write(put, "later")
        await store.close()
        upkeep.restore(store.engine, tmp_path / "backup.db", clock.wall, REPAIRS)
        with contextlib.closing(sqlite3.connect(tmp_path / "store.db.replaced")) as db:
            assert db.execute("SELECT name FROM facts").fetchall() == [("later",)]
        upkeep.restore(store.engine, tmp_path / "backup.db", clock.wall, REPAIRS)

    async def test_a_damaged_store_is_restored_too_and_kept(self, store: Store, clock: ManualClock, tmp_path: Path) -> None:
        await store.write(put, "kept")
        await upkeep.backup(store.engine, tmp_path / "backup.db")
        await store.close()
        (tmp_path / "store.db").write_bytes(b"not a database" * 1000)
        upkeep.restore(store.engine, tmp_path / "backup.db", clock.wall, REPAIRS)
        async with opened(Database("sqlite", "", tmp_path / "store.db"), tmp_path, clock) as again:
            assert await again.read(get, "kept") is not None
        assert (tmp_path / "store.db.replaced").read_bytes().startswith(b"not a database")
