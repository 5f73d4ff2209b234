"""SQLite through apsw: WAL, one file on a local disk, writers in turn by a lock file (DESIGN, Store)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import apsw

from covey.base.clock import Clock
from covey.base.errors import CoveyError, StoreDamaged, StoreUnavailable
from covey.base.ids import Ids
from covey.base.progress import Tell, silent
from covey.store import snapshots
from covey.store.migrate import Migration, migrations
from covey.store.sqlite_errors import faults_in, plain_errors
from covey.store.sqlite_sessions import INSERT_EVENT, SqliteReader, SqliteWriter
from covey.store.transaction import Event, encode_json
from covey.store.turns import Stamp, StampReader, TurnLock, turn, turn_holder, unavailable

__all__ = ["SqliteEngine", "turn_holder"]

_FOREIGN_S = 5.0
"""So long a program that is not ours may keep us from the file; well below the time after which a holder of the turn counts as stuck."""
_SETUP = ("journal_mode = WAL", "foreign_keys = ON", "temp_store = MEMORY", "cache_size = -8000")
_WAL_BYTES = 64 << 20
_VACUUM_PAGES = 1000
_SET_CLOCK = "INSERT INTO clock (id, boot_id, ahead) VALUES (1, ?1, ?2) ON CONFLICT (id) DO UPDATE SET boot_id = ?1, ahead = ?2"


class SqliteEngine:
    """The embedded store in one file."""

    system = "sqlite"
    writers = 1
    is_exclusive = True

    def __init__(self, path: Path, clock: Clock, *, full: bool = True, readers: int = 2) -> None:
        self.path = path
        self.clock = clock
        self.full = full
        self.readers = readers
        self.lock_path = path.with_name(path.name + ".lock")
        self._stamp = StampReader(self.lock_path)
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
            StoreBusy: Another process held the turn lock for too long.
        """
        if self._is_set_up():
            return []
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

    def _is_set_up(self) -> bool:
        """Whether nothing is missing, seen without a turn, so that a holder who is stuck keeps nobody from reading."""
        if not self._has_served() or self.path.stat().st_size == 0:
            return False
        try:
            with contextlib.closing(self.open()) as db:
                return not _missing(db) and self._has_clock(db)
        except (apsw.Error, CoveyError):  # whoever looks again in its turn says what it is
            return False

    def _has_served(self) -> bool:
        lock = TurnLock(self.lock_path, self.clock)
        try:
            return lock.has_served
        finally:
            lock.close()

    def _has_clock(self, db: apsw.Connection) -> bool:
        """Whether the clock's offset is of this boot."""
        row = db.execute("SELECT boot_id FROM clock").fetchone()
        return row is not None and row[0] == self.clock.boot_id()

    def _migrate(self, db: apsw.Connection, at: float) -> list[str]:
        missing = _missing(db)
        for migration in missing:
            db.execute(migration.sqlite)
            db.execute("INSERT INTO migrations (name, at) VALUES (?, ?)", (migration.name, at))
        return [migration.name for migration in missing]

    def _set_clock(self, db: apsw.Connection) -> None:
        """At the first start after a boot the offset makes store time the wall clock's, never before the last event (T2)."""
        if self._has_clock(db):
            return
        wall = self.clock.wall()
        last = max((row[0] for row in db.execute("SELECT at FROM events ORDER BY seq DESC LIMIT 100")), default=0.0)
        now = max(wall, last)
        db.execute(_SET_CLOCK, (self.clock.boot_id(), now - self.clock.boot()))
        if last > wall + 1:
            data = encode_json({"seconds": round(last - wall, 3), "why": "the wall clock is behind the last event"}).decode()
            db.execute(INSERT_EVENT, Event(now, "clock.behind", None, None, data))

    def backup(self, path: Path, tell: Tell = silent) -> None:
        """Write one moment of the store to a new file, while it is in use."""
        with contextlib.closing(self.open()) as db:
            snapshots.write(db, path, tell)

    def restore(self, path: Path, clock_wall: Callable[[], float], tell: Tell = silent) -> None:
        """Put such a file in the place of this one, which is kept beside it as `….replaced`, sound or not."""
        snapshots.put_in_place(path, self.path, self.lock_path, self.clock, tell)
        self._is_new = False
        self.migrate(clock_wall)

    def faults(self, tell: Tell = silent) -> list[str]:
        """What is not sound, a sentence each."""
        try:
            with contextlib.closing(self.open()) as db:
                return snapshots.faults_of(db, tell)
        except StoreDamaged as error:
            return faults_in(error)

    def vacuum(self, tell: Tell = silent) -> None:
        """Give free pages back to the disk, some at a time so that others can write in between; then shorten the log."""
        with contextlib.closing(self.open()) as db, plain_errors(self.path):
            steps = int(db.pragma("freelist_count")) // _VACUUM_PAGES + 1
            for step in range(1, steps + 1):
                with turn(self.lock_path, self.clock):
                    db.execute(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})").fetchall()
                tell("giving room back", step, steps)
            with turn(self.lock_path, self.clock):
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def stamp(self) -> Stamp | None:
        """How many commits there were, without a query."""
        return self._stamp.read()

    def close(self) -> None:
        """Give back the descriptor of the stamp."""
        self._stamp.close()


def _missing(db: apsw.Connection) -> list[Migration]:
    """The migrations that this store has not had."""
    done = {row[0] for row in db.execute("SELECT name FROM migrations")} if _has_table(db, "migrations") else set()
    return [each for each in migrations() if each.name not in done]


def _has_table(db: apsw.Connection, name: str) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)).fetchone() is not None
