"""Connections to PostgreSQL: how one runs statements, locks rows, writes a batch whatever becomes of its COMMIT, and reads a snapshot."""

from __future__ import annotations

import contextlib
import time
from collections import namedtuple
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.pq import TransactionStatus

from covey.base.errors import CoveyError, Failed, StoreUnavailable
from covey.base.ids import Ids
from covey.store.postgres_errors import in_transaction, inside, is_lost
from covey.store.statements import Statement
from covey.store.transaction import Broken, Event, Retry, Row, Transaction

if TYPE_CHECKING:
    from covey.store.postgres import PostgresEngine

_RAW = "coalesce(%(given)s::double precision, extract(epoch FROM clock_timestamp())::double precision)"
NOW = "SELECT <raw> + ahead, floor FROM clock WHERE id = 1".replace("<raw>", _RAW)
_CATCH_UP = "UPDATE clock SET ahead = floor - <raw> WHERE id = 1 AND floor - <raw> > ahead + 1 RETURNING ahead".replace("<raw>", _RAW)
_LOCK = """
  WITH locked AS MATERIALIZED (SELECT 1 FROM <table> WHERE <key> = %(item)s FOR UPDATE), found AS (SELECT count(*) AS n FROM locked)
SELECT greatest(<raw> + ahead, floor), (SELECT n FROM found) FROM clock WHERE id = 1 AND (SELECT n FROM found) >= 0
""".replace("<raw>", _RAW)
_INSERT_EVENT = (
    "INSERT INTO events (xid, at, kind, agent, subject, data) VALUES (pg_current_xact_id()::text::bigint, %s, %s, %s, %s, %s) RETURNING xid"
)
_STATUS = "SELECT pg_xact_status(%s::text::xid8)"
_EVIDENCE = "SELECT 1 FROM events WHERE xid = %s AND at = %s AND kind = %s AND subject IS NOT DISTINCT FROM %s AND data = %s LIMIT 1"
_ROW_OF = {
    "agent": ("agents", "id"),
    "task": ("tasks", "id"),
    "message": ("messages", "id"),
    "mailbox": ("vitals", "agent"),
    "schedule": ("schedules", "name"),
    "team": ("team_runs", "id"),
    "vote": ("votes", "id"),
}
"""Kinds that are locked by their own row; all others by the fleet's one row of that kind in `locks`."""
_LOCKS = {table: _LOCK.replace("<table>", table).replace("<key>", key) for table, key in (*_ROW_OF.values(), ("locks", "kind"))}


class PostgresConnection:
    """One psycopg connection, as a transaction uses it."""

    def __init__(self, db: psycopg.Connection[Any], engine: PostgresEngine) -> None:
        self._db = db
        self._engine = engine

    def rows(self, statement: Statement, params: dict[str, Any]) -> list[Row]:
        """All rows as named tuples."""
        try:
            cursor = self._db.execute(statement.postgres, params)
            found = cursor.fetchall() if cursor.description is not None else []
        except psycopg.Error as error:
            raise in_transaction(error) from error
        if not found:
            return []
        make = statement.make
        if make is None or len(make._fields) != len(found[0]):
            names = [column.name for column in cursor.description or ()]
            make = statement.make = namedtuple("Row", names)  # noqa: PYI024 - the columns are known at run time only
        return [make._make(row) for row in found]

    def run(self, statement: Statement, params: dict[str, Any]) -> int:
        """Run it; how many rows it changed."""
        try:
            return self._db.execute(statement.postgres, params).rowcount
        except psycopg.Error as error:
            raise in_transaction(error) from error

    def lock(self, kind: str, item: str) -> float:
        """Lock the thing's own row, or the fleet's row of that kind; the time is read once the lock is there."""
        own = _ROW_OF.get(kind)
        params = {"item": item if own else kind, "given": self._engine.given_time()}
        with inside():
            row = self._db.execute(_LOCKS[own[0] if own else "locks"], params).fetchone()
        assert row is not None
        if own is None and row[1] == 0:
            raise Failed(f"there is no lock of the kind {kind!r}; this is a fault of Covey, please report it.")
        now: float = row[0]
        return now

    def control(self, command: str) -> None:
        """Run a SAVEPOINT command."""
        with inside():
            self._db.execute(command.encode())


class PostgresWriter:
    """A connection that writes."""

    def __init__(self, engine: PostgresEngine, ids: Ids) -> None:
        self._engine = engine
        self._ids = ids
        self._db: psycopg.Connection[Any] | None = None

    def wait_turn(self) -> None:
        """Nothing to wait for: PostgreSQL takes many writers."""

    def end_turn(self) -> None:
        """Nothing to give back."""

    def begin(self, *, full: bool, locks: Sequence[tuple[str, str]]) -> Transaction:
        """Begin; take the locks, sorted; then read the time."""
        db = self._session()
        connection = PostgresConnection(db, self._engine)
        with inside():
            db.execute("BEGIN")
            if not (full and self._engine.full):
                db.execute("SET LOCAL synchronous_commit = off")
            for kind, item in locks:
                connection.lock(kind, item)
            now, floor = self._engine.now(db)
            tx = Transaction(connection, max(now, floor), self._ids, held=locks)
            if floor > now + 1:
                self._catch_up(db, tx, floor - now)
        return tx

    def _session(self) -> psycopg.Connection[Any]:
        if self._db is None or self._db.closed:
            self._db = self._engine.open()
        return self._db

    def _catch_up(self, db: psycopg.Connection[Any], tx: Transaction, seconds: float) -> None:
        """The server's clock went back (or it is another server): store time goes on from its floor, and does not stand still (T2)."""
        if db.execute(_CATCH_UP, {"given": self._engine.given_time()}).fetchone() is not None:
            tx.happened("clock.stepped", seconds=round(seconds, 3), why="the server's clock went back")

    def commit(self, tx: Transaction) -> None:
        """Write the news and commit; what became of a COMMIT without an answer is looked up."""
        assert self._db is not None
        xid = 0
        with inside():
            if self._db.info.transaction_status == TransactionStatus.INERROR:
                raise Retry("a refused statement had ended the transaction")
            if tx.events:
                xid = self._write(tx.events)
        try:
            self._db.execute("COMMIT")
        except psycopg.Error as error:
            self.close()
            if not is_lost(error):
                raise in_transaction(error) from error
            if not (tx.events and self._is_stored(xid, tx.events[-1])):
                raise Retry("the connection was lost at the commit, and nothing was stored") from error

    def _write(self, events: Sequence[Event]) -> int:
        assert self._db is not None
        with self._db.cursor() as cursor:
            cursor.executemany(_INSERT_EVENT, events, returning=True)
            row = cursor.fetchone()
        assert row is not None
        xid: int = row[0]
        return xid

    def _is_stored(self, xid: int, last: Event) -> bool:
        """Whether the transaction whose COMMIT had no answer is there: its last event tells, once it runs no more.

        Its number alone would not do: after a crash a number can be given again.

        Raises:
            Broken: The server does not come back in time to say so.
        """
        end = time.monotonic() + self._engine.settle_s
        while time.monotonic() < end:
            with contextlib.suppress(CoveyError, psycopg.Error), self._engine.open() as db:
                if not _still_runs(db, xid):
                    return db.execute(_EVIDENCE, (xid, last.at, last.kind, last.subject, last.data)).fetchone() is not None
            time.sleep(0.1)
        said = (
            "PostgreSQL was lost at the commit and does not come back; it is not known whether this was stored. Try again with the same id."
        )
        raise Broken(StoreUnavailable(said))

    def look(self) -> Transaction:
        """Open a snapshot."""
        return _snapshot(self._engine, self._session(), self._ids)

    def rollback(self) -> None:
        """Undo the whole batch; a broken connection is dropped."""
        if self._db is not None and not self._db.closed:
            try:
                self._db.execute("ROLLBACK")
            except psycopg.Error:
                self.close()

    def close(self) -> None:
        """Close the connection."""
        if self._db is not None:
            self._db.close()
            self._db = None


def _still_runs(db: psycopg.Connection[Any], xid: int) -> bool:
    try:
        row = db.execute(_STATUS, (xid,)).fetchone()
    except psycopg.DatabaseError:  # a number that the server, come back from a crash, has not given yet
        return False
    return row is not None and row[0] == "in progress"


class PostgresReader:
    """A connection that reads one snapshot at a time."""

    def __init__(self, engine: PostgresEngine, ids: Ids) -> None:
        self._engine = engine
        self._ids = ids
        self._db = engine.open()

    def begin(self) -> Transaction:
        """Open a snapshot."""
        return _snapshot(self._engine, self._db, self._ids)

    def end(self) -> None:
        """Let the snapshot go."""
        self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection."""
        self._db.close()


def _snapshot(engine: PostgresEngine, db: psycopg.Connection[Any], ids: Ids) -> Transaction:
    """A read-only transaction, begun on this connection."""
    with inside():
        db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return Transaction(PostgresConnection(db, engine), max(engine.now(db)), ids, read_only=True)
