"""Backup files: one moment of a store as an SQLite database in one file. How they are written, proved sound and put in place."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

from covey.base.clock import Clock
from covey.base.errors import CoveyError, Invalid, NotFound
from covey.store.migrate import Migration, migrations
from covey.store.sqlite_errors import our_error, plain_errors
from covey.store.turns import turn, unavailable

_BESIDE = ("-wal", "-shm", "-journal")
_SHOWN = 20


def write(source: apsw.Connection, path: Path) -> None:
    """Write what an open store holds at this moment to a file, which is there whole or not at all."""
    with fresh_file(path) as part:
        copy_into(source, part)


def copy_into(source: apsw.Connection, path: Path) -> None:
    """Make the database at `path` one with the source, as one moment of it, in one file."""
    with plain_errors(path), contextlib.closing(apsw.Connection(str(path))) as copy:
        with copy.backup("main", source, "main") as backup:
            backup.step(-1)
        copy.execute("PRAGMA journal_mode = DELETE").fetchall()


@contextlib.contextmanager
def fresh_file(path: Path) -> Iterator[Path]:
    """A file beside `path` to write into; it takes the place of `path` at the end, once it is on disk."""
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
def opened(path: Path) -> Iterator[apsw.Connection]:
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
            missing = _missing(db, path)
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


def _missing(db: apsw.Connection, path: Path) -> list[Migration]:
    """The steps of the schema that a sound backup file has not been through."""
    found = faults_of(db)
    if found:
        raise _refused(path, found[0])
    done = {row[0] for row in db.execute("SELECT name FROM migrations")}
    newer = sorted(done - {each.name for each in migrations()})
    if newer:
        raise _refused(path, f"it was made by a newer Covey, which knows {newer[0]}")
    return [each for each in migrations() if each.name not in done]


def _refused(path: Path, why: str) -> Invalid:
    return Invalid(f"{path} is not a backup that can be restored: {why}. Nothing was changed; take another one.", field="path")


def faults_of(db: apsw.Connection) -> list[str]:
    """What is not sound in an open store, a sentence each."""
    try:
        found = [str(row[0]) for row in db.execute(f"PRAGMA integrity_check({_SHOWN})") if row[0] != "ok"]
        orphans = db.execute('SELECT "table", rowid, parent FROM pragma_foreign_key_check() LIMIT ?', (_SHOWN,)).fetchall()
    except apsw.Error as error:
        return [our_error(Path(db.filename), error).message]
    return found + [f"{table} has a row ({rowid}) whose {parent} is not there" for table, rowid, parent in orphans]


def put_in_place(backup: Path, store: Path, lock: Path, clock: Clock) -> None:
    """Make the store's file one with the backup. What was there is kept as `….replaced`, a damaged one too."""
    ready = store.with_name(store.name + ".restoring")
    try:
        ready.unlink(missing_ok=True)
        with opened(backup) as source:
            copy_into(source, ready)
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
