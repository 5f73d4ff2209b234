"""PostgreSQL through psycopg 3: the same verbs and SQL text; row locks, NOTIFY and the server's clock are its own (DESIGN, Store)."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import psycopg
from psycopg import errors as pg

from covey.base.clock import Clock
from covey.base.errors import CoveyError, Failed, StoreBusy, StoreUnavailable
from covey.base.ids import Ids
from covey.store.engine import Retry
from covey.store.migrate import migrations
from covey.store.statements import Statement
from covey.store.transaction import Event, Row, Transaction

_SESSION = "-c statement_timeout=30s -c lock_timeout=10s -c idle_in_transaction_session_timeout=10s -c timezone=UTC -c client_min_messages=warning"
_NOW = "SELECT greatest(coalesce(%s, extract(epoch FROM clock_timestamp())::double precision) + ahead, floor) FROM clock WHERE id = 1"
_INSERT_EVENT = "INSERT INTO events (xid, at, kind, agent, subject, data) VALUES (pg_current_xact_id()::text::bigint, %s, %s, %s, %s, %s)"
_ROWS_OF = {"agent": ("agents", "id"), "task": ("tasks", "id"), "message": ("messages", "id"), "mailbox": ("vitals", "agent"), "schedule": ("schedules", "name")}
"""Kinds that are locked by their own row; all others by the fleet's one row of that kind in `locks`."""
_CHANNEL = "covey"


@contextlib.contextmanager
def plain_errors() -> Iterator[None]:
    """Turn PostgreSQL's own errors into ours, or into a retry where the batch may run again."""
    try:
        yield
    except psycopg.Error as error:
        raise our_error(error) from error


def our_error(error: psycopg.Error) -> Exception:
    """What an error of PostgreSQL means to the store."""
    said = " ".join(str(error).split())
    match error:
        case pg.DeadlockDetected() | pg.SerializationFailure():
            return Retry(said)
        case pg.LockNotAvailable() | pg.QueryCanceled() | pg.TooManyConnections():
            return StoreBusy(f"PostgreSQL is busy ({said}); nothing was stored, try again.", retry_at=time.time() + 1)
        case pg.DiskFull():
            return StoreUnavailable(f"PostgreSQL's disk is full ({said}); nothing was stored.")
        case psycopg.OperationalError() | psycopg.InterfaceError():
            return StoreUnavailable(f"PostgreSQL can't be reached ({said}); check the server and the `store` address in covey.toml.")
        case _:
            return Failed(f"the store refused a statement ({type(error).__name__}: {said}); this is a fault of Covey, please report it.")


class PostgresConnection:
    """One psycopg connection."""

    def __init__(self, db: psycopg.Connection[Any]) -> None:
        self.db = db

    def rows(self, statement: Statement, params: dict[str, Any]) -> list[Row]:
        """All rows as named tuples."""
        with plain_errors():
            cursor = self.db.execute(statement.postgres, params)
            if cursor.description is None:
                return []
            found = cursor.fetchall()
            if not found:
                return []
            make = statement.make
            if make is None or len(make._fields) != len(found[0]):
                make = statement.make = namedtuple("Row", [column.name for column in cursor.description])  # noqa: PYI024 - the columns are known at run time only
            return [make._make(row) for row in found]

    def run(self, statement: Statement, params: dict[str, Any]) -> int:
        """Run it; how many rows it changed."""
        with plain_errors():
            return self.db.execute(statement.postgres, params).rowcount

    def lock(self, kind: str, item: str) -> None:
        """Lock the thing's own row, or the fleet's row of that kind."""
        table, key = _ROWS_OF.get(kind, ("locks", "kind"))
        with plain_errors():
            self.db.execute(f"SELECT 1 FROM {table} WHERE {key} = %s FOR UPDATE", (item if table != "locks" else kind,))

    def control(self, command: str) -> None:
        """A savepoint command."""
        with plain_errors():
            self.db.execute(command)

    def write_events(self, events: Sequence[Event]) -> None:
        """Append the news of a batch."""
        with self.db.cursor() as cursor:
            cursor.executemany(_INSERT_EVENT, events)


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
        with plain_errors():
            if self._db is None or self._db.closed:
                self._db = self._engine.open()
            db = self._db
            db.execute("BEGIN")
            if not (full and self._engine.full):
                db.execute("SET LOCAL synchronous_commit = off")
            connection = PostgresConnection(db)
            for kind, item in locks:
                connection.lock(kind, item)
            row = db.execute(_NOW, (self._engine.given_time(),)).fetchone()
        assert row is not None
        return Transaction(connection, row[0], self._ids, held=set(locks))

    def savepoint(self) -> None:
        """Begin a part that can be undone."""
        self._run("SAVEPOINT verb")

    def release(self) -> None:
        """Keep that part."""
        self._run("RELEASE SAVEPOINT verb")

    def rollback_to(self) -> None:
        """Undo that part."""
        self._run("ROLLBACK TO SAVEPOINT verb")

    def _run(self, text: str) -> None:
        assert self._db is not None
        with plain_errors():
            self._db.execute(text)

    def commit(self, tx: Transaction) -> None:
        """Write the news and commit. After a lost COMMIT the verbs run again: a known id answers (DESIGN)."""
        assert self._db is not None
        try:
            with plain_errors():
                if tx.events:
                    PostgresConnection(self._db).write_events(tx.events)
                self._db.execute("COMMIT")
        except StoreUnavailable as error:
            self.close()
            raise Retry(error.message) from error
        except CoveyError:
            self.rollback()
            raise

    def rollback(self) -> None:
        """Undo the whole batch; a broken connection is dropped."""
        if self._db is None or self._db.closed:
            return
        try:
            self._db.execute("ROLLBACK")
        except psycopg.Error:
            self.close()

    def close(self) -> None:
        """Close the connection."""
        if self._db is not None:
            self._db.close()
            self._db = None


class PostgresReader:
    """A connection that reads one snapshot at a time."""

    def __init__(self, engine: PostgresEngine, ids: Ids) -> None:
        self._engine = engine
        self._ids = ids
        self._db = engine.open()

    def begin(self) -> Transaction:
        """Open a snapshot."""
        with plain_errors():
            self._db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            row = self._db.execute(_NOW, (self._engine.given_time(),)).fetchone()
        assert row is not None
        return Transaction(PostgresConnection(self._db), row[0], self._ids, read_only=True)

    def end(self) -> None:
        """Let the snapshot go."""
        with plain_errors():
            self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection."""
        self._db.close()


class PostgresEngine:
    """A store on a PostgreSQL server."""

    def __init__(self, url: str, *, full: bool = True, writers: int = 2, readers: int = 2, pooler: bool = False, clock: Clock | None = None) -> None:
        self.url = url
        self.clock = clock
        self.full = full
        self.writers = writers
        self.readers = readers
        self.pooler = pooler

    def given_time(self) -> float | None:
        """The time of an injected clock (the simulation, tests); None: the server's own."""
        return self.clock.boot() if self.clock is not None else None

    def open(self) -> psycopg.Connection[Any]:
        """A new session, set up alike. BEGIN and COMMIT are ours: autocommit is on."""
        with plain_errors():
            return psycopg.connect(
                self.url,
                autocommit=True,
                connect_timeout=5,
                keepalives_idle=10,
                keepalives_interval=5,
                keepalives_count=3,
                tcp_user_timeout=10_000,
                options=_SESSION,
                application_name="covey",
                prepare_threshold=None if self.pooler else 5,
            )

    def writer(self, ids: Ids) -> PostgresWriter:
        """A writing connection."""
        return PostgresWriter(self, ids)

    def reader(self, ids: Ids) -> PostgresReader:
        """A reading connection."""
        return PostgresReader(self, ids)

    def migrate(self, clock_wall: Callable[[], float]) -> list[str]:
        """Run what is missing under an advisory lock, each step its own transaction."""
        with plain_errors(), self.open() as db:
            db.execute("SELECT pg_advisory_lock(hashtext('covey migrations'))")
            has = db.execute("SELECT to_regclass('migrations')").fetchone()
            done = {row[0] for row in db.execute("SELECT name FROM migrations")} if has and has[0] else set()
            missing = [each for each in migrations() if each.name not in done]
            for migration in missing:
                with db.transaction():
                    db.execute(migration.postgres.encode())
                    db.execute("INSERT INTO migrations (name, at) VALUES (%s, %s)", (migration.name, clock_wall()))
            ahead = self.clock.wall() - self.clock.boot() if self.clock is not None else 0.0
            db.execute("INSERT INTO clock (id, boot_id, ahead) VALUES (1, '', %s) ON CONFLICT DO NOTHING", (ahead,))
            return [migration.name for migration in missing]

    def close(self) -> None:
        """Nothing is held by the engine itself."""


class NotifyBell:
    """The doorbell over PostgreSQL: one coalesced NOTIFY a batch, on a connection of its own; one LISTEN a process."""

    def __init__(self, engine: PostgresEngine) -> None:
        self._engine = engine
        self._sender: psycopg.Connection[Any] | None = None
        self._lock = threading.Lock()
        self._hints: dict[str, tuple[asyncio.AbstractEventLoop, Callable[[], None]]] = {}
        self._listener: threading.Thread | None = None
        self._stopping = threading.Event()

    def ring(self, names: Iterable[str]) -> None:
        """Hint to all names; an error is as good as a lost hint."""
        names = list(names)
        near = [name for name in names if self._ring_near(name)]
        far = [name for name in names if name not in near]
        if not far or self._engine.pooler:
            return
        with self._lock, contextlib.suppress(CoveyError, psycopg.Error):
            if self._sender is None or self._sender.closed:
                self._sender = self._engine.open()
            for start in range(0, len(far), 100):
                self._sender.execute("SELECT pg_notify(%s, %s)", (_CHANNEL, " ".join(far[start : start + 100])))

    def _ring_near(self, name: str) -> bool:
        there = self._hints.get(name)
        if there is None:
            return False
        with contextlib.suppress(RuntimeError):
            there[0].call_soon_threadsafe(there[1])
        return True

    def listen(self, name: str, hint: Callable[[], None]) -> Callable[[], None]:
        """Call `hint` at each ring for this name."""
        self._hints[name] = (asyncio.get_running_loop(), hint)
        if self._listener is None and not self._engine.pooler:
            self._listener = threading.Thread(target=self._hear, name="covey-bell", daemon=True)
            self._listener.start()

        def stop() -> None:
            self._hints.pop(name, None)

        return stop

    def _hear(self) -> None:
        while not self._stopping.is_set():
            try:
                with self._engine.open() as db:
                    db.execute(f"LISTEN {_CHANNEL}")
                    while not self._stopping.is_set():
                        for notice in db.notifies(timeout=1.0):
                            for name in notice.payload.split():
                                self._ring_near(name)
            except (CoveyError, psycopg.Error):
                self._stopping.wait(2.0)

    def close(self) -> None:
        """Stop listening and close the connections."""
        self._stopping.set()
        if self._listener is not None:
            self._listener.join(timeout=5)
        if self._sender is not None:
            self._sender.close()
