"""SQLite through apsw: WAL, one file on a local disk, writers in turn by a lock file (DESIGN, Store)."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw

from covey.base.clock import Clock
from covey.base.errors import CoveyError, Failed, StoreBusy, StoreDamaged, StoreUnavailable
from covey.base.ids import Ids
from covey.store.migrate import Migration, migrations
from covey.store.statements import Statement
from covey.store.transaction import Event, Row, Transaction

WRITE_WAIT_S = 30.0
"""A write gives up after so long as `store_busy`."""
_CHECKPOINT_PAGES = 2000
_INSERT_EVENT = "INSERT INTO events (xid, at, kind, agent, subject, data) VALUES (0, ?, ?, ?, ?, ?)"


class SqliteConnection:
    """One apsw connection."""

    def __init__(self, db: apsw.Connection, path: Path) -> None:
        self.db = db
        self._path = path

    def rows(self, statement: Statement, params: dict[str, Any]) -> list[Row]:
        """All rows as named tuples."""
        try:
            return self._rows(statement, params)
        except apsw.Error as error:
            raise our_error(self._path, error) from error

    def _rows(self, statement: Statement, params: dict[str, Any]) -> list[Row]:
        cursor = self.db.execute(statement.sqlite, params)
        for first in cursor:
            make = statement.make
            if make is None or len(make._fields) != len(first):
                make = statement.make = namedtuple("Row", [column[0] for column in cursor.get_description()])  # noqa: PYI024 - the columns are known at run time only
            rows = [make._make(first)]
            rows.extend(map(make._make, cursor))
            return rows
        return []

    def run(self, statement: Statement, params: dict[str, Any]) -> int:
        """Run it; how many rows it changed."""
        try:
            self.db.execute(statement.sqlite, params)
        except apsw.Error as error:
            raise our_error(self._path, error) from error
        return self.db.changes()

    def lock(self, kind: str, item: str) -> None:
        """Nothing to do: one process writes at a time."""

    def control(self, command: str) -> None:
        """A savepoint command."""
        self.db.execute(command)

    def write_events(self, events: Sequence[Event]) -> None:
        """Append the news of a batch."""
        self.db.executemany(_INSERT_EVENT, events)


class TurnLock:
    """Whose turn it is to write, over all processes: an flock, which the kernel gives in fair order. The holder's pid stands in the file."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._clock = clock
        self._pid = os.getpid()

    def take(self) -> None:
        """Wait for the turn."""
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        os.pwrite(self._fd, b"%-20d %-20.3f\n" % (self._pid, self._clock.boot()), 0)

    def give(self) -> None:
        """End the turn."""
        fcntl.flock(self._fd, fcntl.LOCK_UN)

    def close(self) -> None:
        """Give back the descriptor."""
        os.close(self._fd)


def turn_holder(path: Path) -> tuple[int, float] | None:
    """Who holds the write lock right now, and since when by `Clock.boot()`; None if nobody does."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        words = os.pread(fd, 64, 0).split()
        return (int(words[0]), float(words[1])) if len(words) == 2 else None
    else:
        return None
    finally:
        os.close(fd)


def our_error(path: Path, error: apsw.Error) -> CoveyError:
    """SQLite's own error as ours, with what to do."""
    match error:
        case apsw.FullError():
            return StoreUnavailable(f"the disk of {path} is full; nothing was stored. Free some space, then try again.")
        case apsw.CorruptError() | apsw.NotADBError():
            return StoreDamaged(f"{path} is damaged ({error}). Stop the fleet and run `covey restore` with your last backup; keep the damaged file.")
        case apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError():
            return StoreUnavailable(f"{path} can't be opened for writing ({error}); give this user write access to the file and its folder.")
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusy(f"another program holds {path}; nothing was stored. Close it, then try again.", retry_at=time.time() + 1)
        case apsw.IOError():
            return StoreUnavailable(f"{path} can't be read or written ({error}); check the disk.")
        case _:
            return Failed(f"the store refused a statement ({type(error).__name__}: {error}); this is a fault of Covey, please report it.")


@contextlib.contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Raise SQLite's own errors as ours."""
    try:
        yield
    except apsw.Error as error:
        raise our_error(path, error) from error


class SqliteWriter:
    """The one connection of this process that writes."""

    def __init__(self, engine: SqliteEngine, ids: Ids) -> None:
        self._engine = engine
        self._ids = ids
        self._db = engine.open()
        self._connection = SqliteConnection(self._db, engine.path)
        self._turn = TurnLock(engine.lock_path, engine.clock)
        self._synchronous = ""
        self._db.wal_autocheckpoint(_CHECKPOINT_PAGES)

    def wait_turn(self) -> None:
        """Wait for the lock file."""
        self._turn.take()

    def end_turn(self) -> None:
        """Free the lock file."""
        self._turn.give()

    def begin(self, *, full: bool, locks: Sequence[tuple[str, str]]) -> Transaction:
        """Begin; the sync mode is set for this batch."""
        with plain_errors(self._engine.path):
            mode = "FULL" if full and self._engine.full else "NORMAL"
            if mode != self._synchronous:
                self._db.execute(f"PRAGMA synchronous = {mode}")
                self._synchronous = mode
            self._db.execute("BEGIN IMMEDIATE")
            ahead = self._db.execute("SELECT ahead FROM clock").fetchone()[0]
        return Transaction(self._connection, self._engine.clock.boot() + ahead, self._ids)

    def savepoint(self) -> None:
        """Begin a part that can be undone."""
        self._db.execute("SAVEPOINT verb")

    def release(self) -> None:
        """Keep that part."""
        self._db.execute("RELEASE verb")

    def rollback_to(self) -> None:
        """Undo that part."""
        self._db.execute("ROLLBACK TO verb")
        self._db.execute("RELEASE verb")

    def commit(self, tx: Transaction) -> None:
        """Write the news and commit."""
        try:
            with plain_errors(self._engine.path):
                if tx.events:
                    self._connection.write_events(tx.events)
                self._db.execute("COMMIT")
        except CoveyError:
            self.rollback()
            raise

    def rollback(self) -> None:
        """Undo the whole batch."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection; the last one checkpoints."""
        self._turn.take()
        try:
            self._db.close()
        finally:
            self._turn.give()
            self._turn.close()


class SqliteReader:
    """A connection that reads one snapshot at a time."""

    def __init__(self, engine: SqliteEngine, ids: Ids) -> None:
        self._engine = engine
        self._ids = ids
        self._db = engine.open()
        self._db.execute("PRAGMA query_only = ON")
        self._connection = SqliteConnection(self._db, engine.path)

    def begin(self) -> Transaction:
        """Open a snapshot."""
        with plain_errors(self._engine.path):
            self._db.execute("BEGIN")
            ahead = self._db.execute("SELECT ahead FROM clock").fetchone()[0]
        return Transaction(self._connection, self._engine.clock.boot() + ahead, self._ids, read_only=True)

    def end(self) -> None:
        """Let the snapshot go."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection."""
        self._db.close()


class SqliteEngine:
    """The embedded store in one file."""

    writers = 1

    def __init__(self, path: Path, clock: Clock, *, full: bool = True, readers: int = 2) -> None:
        self.path = path
        self.clock = clock
        self.full = full
        self.readers = readers
        self.lock_path = path.with_name(path.name + ".lock")
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)
        except OSError as error:
            raise StoreUnavailable(f"{path} can't be created ({error.strerror}); give this user write access to {path.parent}.") from error

    def open(self) -> apsw.Connection:
        """A new connection, set up alike."""
        with plain_errors(self.path):
            db = apsw.Connection(str(self.path), statementcachesize=400)
            db.set_busy_timeout(int(WRITE_WAIT_S * 1000))
            # else a statement is planned anew at each call, for the values it is called with: measured, a claim took three times as long
            db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            for pragma in ("auto_vacuum = INCREMENTAL", "journal_mode = WAL", "foreign_keys = ON", "temp_store = MEMORY", "cache_size = -8000"):
                db.execute(f"PRAGMA {pragma}")
            return db

    def writer(self, ids: Ids) -> SqliteWriter:
        """The writing connection."""
        return SqliteWriter(self, ids)

    def reader(self, ids: Ids) -> SqliteReader:
        """A reading connection."""
        return SqliteReader(self, ids)

    def migrate(self, clock_wall: Callable[[], float]) -> list[str]:
        """Run what is missing, in one transaction under the turn lock, and set the clock's offset after a boot (T2)."""
        turn = TurnLock(self.lock_path, self.clock)
        turn.take()
        db = self.open()
        try:
            with plain_errors(self.path), db:
                done = {row[0] for row in db.execute("SELECT name FROM migrations")} if _has_table(db, "migrations") else set()
                missing: list[Migration] = [each for each in migrations() if each.name not in done]
                for migration in missing:
                    db.execute(migration.sqlite)
                    db.execute("INSERT INTO migrations (name, at) VALUES (?, ?)", (migration.name, clock_wall()))
                self._set_clock(db)
                return [migration.name for migration in missing]
        finally:
            db.close()
            turn.give()
            turn.close()

    def _set_clock(self, db: apsw.Connection) -> None:
        """At the first start after a boot the offset makes store time the wall clock's, never before the last event (T2)."""
        boot_id = self.clock.boot_id()
        row = db.execute("SELECT boot_id FROM clock").fetchone()
        if row is not None and row[0] == boot_id:
            return
        last = db.execute("SELECT coalesce(max(at), 0) FROM (SELECT at FROM events ORDER BY seq DESC LIMIT 1)").fetchone()[0]
        ahead = max(self.clock.wall(), last) - self.clock.boot()
        db.execute("INSERT INTO clock (id, boot_id, ahead) VALUES (1, ?1, ?2) ON CONFLICT (id) DO UPDATE SET boot_id = ?1, ahead = ?2", (boot_id, ahead))

    def close(self) -> None:
        """Nothing is held by the engine itself."""


def _has_table(db: apsw.Connection, name: str) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)).fetchone() is not None
