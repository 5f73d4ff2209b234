"""A full disk, a folder closed to us, a damaged file: one clear sentence, nothing lost, and the store goes on where it can."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import resource
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import apsw
import pytest

from covey.base.clock import SystemClock
from covey.base.errors import CoveyError, StoreBusy, StoreDamaged, StoreUnavailable
from covey.store import DatagramBell, Store, Transaction, upkeep
from covey.store.batches import write_alone
from covey.store.sqlite import SqliteEngine
from covey.store.sqlite_errors import our_error
from tests.store.verbs import busy, get, names, put

PAGE = 4096


class Small(SqliteEngine):
    """A store on a disk with room for so many pages."""

    pages = 0

    def open(self) -> apsw.Connection:
        db = super().open()
        if self.pages:
            db.execute(f"PRAGMA max_page_count = {self.pages}")
        return db


@pytest.fixture
def engine(tmp_path: Path) -> Small:
    found = Small(tmp_path / "store.db", SystemClock())
    found.migrate(SystemClock().wall)
    return found


@pytest.fixture
async def store(engine: Small, tmp_path: Path) -> AsyncIterator[Store]:
    found = Store(engine, DatagramBell(tmp_path / "bells"))
    yield found
    await found.close()


def fill(tx: Transaction) -> None:
    """More than there is room for."""
    for n in range(100):
        put(tx, f"much.{n}", "x" * 10 * PAGE)


async def test_a_full_disk_stores_nothing_by_halves_and_goes_on_when_there_is_room(store: Store, engine: Small) -> None:
    await store.write(put, "before")
    await store.close()
    engine.pages = engine.path.stat().st_size // PAGE + 20
    store = Store(engine, store.bell)
    async with busy(store):
        jobs = [asyncio.ensure_future(store.write(put, "beside")), asyncio.ensure_future(store.write(fill))]
        await asyncio.sleep(0)
    await asyncio.gather(*jobs, return_exceptions=True)
    for job in jobs:
        error = job.exception()
        assert isinstance(error, StoreUnavailable)
        assert error.message == f"the disk of {engine.path} is full; nothing was stored. Free some space, then try again."
    assert await store.read(names) == ["before"]
    assert await store.write(put, "small") == "small", "what fits is taken"
    await store.close()
    engine.pages = 0
    write_alone(engine, fill)
    upkeep.check(engine)


def as_child(act: Callable[[], object]) -> str:
    """What an act says of itself as an error, in a process of its own that is nobody's (where we are root): its class and message."""
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        said = "nothing"
        try:
            if os.geteuid() == 0:
                nobody = pwd.getpwnam("nobody")
                os.setgroups([])
                os.setgid(nobody.pw_gid)
                os.setuid(nobody.pw_uid)
            act()
        except CoveyError as error:
            said = f"{type(error).__name__}: {error.message}"
        except BaseException as error:  # noqa: BLE001 - the child must not go on as a second test run
            said = f"unexpected {error!r}"
        os.write(there, said.encode())
        os._exit(0)
    os.close(there)
    with open(here, encoding="utf-8") as pipe:  # noqa: PTH123 - a descriptor
        said = pipe.read()
    os.waitpid(child, 0)
    return said


def opened_to_all(folder: Path) -> None:
    """Let a foreign account come as far as this folder."""
    for part in (folder, *folder.parents):
        with contextlib.suppress(PermissionError):
            part.chmod(part.stat().st_mode | 0o055)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that others can look into, and put nothing into; open again at the end."""
    found = tmp_path / "closed"
    found.mkdir()
    opened_to_all(found)
    yield found
    found.chmod(0o755)


def test_a_folder_that_is_closed_to_us_is_named(folder: Path) -> None:
    folder.chmod(0o555)
    said = as_child(lambda: SqliteEngine(folder / "store.db", SystemClock()))
    assert said == (
        f"StoreUnavailable: {folder}/store.db can't be opened (Permission denied); give this user write access to {folder}, and room on its disk."
    )


def test_a_store_that_we_may_only_read_is_named(folder: Path) -> None:
    engine = SqliteEngine(folder / "store.db", SystemClock())
    engine.migrate(SystemClock().wall)
    write_alone(engine, put, "kept")
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)

    def write() -> None:
        other = SqliteEngine(folder / "store.db", SystemClock())
        write_alone(other, put, "more")

    said = as_child(write)
    assert said.startswith("StoreUnavailable: ")
    assert str(folder) in said
    assert "give this user write access" in said
    folder.chmod(0o755)
    assert write_alone(engine, names) == ["kept"]


def test_a_file_that_may_not_grow_is_told_like_a_disk_in_trouble(folder: Path) -> None:
    """The same path as for a disk that fails: SQLite reports an I/O error."""
    folder.chmod(0o777)
    path = folder / "store.db"

    def write() -> None:
        engine = SqliteEngine(path, SystemClock())
        engine.migrate(SystemClock().wall)
        write_alone(engine, put, "before")
        size = path.stat().st_size + 200_000
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        write_alone(engine, fill)

    said = as_child(write)
    assert said.startswith(f"StoreUnavailable: {path} can't be read or written (")
    assert said.endswith("nothing was stored. Check the disk and its free space.")
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT name FROM facts").fetchall() == [("before",)]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 4 MB, where we may mount one."""
    found = tmp_path / "disk"
    found.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(found)], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("no right to mount a file system here")
    yield found
    subprocess.run(["umount", "--lazy", str(found)], check=True)


async def test_a_file_system_that_is_really_full(small_disk: Path) -> None:
    engine = SqliteEngine(small_disk / "store.db", SystemClock())
    engine.migrate(SystemClock().wall)
    store = Store(engine, DatagramBell(small_disk / "bells"))
    await store.write(put, "before")
    ballast = small_disk / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(PAGE))
    full = 0
    for n in range(1000):
        (error,) = await asyncio.gather(store.write(put, f"n{n:03}", "x" * PAGE), return_exceptions=True)
        full += isinstance(error, StoreUnavailable) and "is full; nothing was stored" in error.message
        if full == 3:
            break
    assert full == 3
    kept = await store.read(names)
    with pytest.raises(StoreUnavailable, match=r"room on its disk|is full"):
        await upkeep.backup(engine, small_disk / "backup.db")
    ballast.unlink()
    await store.write(put, "zafter")
    assert await store.read(names) == [*kept, "zafter"]
    upkeep.check(engine)
    await store.close()


async def grown(store: Store, path: Path) -> None:
    """Make the store a few hundred pages large, all in its one file."""
    for n in range(10):
        await store.write(put, f"fact.{n}", "x" * 20 * PAGE)
    await store.close()
    assert not path.with_name("store.db-wal").exists()


async def test_bytes_overwritten_in_the_middle_are_found_and_told(store: Store, engine: Small, tmp_path: Path) -> None:
    await grown(store, engine.path)
    with engine.path.open("r+b") as file:
        for page in range(1, engine.path.stat().st_size // PAGE):
            file.seek(page * PAGE)
            file.write(b"\xde\xad\xbe\xef" * 64)
    with pytest.raises(
        StoreDamaged, match=r"not sound: .* Stop the fleet and run `covey restore` with your last backup; keep the damaged one\."
    ):
        upkeep.check(engine)
    again = Store(engine, DatagramBell(tmp_path / "bells"))
    for attempt in (again.read(get, "fact.3"), again.write(put, "more"), again.write(put, "more")):
        with pytest.raises(StoreDamaged, match=r"is damaged \(.*\)\. Stop the fleet and run `covey restore`"):
            await attempt
    await again.close()


async def test_an_overwritten_header_is_told_at_the_start(store: Store, engine: Small) -> None:
    await grown(store, engine.path)
    with engine.path.open("r+b") as file:
        file.write(b"\0" * 100)
    with pytest.raises(StoreDamaged, match="covey restore"):
        engine.migrate(SystemClock().wall)
    with pytest.raises(StoreDamaged, match="covey restore"):
        upkeep.check(engine)


async def test_a_store_that_lost_all_its_bytes_is_not_taken_for_a_new_one(store: Store, engine: Small) -> None:
    await grown(store, engine.path)
    engine.path.write_bytes(b"")
    with pytest.raises(StoreDamaged, match="is empty, though it held a fleet"):
        SqliteEngine(engine.path, SystemClock()).migrate(SystemClock().wall)
    engine.path.unlink()
    assert SqliteEngine(engine.path, SystemClock()).migrate(SystemClock().wall) != [], "one that was deleted is begun anew"


async def test_a_program_that_is_not_ours_and_holds_the_file(store: Store, engine: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("covey.store.sqlite._FOREIGN_S", 0.05)
    with contextlib.closing(apsw.Connection(str(engine.path))) as foreign:
        foreign.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match=r"another program holds .*store\.db; nothing was stored") as refused:
            await store.write(put, "a")
        assert refused.value.retry_at is not None
        foreign.execute("ROLLBACK")
    assert await store.write(put, "a") == "a"


def test_a_store_that_was_never_set_up_says_so(tmp_path: Path) -> None:
    engine = SqliteEngine(tmp_path / "store.db", SystemClock())
    with pytest.raises(StoreUnavailable, match=r"never set up; `covey up` or"):
        write_alone(engine, names)


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (apsw.FullError, StoreUnavailable, "is full; nothing was stored"),
        (apsw.CorruptError, StoreDamaged, "covey restore"),
        (apsw.NotADBError, StoreDamaged, "covey restore"),
        (apsw.ReadOnlyError, StoreUnavailable, "write access"),
        (apsw.CantOpenError, StoreUnavailable, "write access"),
        (apsw.BusyError, StoreBusy, "another program"),
        (apsw.IOError, StoreUnavailable, "Check the disk"),
        (apsw.NoMemError, StoreUnavailable, "memory"),
        (apsw.SQLError, CoveyError, "fault of Covey"),
    ],
)
def test_each_error_of_sqlite_has_a_sentence(error: type[apsw.Error], kind: type[CoveyError], words: str) -> None:
    said = our_error(Path("/x/store.db"), error("why"))
    assert isinstance(said, kind)
    assert words in said.message
    assert said.message.endswith(".")
    assert said.code in ("failed", "store_busy", "store_damaged", "store_unavailable")
