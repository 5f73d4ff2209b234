"""Sends from one process: 64 in flight, beside the bytes they left put in by hand; and one alone, beside a commit of one row.

The bytes of a send are its rows in the fleet's own tables with their indexes; what bare tables would take is told beside it.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.measuring import Figure, folder, ms, percentile, raw_database, store_in
from covey.agents.model import as_agent
from covey.messages.model import draft
from covey.messages.sending import send
from covey.store import Store

IN_FLIGHT = 64
SENDS = 6400
BODY = "a message of an ordinary length, as agents write them to each other. " * 3


async def _many(store: Store) -> float:
    async def sender(lane: int) -> None:
        for number in range(SENDS // IN_FLIGHT):
            await store.write(send, draft("coder" if lane % 2 else "ops", f"{number} {BODY}"), as_agent("chief"))

    began = time.perf_counter()
    await asyncio.gather(*(sender(lane) for lane in range(IN_FLIGHT)))
    return SENDS / (time.perf_counter() - began)


TABLES = ("messages", "copies", "events")


def _raw_many(stored: Path, *, indexed: bool) -> float:
    """The rows that those sends left, put by group commit into the same tables, or into bare ones; as many sends a commit."""
    db = raw_database(stored, "FULL")
    db.execute("ATTACH ? AS ours", (str(stored / "store.db"),))
    rows = {table: db.execute(f"SELECT * FROM ours.{table} ORDER BY seq DESC LIMIT {SENDS}").fetchall()[::-1] for table in TABLES}
    for table, values in rows.items():
        names = ", ".join(f"c{place}" for place in range(len(values[0])))
        made = db.execute("SELECT sql FROM ours.sqlite_master WHERE tbl_name = ? AND sql NOT NULL ORDER BY type DESC", (table,)).fetchall()
        for (text,) in made if indexed else [(f"CREATE TABLE {table} ({names})",)]:
            db.execute(str(text))
    began = time.perf_counter()
    for start in range(0, SENDS, IN_FLIGHT):
        with db:
            for table, values in rows.items():
                marks = ", ".join("?" * len(values[0]))
                db.executemany(f"INSERT INTO main.{table} VALUES ({marks})", values[start : start + IN_FLIGHT])
    return SENDS / (time.perf_counter() - began)


async def _alone(store: Store) -> float:
    times = []
    for number in range(300):
        began = time.perf_counter()
        await store.write(send, draft("coder", f"{number} {BODY}"), as_agent("chief"))
        times.append(time.perf_counter() - began)
    return percentile(times, 0.5)


def _raw_alone(path: Path) -> float:
    db = raw_database(path, "FULL")
    times = []
    for number in range(300):
        began = time.perf_counter()
        db.execute("INSERT INTO rows (id, body) VALUES (?, ?)", (f"msg_{number:032d}", BODY))
        times.append(time.perf_counter() - began)
    return percentile(times, 0.5)


class Run(NamedTuple):
    """What one run gave: sends a second, the same bytes by hand, the same rows in bare tables; seconds of one send, and of one row."""

    many: float
    raw: float
    bare: float
    alone: float
    row: float


def measure(runs: int = 5) -> list[Figure]:
    """Both figures, `full`; ours and the raw ones in turn, since a disk's speed drifts."""
    with folder() as path:

        async def run(place: Path) -> Run:
            async with store_in(place) as store:
                many = await _many(store)
                raw = await asyncio.to_thread(_raw_many, place, indexed=True)
                bare = await asyncio.to_thread(_raw_many, place, indexed=False)
                return Run(many, raw, bare, await _alone(store), _raw_alone(path))

        found = [asyncio.run(run(path / str(number))) for number in range(runs)]
    middle = Run(*(statistics.median(values) for values in zip(*found, strict=True)))
    share = statistics.median(each.many / each.raw for each in found)
    of_bare = statistics.median(each.many / each.bare for each in found)
    times = statistics.median(each.alone / each.row for each in found)
    return [
        Figure(
            "64 sends in flight, full",
            f"{middle.many:,.0f}/s ({share:.0%} of raw)",
            f"{middle.raw:,.0f}/s: the same bytes by group commit (bare tables: {middle.bare:,.0f}/s, {of_bare:.0%})",
            "≥ 15 % of raw",
            share >= 0.15,
        ),
        Figure(
            "one send alone, full, p50",
            f"{ms(middle.alone)} ({times:.1f} × raw)",
            f"{ms(middle.row)} a one-row commit",
            "≤ 3 × raw",
            times <= 3,
        ),
    ]
