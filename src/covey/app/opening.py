"""Open the fleet's store as the settings say, and bring its agents in line with them."""

from __future__ import annotations

import logging
from pathlib import Path

from covey.agents import configuring, roster
from covey.agents.configuring import Changes
from covey.base.clock import Clock, SystemClock
from covey.base.errors import Misconfigured, NotFound, StoreUnavailable
from covey.base.settings import Settings
from covey.base.tracing import UNRECORDED, Spans
from covey.contexts import exact
from covey.contexts.tokens import count_with
from covey.messages import relinking
from covey.planning import budgets
from covey.store import Bell, DatagramBell, Store, Transaction
from covey.store.engine import Engine
from covey.store.sqlite import SqliteEngine
from covey.tasks import scheduling

log = logging.getLogger("covey.store")


def run_dir(settings: Settings) -> Path:
    """Where locks, sockets and the settings' snapshot lie."""
    return Path(settings.data_dir) / "run"


def store_path(settings: Settings) -> Path:
    """The embedded store's file."""
    return Path(settings.data_dir) / "store.db"


def has_store(settings: Settings) -> bool:
    """Whether there is a store to look at; an embedded one is made by the first `covey up` or `covey send`."""
    if settings.store:
        return True
    try:
        store_path(settings).stat()
    except FileNotFoundError:
        return False
    except OSError:  # whoever opens it says what is in the way
        return True
    return True


def want_store(settings: Settings) -> None:
    """Go on only if there is a store: what only reads makes none.

    Raises:
        NotFound: There is none.
    """
    if not has_store(settings):
        raise NotFound(f"there is no fleet in {settings.data_dir} yet; `covey up` makes one, --dir names another folder.", field="--dir")


WRITERS = 2
"""So many connections of one process write to a server side by side."""


def engine_of(settings: Settings, clock: Clock | None = None, writers: int = WRITERS) -> Engine:
    """The database that the settings name. The embedded one has one writer, whatever is asked for."""
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
    return PostgresEngine(settings.store, full=full, writers=writers, pooler=settings.pooler)


def open_store(settings: Settings, clock: Clock | None = None, *, writers: int = WRITERS) -> Store:
    """The fleet's store, migrated.

    Raises:
        StoreUnavailable, StoreDamaged: It can't be opened; the sentence says what to do.
    """
    engine = engine_of(settings, clock, writers)
    engine.migrate((clock or SystemClock()).wall)
    return Store(engine, _bell(engine, settings), spans=_spans(settings))


def count_as(settings: Settings) -> None:
    """Have this process count tokens as the settings say; where it can't count exactly it estimates, and says so (C1)."""
    if settings.tokens == "estimate":
        count_with(None)
        return
    try:
        count_with(exact.counter())
    except Misconfigured as error:
        count_with(None)
        log.warning("tokens are estimated: %s", error.message)


def _bell(engine: Engine, settings: Settings) -> Bell:
    if isinstance(engine, SqliteEngine):
        return DatagramBell(run_dir(settings) / "bells")
    from covey.store.postgres import NotifyBell, PostgresEngine  # noqa: PLC0415 - as above

    assert isinstance(engine, PostgresEngine)
    return NotifyBell(engine)


def _spans(settings: Settings) -> Spans:
    """Where spans go, by the settings. Without the extra they go nowhere, which is said."""
    if not settings.telemetry.traces:
        return UNRECORDED
    try:
        from covey.telemetry.exporting import Exporter  # noqa: PLC0415 - OpenTelemetry is for those who send traces alone
    except ImportError as error:
        log.warning("no traces are recorded: OpenTelemetry is not there (%s); install `covey[otel]`.", error)
        return UNRECORDED
    return Exporter(settings.telemetry)


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
