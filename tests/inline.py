"""Verbs run at once, one after the other, on one real connection of either database: for tests that need no loop and no threads."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import psycopg
import pytest

from covey.agents import configuring
from covey.base.clock import Clock
from covey.base.ids import Ids
from covey.store import Transaction
from covey.store.engine import Engine
from covey.store.postgres import PostgresEngine
from covey.store.sqlite import SqliteEngine
from tests import postgres as server
from tests.conftest import EIGHT, Database, ManualClock

P = ParamSpec("P")
R = TypeVar("R")


class Hand:
    """Calls verbs: `hand(verb, …)` commits each by itself, an error undoes it. `hand.bells` has whom the last one woke."""

    def __init__(self, engine: Engine, database: Database, clock: ManualClock) -> None:
        self.engine = engine
        self.database = database
        self.clock = clock
        self.bells: set[str] = set()
        self._writer = engine.writer(Ids())

    def __call__(self, verb: Callable[Concatenate[Transaction, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        with self.transaction() as tx:
            return verb(tx, *args, **kwargs)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """One transaction for several verbs."""
        tx = self._writer.begin(full=False, locks=())
        try:
            yield tx
            self._writer.commit(tx)
        except BaseException:
            self._writer.rollback()
            raise
        self.bells = set(tx.bells)

    @property
    def now(self) -> float:
        """Store time."""
        with self.transaction() as tx:
            return tx.now

    def close(self) -> None:
        """Give back the connection."""
        self._writer.close()
        self.engine.close()


def engine_of(database: Database, clock: Clock) -> Engine:
    """A new engine on a test's database."""
    return PostgresEngine(database.url, clock=clock) if database.kind == "postgres" else SqliteEngine(database.path, clock)


@contextmanager
def at_hand(database: Database, clock: ManualClock) -> Iterator[Hand]:
    """A hand on a database that is set up already."""
    hand = Hand(engine_of(database, clock), database, clock)
    try:
        yield hand
    finally:
        hand.close()


def set_up(database: Database) -> None:
    """Make the store of the default eight agents."""
    clock = ManualClock()
    engine = engine_of(database, clock)
    engine.migrate(clock.wall)
    hand = Hand(engine, database, clock)
    hand(configuring.configure, EIGHT)
    hand.close()


@pytest.fixture(scope="session")
def mould_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the default eight, made once a session and copied for each test, since making it takes longer than most tests."""
    path = tmp_path_factory.mktemp("mould") / "store.db"
    set_up(Database("sqlite", "", path))
    return path


class Reused:
    """One database for many tests, brought back to the default eight before each: a new one would take longer than most tests."""

    def __init__(self, databases: server.Databases, folder: Path) -> None:
        self._databases = databases
        self._folder = folder
        self._stack = ExitStack()
        self._url = ""

    def ready(self) -> str:
        """Its URL, once it is as new."""
        if self._url and self._reset():
            return self._url
        self.close()
        self._url = self._stack.enter_context(self._databases.fresh())
        set_up(Database("postgres", self._url, self._folder))
        with psycopg.connect(self._url, autocommit=True) as db:
            db.execute("CREATE SCHEMA mould")
            for table in self._tables(db):
                db.execute(f'CREATE TABLE mould."{table}" AS TABLE public."{table}"'.encode())
        return self._url

    def _reset(self) -> bool:
        """Whether every table has its first rows again; not if a test changed the schema."""
        try:
            with psycopg.connect(self._url, autocommit=True) as db:
                db.execute("SET session_replication_role = replica")
                for table in self._tables(db):
                    db.execute(f'DELETE FROM public."{table}"'.encode())
                    db.execute(f'INSERT INTO public."{table}" SELECT * FROM mould."{table}"'.encode())
        except psycopg.Error:
            return False
        return True

    @staticmethod
    def _tables(db: psycopg.Connection[Any]) -> list[str]:
        return [row[0] for row in db.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()]

    def close(self) -> None:
        """Drop it."""
        self._stack.close()
        self._url = ""


@pytest.fixture(scope="session")
def mould_database(postgres: server.Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reused]:
    """The database that the tests of this session use one after the other."""
    with closing(Reused(postgres, tmp_path_factory.mktemp("mould"))) as found:
        yield found


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    """The store of the default eight agents, of either kind in turn: a test that takes it runs on both (N1)."""
    path = tmp_path / "store.db"
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("mould_file"), path)
        return Database("sqlite", "", path)
    found: Reused = request.getfixturevalue("mould_database")
    return Database("postgres", found.ready(), path)


@pytest.fixture
def hand(database: Database, clock: ManualClock) -> Iterator[Hand]:
    """Verbs at hand on that store."""
    with at_hand(database, clock) as found:
        yield found
