"""Backup files: one moment of a store as an SQLite database in one file. How they are written, proved sound and put in place."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

from covey.base.clock import Clock
from covey.base.errors import Conflict, CoveyError, Invalid, NotFound
from covey.base.progress import Tell, silent
from covey.store.migrate import Migration, migrations
from covey.store.sqlite_errors import faults_in, our_error, plain_errors
from covey.store.turns import turn, unavailable

_BESIDE = ("-wal", "-shm", "-journal")
_SHOWN = 20
_STEP_PAGES = 1000
_HEAD = b"SQLite format 3\0"
_WRITE_VERSION = 18
"""The byte of an SQLite file that is 2 while it is written ahead (a store that is used) and 1 otherwise (a backup)."""


def write(source: apsw.Connection, path: Path, tell: Tell = silent) -> None:
    """Write what an open store holds at this moment to a file, which is there whole or not at all."""
    with fresh_file(path) as part:
        copy_into(source, part, tell)


def copy_into(source: apsw.Connection, path: Path, tell: Tell = silent) -> None:
    """Make the database at `path` one with the source, as one moment of it, in one file."""
    with plain_errors(path), contextlib.closing(apsw.Connection(str(path))) as copy:
        with _one_moment(source), copy.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(_STEP_PAGES)
                tell("copying the store", backup.page_count - backup.remaining, backup.page_count)
        copy.execute("PRAGMA journal_mode = DELETE").fetchall()


@contextlib.contextmanager
def _one_moment(source: apsw.Connection) -> Iterator[None]:
    """Inside, the source is read as it is now. Without it a copy made in steps begins anew whenever others have written in between."""
    source.execute("BEGIN")
    try:
        source.execute("SELECT count(*) FROM sqlite_master").fetchall()
        yield
    finally:
        source.execute("ROLLBACK")


def refuse_to_replace(path: Path, is_backup: Callable[[Path], bool]) -> None:
    """Return if a backup may be written there: nothing is there, an empty file, or a backup of before.

    Raises:
        Conflict: Anything else is there, the store itself perhaps; it would be lost.
    """
    try:
        free = not path.exists() or (path.is_file() and (path.stat().st_size == 0 or is_backup(path)))
    except OSError as error:
        raise unavailable(path, error) from error
    if not free:
        raise Conflict(f"{path} is there already and is no backup; nothing was changed. Name another file.", field="file")


def is_snapshot(path: Path) -> bool:
    """Whether the file has the form of a backup of a store, and is no store that is in use."""
    with path.open("rb") as file:
        head = file.read(_WRITE_VERSION + 1)
    if not head.startswith(_HEAD) or head[_WRITE_VERSION] != 1:
        return False
    with contextlib.suppress(apsw.Error), contextlib.closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as db:
        return db.table_exists(None, "migrations")
    return False


@contextlib.contextmanager
def fresh_file(path: Path) -> Iterator[Path]:
    """A file beside `path` to write into; it takes the place of `path` at the end, once it is on disk.

    Raises:
        Conflict: Something other than a backup is at `path`.
    """
    refuse_to_replace(path, is_snapshot)
    part = path.with_name(path.name + ".part")
    try:
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield part
        _sync(part)
        part.replace(path)
        _sync(path.parent)
    except OSError as error:
        raise unavailable(path, error) from error
    finally:
        for suffix in ("", *_BESIDE):
            part.with_name(part.name + suffix).unlink(missing_ok=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def opened(path: Path, tell: Tell = silent) -> Iterator[apsw.Connection]:
    """A backup file to read from, proved sound; one of an earlier version is read from a copy that is brought up to date.

    Raises:
        NotFound: There is no such file.
        Invalid: It is no sound backup.
    """
    if not path.is_file():
        raise NotFound(f"there is no file {path}; nothing was changed.", field="path")
    with contextlib.ExitStack() as stack:
        try:
            db = stack.enter_context(contextlib.closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)))
            missing = _missing(db, path, tell)
        except apsw.Error as error:
            raise _refused(path, str(error)) from error
        if missing:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="covey-restore-")))
            copy_into(db, folder / "copy.db")
            db = stack.enter_context(contextlib.closing(apsw.Connection(str(folder / "copy.db"))))
            for migration in missing:
                db.execute(migration.sqlite)
                db.execute("INSERT INTO migrations (name, at) SELECT ?, max(at) FROM migrations", (migration.name,))
        yield db


def _missing(db: apsw.Connection, path: Path, tell: Tell) -> list[Migration]:
    """The steps of the schema that a sound backup file has not been through."""
    found = faults_of(db, tell)
    if found:
        raise _refused(path, found[0])
    done = {row[0] for row in db.execute("SELECT name FROM migrations")}
    newer = sorted(done - {each.name for each in migrations()})
    if newer:
        raise _refused(path, f"it was made by a newer Covey, which knows {newer[0]}")
    return [each for each in migrations() if each.name not in done]


def _refused(path: Path, why: str) -> Invalid:
    return Invalid(f"{path} is not a backup that can be restored: {why}. Nothing was changed; take another one.", field="path")


def faults_of(db: apsw.Connection, tell: Tell = silent) -> list[str]:
    """What is not sound in an open store, a sentence each."""
    tell("reading the store's pages", 0, 0)
    try:
        found = [str(row[0]) for row in db.execute(f"PRAGMA integrity_check({_SHOWN})") if row[0] != "ok"]
        return found + _orphans(db, tell)
    except apsw.Error as error:
        return faults_in(our_error(Path(db.filename), error))


def _orphans(db: apsw.Connection, tell: Tell) -> list[str]:
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")]
    found: list[str] = []
    for place, name in enumerate(names, 1):
        rows = db.execute("SELECT rowid, parent FROM pragma_foreign_key_check(?) LIMIT ?", (name, _SHOWN - len(found)))
        found += [f"{name} has a row ({rowid}) whose {parent} is not there" for rowid, parent in rows]
        tell("following the store's references", place, len(names))
    return found


def put_in_place(backup: Path, store: Path, lock: Path, clock: Clock, tell: Tell = silent) -> None:
    """Make the store's file one with the backup. What was there is kept as `….replaced`, a damaged one too."""
    ready = store.with_name(store.name + ".restoring")
    try:
        ready.unlink(missing_ok=True)
        with opened(backup, tell) as source:
            copy_into(source, ready, tell)
        ready.chmod(0o600)
        _sync(ready)
        with turn(lock, clock) as held:
            _set_aside(store)
            ready.replace(store)
            _sync(store.parent)
            held.serve()
    except OSError as error:
        raise unavailable(store, error) from error
    finally:
        ready.unlink(missing_ok=True)


def _set_aside(store: Path) -> None:
    """Keep the old file under another name, its log merged into it where it can still be read. The old log must not meet the new file."""
    aside = store.with_name(store.name + ".replaced")
    with contextlib.suppress(apsw.Error, CoveyError), contextlib.closing(apsw.Connection(str(store))) as old:
        old.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    for suffix in ("", *_BESIDE):
        aside.with_name(aside.name + suffix).unlink(missing_ok=True)
    if store.exists():
        os.link(store, aside)
    for suffix in _BESIDE:
        left = store.with_name(store.name + suffix)
        if left.exists():
            left.replace(aside.with_name(aside.name + suffix))
