"""PostgreSQL through psycopg 3: the same verbs and SQL text; row locks, NOTIFY and the server's clock are its own (DESIGN, Store)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

from covey.base.clock import Clock
from covey.base.errors import StoreUnavailable
from covey.base.ids import Ids
from covey.base.progress import Tell, silent
from covey.store import postgres_files
from covey.store.migrate import migrations
from covey.store.notify import NotifyBell
from covey.store.postgres_errors import outside
from covey.store.postgres_sessions import NOW, PostgresReader, PostgresWriter
from covey.store.turns import Stamp

__all__ = ["NotifyBell", "PostgresEngine"]

_SESSION = (
    "-c statement_timeout=30s -c lock_timeout=10s -c idle_in_transaction_session_timeout=10s -c timezone=UTC -c client_min_messages=warning"
)


class PostgresEngine:
    """A store on a PostgreSQL server. `settle_s` is how long a commit that had no answer is looked for."""

    system = "postgresql"
    is_exclusive = False

    def __init__(
        self,
        url: str,
        *,
        full: bool = True,
        writers: int = 2,
        readers: int = 2,
        pooler: bool = False,
        clock: Clock | None = None,
        settle_s: float = 10.0,
    ) -> None:
        self.url = url
        self.clock = clock
        self.full = full
        self.writers = writers
        self.readers = readers
        self.pooler = pooler
        self.settle_s = settle_s

    def given_time(self) -> float | None:
        """The time of an injected clock (the simulation, tests); None: the server's own."""
        return self.clock.boot() if self.clock is not None else None

    def now(self, db: psycopg.Connection[Any]) -> tuple[float, float]:
        """Store time as the clock has it, and the floor that it may not be below (T2)."""
        with contextlib.suppress(psycopg.errors.UndefinedTable):
            for row in db.execute(NOW, {"given": self.given_time()}):
                return row[0], row[1]
        raise StoreUnavailable("this PostgreSQL database was never set up; `covey up` or `covey db migrate` does it.")

    def open(self) -> psycopg.Connection[Any]:
        """A new session, set up alike. BEGIN and COMMIT are ours: autocommit is on. A pooler takes no options."""
        with outside():
            return psycopg.connect(
                self.url,
                autocommit=True,
                connect_timeout=5,
                keepalives_idle=10,
                keepalives_interval=5,
                keepalives_count=3,
                tcp_user_timeout=10_000,
                options=None if self.pooler else _SESSION,
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
        with outside(), self.open() as db:
            db.execute("SELECT pg_advisory_lock(hashtext('covey migrations'))")
            has = db.execute("SELECT to_regclass('migrations')").fetchone()
            done = {row[0] for row in db.execute("SELECT name FROM migrations")} if has and has[0] else set()
            missing = [each for each in migrations() if each.name not in done]
            db.execute("SET statement_timeout = 0")
            for migration in missing:
                with db.transaction():
                    db.execute(migration.postgres.encode())
                    db.execute("INSERT INTO migrations (name, at) VALUES (%s, %s)", (migration.name, clock_wall()))
            ahead = self.clock.wall() - self.clock.boot() if self.clock is not None else 0.0
            db.execute("INSERT INTO clock (id, boot_id, ahead) VALUES (1, '', %s) ON CONFLICT DO NOTHING", (ahead,))
            return [migration.name for migration in missing]

    def backup(self, path: Path, tell: Tell = silent) -> None:
        """Write one moment of the store to a new file, an SQLite database, while it is in use."""
        with outside(), self.open() as db:
            postgres_files.write(db, path, tell)

    def restore(self, path: Path, clock_wall: Callable[[], float], tell: Tell = silent) -> None:
        """Put the content of such a file in the place of what is there, in one transaction."""
        self.migrate(clock_wall)
        with outside(), self.open() as db:
            postgres_files.put_in_place(db, path, tell)

    def faults(self, tell: Tell = silent) -> list[str]:
        """What is not sound, a sentence each: a step of the schema that is missing, a table that can't be read."""
        with outside(), self.open() as db:
            return postgres_files.faults_of(db, tell)

    def vacuum(self, tell: Tell = silent) -> None:
        """Make room that is no longer used free for new rows, and count anew for the planner; others go on meanwhile."""
        with outside(), self.open() as db:
            postgres_files.vacuum(db, tell)

    def stamp(self) -> Stamp | None:
        """A server tells it to nobody who does not ask."""
        return None

    def close(self) -> None:
        """Nothing is held by the engine itself."""
