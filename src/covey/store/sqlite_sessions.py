"""Connections to the embedded store: how one runs statements, writes in its turn, and reads a snapshot."""

from __future__ import annotations

import contextlib
from collections import namedtuple
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from covey.base.errors import Failed, StoreUnavailable
from covey.base.ids import Ids
from covey.store.sqlite_errors import our_error, plain_errors
from covey.store.statements import Statement
from covey.store.transaction import Broken, Row, Transaction
from covey.store.turns import TurnLock

if TYPE_CHECKING:
    from covey.store.sqlite import SqliteEngine

_CHECKPOINT_PAGES = 2000
INSERT_EVENT = "INSERT INTO events (xid, at, kind, agent, subject, data) VALUES (0, ?, ?, ?, ?, ?)"


class SqliteConnection:
    """One apsw connection, as a transaction uses it."""

    def __init__(self, db: apsw.Connection, path: Path) -> None:
        self._db = db
        self._path = path

    def rows(self, statement: Statement, params: dict[str, Any]) -> list[Row]:
        """All rows as named tuples."""
        try:
            cursor = self._db.execute(statement.sqlite, statement.values(params))
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
            self._db.execute(statement.sqlite, statement.values(params))
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
                self._db.executemany(INSERT_EVENT, tx.events)
            self._db.execute("COMMIT")
        if tx.writes or tx.changed:
            self._turn.count(changed=tx.changed)

    def look(self) -> Transaction:
        """Open a snapshot."""
        return _snapshot(self._engine, self._db, self._connection, self._ids)

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
            if mine:
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
        return _snapshot(self._engine, self._db, self._connection, self._ids)

    def end(self) -> None:
        """Let the snapshot go."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection."""
        self._db.close()


def _snapshot(engine: SqliteEngine, db: apsw.Connection, connection: SqliteConnection, ids: Ids) -> Transaction:
    """A read-only transaction, begun on this connection."""
    with plain_errors(engine.path):
        db.execute("BEGIN")
        return Transaction(connection, engine.now(db), ids, read_only=True)
