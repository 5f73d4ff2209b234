"""What all measurements share: a figure with its goal, medians, a store in a folder of its own."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw

from covey.agents import configuring
from covey.base.clock import SystemClock
from covey.base.defaults import AGENTS, DEPUTY, LEAD
from covey.base.settings import Settings
from covey.store import DatagramBell, Store
from covey.store.sqlite import SqliteEngine

RUNS = 5
EIGHT = Settings(agents=AGENTS, lead=LEAD, deputy=DEPUTY, limits="off")
"""The default eight without quotas, which `links` measures alone."""


class Figure(NamedTuple):
    """One measured thing: what, how much, beside what raw limit, and the goal."""

    what: str
    reached: str
    raw: str
    goal: str
    met: bool


@contextmanager
def folder() -> Iterator[Path]:
    """A folder on the disk of this checkout's machine that is gone afterwards."""
    found = Path(tempfile.mkdtemp(prefix="covey-bench-"))
    try:
        yield found
    finally:
        shutil.rmtree(found, ignore_errors=True)


@asynccontextmanager
async def store_in(path: Path, *, full: bool = True) -> AsyncIterator[Store]:
    """The store of the default eight in a folder."""
    engine = SqliteEngine(path / "store.db", SystemClock(), full=full)
    engine.migrate(time.time)
    bell = DatagramBell(path / "bells")
    store = Store(engine, bell)
    try:
        await store.write(configuring.configure, EIGHT)
        yield store
    finally:
        await store.close()
        bell.close()


def raw_database(path: Path, mode: str) -> apsw.Connection:
    """A bare table of the same shape, with nothing of ours."""
    db = apsw.Connection(str(path / f"raw-{time.monotonic_ns()}.db"))
    for pragma in ("journal_mode = WAL", f"synchronous = {mode}"):
        db.execute(f"PRAGMA {pragma}")
    db.execute("CREATE TABLE rows (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, body TEXT)")
    return db


def median(one_run: Callable[[], float], runs: int = RUNS) -> float:
    """The median of so many runs."""
    return statistics.median(one_run() for _ in range(runs))


def percentile(samples: list[float], share: float) -> float:
    """The sample below which this share of all lies."""
    return sorted(samples)[min(len(samples) - 1, int(len(samples) * share))]


def ms(seconds: float) -> str:
    """A time in milliseconds."""
    return f"{seconds * 1000:.2f} ms"
