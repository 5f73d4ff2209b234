"""What all tests share: a store to be had twice, as an SQLite file and as a PostgreSQL database."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import hypothesis
import pytest

from covey.agents import configuring
from covey.base.clock import Clock
from covey.base.defaults import AGENTS, DEPUTY, LEAD
from covey.base.settings import Settings
from covey.store import DatagramBell, Store
from covey.store.postgres import PostgresEngine
from covey.store.sqlite import SqliteEngine
from tests import postgres as server
from tests.left_behind import left_of

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a shell starts what runs in the background deaf to Ctrl-C, and its children would inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)

hypothesis.settings.register_profile("long", max_examples=1000, deadline=None)

EIGHT = Settings(agents=AGENTS, lead=LEAD, deputy=DEPUTY, limits="off")
"""The default fleet without quotas, which are the matter of the tests of links alone."""


@dataclass(frozen=True)
class Database:
    """An empty place for one test's store.

    `url` is what `Settings.store` takes: empty for the embedded file, which is `path`; `postgresql://…` otherwise.
    """

    kind: Literal["sqlite", "postgres"]
    url: str
    path: Path


@pytest.fixture(autouse=True)
def nothing_left_running() -> Iterator[None]:
    """A test fails that leaves a thread running: it goes on in later tests, and changes what they stand on."""
    before = threading.enumerate()
    yield
    left = left_of(before)
    if left:
        pytest.fail(f"threads are left running: {', '.join(left)}", pytrace=False)


@pytest.fixture(scope="session")
def postgres() -> Iterator[server.Databases]:
    """A real PostgreSQL for this session; each `fresh()` is a database of its own.

    Skips where there is none; fails instead when COVEY_REQUIRE_POSTGRES=1, which .ci/run sets.
    """
    with ExitStack() as stack:
        try:
            databases = stack.enter_context(server.databases())
        except server.NoPostgres as missing:
            if os.environ.get("COVEY_REQUIRE_POSTGRES") == "1":
                pytest.fail(str(missing), pytrace=False)
            pytest.skip(str(missing))
        yield databases


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty database, of either kind in turn: a test that takes it runs on both (N1)."""
    path = tmp_path / "store.db"
    if request.param == "sqlite":
        yield Database("sqlite", "", path)
        return
    databases: server.Databases = request.getfixturevalue("postgres")
    with databases.fresh() as url:
        yield Database("postgres", url, path)


class ManualClock:
    """A clock that a test moves by hand."""

    def __init__(self) -> None:
        self.at = 1_000.0
        self.ahead = 1_800_000_000.0

    def wall(self) -> float:
        """The wall clock, which runs along with the machine's unless `ahead` is changed."""
        return self.at + self.ahead

    def boot(self) -> float:
        """Seconds since boot."""
        return self.at

    def boot_id(self) -> str:
        """Always the same boot."""
        return "a-boot"

    async def sleep(self, seconds: float) -> None:
        """Nobody sleeps in a test's own time: time passes at once."""
        self.at += seconds


@pytest.fixture
def clock() -> ManualClock:
    """The store's time, moved by hand."""
    return ManualClock()


@pytest.fixture
async def store(database: Database, clock: ManualClock, tmp_path: Path) -> AsyncIterator[Store]:
    """An empty store, on SQLite and on PostgreSQL in turn, whose time is `clock`'s."""
    async with opened(database, tmp_path, clock) as found:
        yield found


@asynccontextmanager
async def opened(database: Database, folder: Path, clock: Clock) -> AsyncIterator[Store]:
    """The store of a database; opened twice it is two processes' view of one store."""
    bell = DatagramBell(folder / "bells")
    engine = PostgresEngine(database.url, clock=clock) if database.kind == "postgres" else SqliteEngine(database.path, clock)
    engine.migrate(clock.wall)
    found = Store(engine, bell)
    try:
        yield found
    finally:
        await found.close()
        bell.close()


@pytest.fixture
async def fleet(store: Store) -> Store:
    """The store of the default eight agents."""
    await store.write(configuring.configure, EIGHT)
    return store
