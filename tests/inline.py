"""Verbs run at once, one after the other, on one real connection of either database: for tests that need no loop and no threads."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar
from urllib.parse import urlsplit

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


@pytest.fixture(scope="session")
def mould_database(postgres: server.Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of the database of the default eight, made once a session."""
    with postgres.fresh() as url:
        set_up(Database("postgres", url, tmp_path_factory.mktemp("mould")))
        yield urlsplit(url).path.removeprefix("/")


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """The store of the default eight agents, of either kind in turn: a test that takes it runs on both (N1)."""
    path = tmp_path / "store.db"
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("mould_file"), path)
        yield Database("sqlite", "", path)
        return
    databases: server.Databases = request.getfixturevalue("postgres")
    with databases.fresh(request.getfixturevalue("mould_database")) as url:
        yield Database("postgres", url, path)


@pytest.fixture
def hand(database: Database, clock: ManualClock) -> Iterator[Hand]:
    """Verbs at hand on that store."""
    with at_hand(database, clock) as found:
        yield found
