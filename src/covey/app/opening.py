"""Open the fleet's store as the settings say, and bring its agents in line with them."""

from __future__ import annotations

from pathlib import Path

from covey.agents import configuring, roster
from covey.agents.configuring import Changes
from covey.base.clock import Clock, SystemClock
from covey.base.errors import StoreUnavailable
from covey.base.settings import Settings
from covey.messages import relinking
from covey.planning import budgets
from covey.store import Bell, DatagramBell, Store, Transaction
from covey.store.engine import Engine
from covey.store.sqlite import SqliteEngine
from covey.tasks import scheduling


def run_dir(settings: Settings) -> Path:
    """Where locks, sockets and the settings' snapshot lie."""
    return Path(settings.data_dir) / "run"


def store_path(settings: Settings) -> Path:
    """The embedded store's file."""
    return Path(settings.data_dir) / "store.db"


def engine_of(settings: Settings, clock: Clock | None = None) -> Engine:
    """The database that the settings name."""
    full = settings.durability == "full"
    if not settings.store:
        return SqliteEngine(store_path(settings), clock or SystemClock(), full=full)
    # psycopg is 64 ms and 11 MB that a fleet on the embedded store does not pay
    try:
        from covey.store.postgres import PostgresEngine  # noqa: PLC0415 - see above
    except ImportError as error:
        raise StoreUnavailable(
            f"the store is {settings.store.split('@')[-1]}, but psycopg is not there ({error}); install `covey[postgres]`."
        ) from error
    return PostgresEngine(settings.store, full=full, pooler=settings.pooler)


def open_store(settings: Settings, clock: Clock | None = None) -> Store:
    """The fleet's store, migrated.

    Raises:
        StoreUnavailable, StoreDamaged: It can't be opened; the sentence says what to do.
    """
    engine = engine_of(settings, clock)
    engine.migrate((clock or SystemClock()).wall)
    return Store(engine, _bell(engine, settings))


def _bell(engine: Engine, settings: Settings) -> Bell:
    if isinstance(engine, SqliteEngine):
        return DatagramBell(run_dir(settings) / "bells")
    from covey.store.postgres import NotifyBell, PostgresEngine  # noqa: PLC0415 - as above

    assert isinstance(engine, PostgresEngine)
    return NotifyBell(engine)


def apply(tx: Transaction, settings: Settings) -> Changes:
    """The stored fleet is what the settings say: agents, projects, schedules."""
    changes = configuring.configure(tx, settings)
    relinking.reconfigured(tx, (*changes.added, *changes.changed))
    scheduling.configure(tx, settings)
    budgets.configure(tx, settings.planning)
    return changes


async def prepare(store: Store, settings: Settings) -> None:
    """A fleet that was never started gets its agents now, so that mail and tasks can come before `covey up`."""
    if not await store.read(roster.all_names):
        await store.write(apply, settings)
