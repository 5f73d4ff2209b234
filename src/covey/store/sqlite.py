"""SQLite through apsw: WAL, one file on a local disk, writers in turn by a lock file (DESIGN, Store)."""

from __future__ import annotations

import contextlib
from collections import namedtuple
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw

from covey.base.clock import Clock
from covey.base.errors import Failed, StoreDamaged, StoreUnavailable
from covey.base.ids import Ids
from covey.store import snapshots
from covey.store.migrate import Migration, migrations
from covey.store.sqlite_errors import our_error, plain_errors
from covey.store.statements import Statement
from covey.store.transaction import Broken, Event, Row, Transaction, encode_json
from covey.store.turns import TurnLock, turn, turn_holder, unavailable

__all__ = ["SqliteEngine", "turn_holder"]

_FOREIGN_S = 5.0
"""So long a program that is not ours may keep us from the file; well below the time after which a holder of the turn counts as stuck."""
_CHECKPOINT_PAGES = 2000
_SETUP = ("journal_mode = WAL", "foreign_keys = ON", "temp_store = MEMORY", "cache_size = -8000")
_WAL_BYTES = 64 << 20
_VACUUM_PAGES = 1000
_SET_CLOCK = "INSERT INTO clock (id, boot_id, ahead) VALUES (1, ?1, ?2) ON CONFLICT (id) DO UPDATE SET boot_id = ?1, ahead = ?2"
_INSERT_EVENT = "INSERT INTO events (xid, at, kind, agent, subject, data) VALUES (0, ?, ?, ?, ?, ?)"


class SqliteConnection:
    """One apsw connection, as a transaction uses it."""

    def __init__(self, db: apsw.Connection, path: Path) -> None:
        self._db = db
        self._path = path

    def rows(self, statement: Statement, params: dict[str, Any]) -> list[Row]:
        """All rows as named tuples."""
        try:
            cursor = self._db.execute(statement.sqlite, params)
            for first in cursor:
                make = statement.make
                if make is None or len(make._fields) != len(first):
                    names = [column[0] for column in cursor.get_description()]
                    make = statement.make = namedtuple("Row", names)  # noqa: PYI024 - the columns are known at run time only
                return [make._make(first), *map(make._make, cursor)]
        except apsw.Error as error:
            raise _in_transaction(self._path, error) from error
        return []

    def run(self, statement: Statement, params: dict[str, Any]) -> int:
        """Run it; how many rows it changed."""
        try:
            self._db.execute(statement.sqlite, params)
        except apsw.Error as error:
            raise _in_transaction(self._path, error) from error
        return self._db.changes()

    def lock(self, kind: str, item: str) -> float:  # noqa: ARG002 - the seam's names
        """Nothing to do: one process writes at a time."""
        return 0.0

    def control(self, command: str) -> None:
        """Run a SAVEPOINT command. If it fails, SQLite has rolled the whole transaction back by itself."""
        try:
            self._db.execute(command)
        except apsw.Error as error:
            raise Broken(our_error(self._path, error)) from error


def _in_transaction(path: Path, error: apsw.Error) -> Exception:
    """A refused statement is its verb's own error; whatever else goes wrong ends the transaction."""
    ours = our_error(path, error)
    return ours if isinstance(ours, Failed) else Broken(ours)


class SqliteWriter:
    """The one connection of this process that writes."""

    def __init__(self, engine: SqliteEngine, ids: Ids) -> None:
        self._engine = engine
        self._ids = ids
        self._turn = TurnLock(engine.lock_path, engine.clock)
        try:
            self._db = engine.open()
        except BaseException:
            self._turn.close()
            raise
        self._connection = SqliteConnection(self._db, engine.path)
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
            return Transaction(self._connection, self._engine.now(self._db), self._ids, held=locks)

    def commit(self, tx: Transaction) -> None:
        """Write the news and commit."""
        with plain_errors(self._engine.path):
            if tx.events:
                self._db.executemany(_INSERT_EVENT, tx.events)
            self._db.execute("COMMIT")

    def rollback(self) -> None:
        """Undo the whole batch, unless SQLite has done so itself."""
        with contextlib.suppress(apsw.Error):
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection. The last one checkpoints, if the turn can be had for it."""
        try:
            mine = self._turn.take_within(1.0)
        except StoreUnavailable:
            mine = False
        if not mine:
            self._db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        try:
            self._db.close()
        finally:
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
            return Transaction(self._connection, self._engine.now(self._db), self._ids, read_only=True)

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
        self._is_new = not path.exists()
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)
        except OSError as error:
            raise unavailable(path, error) from error

    def open(self) -> apsw.Connection:
        """A new connection, set up alike."""
        with plain_errors(self.path):
            db = apsw.Connection(str(self.path), statementcachesize=400)
            db.set_busy_timeout(int(_FOREIGN_S * 1000))
            # else a statement is planned anew at each call, for the values it is called with: measured, a claim took three times as long
            db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            # else a statement is planned anew at each call, for the values it is called with: measured, a claim took three times as long
            db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            if db.pragma("page_count") == 0:  # only then: it writes, and would fail on a full disk
                db.execute("PRAGMA auto_vacuum = INCREMENTAL")
            for pragma in (*_SETUP, f"journal_size_limit = {_WAL_BYTES}"):
                db.execute(f"PRAGMA {pragma}")
            return db

    def now(self, db: apsw.Connection) -> float:
        """Store time, as the open transaction of a connection sees it (T2)."""
        with contextlib.suppress(apsw.SQLError):  # no such table
            for row in db.execute("SELECT ahead FROM clock"):
                ahead: float = row[0]
                return self.clock.boot() + ahead
        raise StoreUnavailable(f"{self.path} was never set up; `covey up` or `covey db migrate` does it.")

    def writer(self, ids: Ids) -> SqliteWriter:
        """The writing connection."""
        return SqliteWriter(self, ids)

    def reader(self, ids: Ids) -> SqliteReader:
        """A reading connection."""
        return SqliteReader(self, ids)

    def migrate(self, clock_wall: Callable[[], float]) -> list[str]:
        """Run what is missing, in one transaction under the turn lock, and set the clock's offset after a boot (T2).

        Raises:
            StoreDamaged: The file is not sound, or is empty though it has been in use.
        """
        with turn(self.lock_path, self.clock) as lock:
            if lock.has_served and not self._is_new and self.path.stat().st_size == 0:
                raise StoreDamaged(
                    f"{self.path} is empty, though it held a fleet. Run `covey restore` with your last backup, or delete it to start anew."
                )
            with contextlib.closing(self.open()) as db, plain_errors(self.path), db:
                names = self._migrate(db, clock_wall())
                self._set_clock(db)
            lock.serve()
            return names

    def _migrate(self, db: apsw.Connection, at: float) -> list[str]:
        done = {row[0] for row in db.execute("SELECT name FROM migrations")} if _has_table(db, "migrations") else set()
        missing: list[Migration] = [each for each in migrations() if each.name not in done]
        for migration in missing:
            db.execute(migration.sqlite)
            db.execute("INSERT INTO migrations (name, at) VALUES (?, ?)", (migration.name, at))
        return [migration.name for migration in missing]

    def _set_clock(self, db: apsw.Connection) -> None:
        """At the first start after a boot the offset makes store time the wall clock's, never before the last event (T2)."""
        boot_id = self.clock.boot_id()
        row = db.execute("SELECT boot_id FROM clock").fetchone()
        if row is not None and row[0] == boot_id:
            return
        wall = self.clock.wall()
        last = max((row[0] for row in db.execute("SELECT at FROM events ORDER BY seq DESC LIMIT 100")), default=0.0)
        now = max(wall, last)
        db.execute(_SET_CLOCK, (boot_id, now - self.clock.boot()))
        if last > wall + 1:
            data = encode_json({"seconds": round(last - wall, 3), "why": "the wall clock is behind the last event"}).decode()
            db.execute(_INSERT_EVENT, Event(now, "clock.behind", None, None, data))

    def backup(self, path: Path) -> None:
        """Write one moment of the store to a new file, while it is in use."""
        with contextlib.closing(self.open()) as db:
            snapshots.write(db, path)

    def restore(self, path: Path, clock_wall: Callable[[], float]) -> None:
        """Put such a file in the place of this one, which is kept beside it as `….replaced`, sound or not."""
        snapshots.put_in_place(path, self.path, self.lock_path, self.clock)
        self._is_new = False
        self.migrate(clock_wall)

    def faults(self) -> list[str]:
        """What is not sound, a sentence each."""
        try:
            with contextlib.closing(self.open()) as db:
                return snapshots.faults_of(db)
        except StoreDamaged as error:
            return [error.message]

    def vacuum(self) -> None:
        """Give free pages back to the disk, some at a time so that others can write in between; then shorten the log."""
        with contextlib.closing(self.open()) as db, plain_errors(self.path):
            for _ in range(int(db.pragma("freelist_count")) // _VACUUM_PAGES + 1):
                with turn(self.lock_path, self.clock):
                    db.execute(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})").fetchall()
            with turn(self.lock_path, self.clock):
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Nothing is held by the engine itself."""


def _has_table(db: apsw.Connection, name: str) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)).fetchone() is not None
