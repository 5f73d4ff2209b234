"""Sends from one process: 64 in flight, beside the rows they left put in by hand; and one alone, beside a commit of one row."""

from __future__ import annotations

import asyncio
import statistics
import time
from pathlib import Path

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


def _raw_many(stored: Path) -> float:
    """The rows that those sends left, put into bare tables by group commit, as many sends a commit."""
    db = raw_database(stored, "FULL")
    db.execute("ATTACH ? AS ours", (str(stored / "store.db"),))
    rows = {}
    for table in ("messages", "copies", "events"):
        rows[table] = db.execute(f"SELECT * FROM ours.{table} ORDER BY seq DESC LIMIT {SENDS}").fetchall()[::-1]
        names = ", ".join(f"c{place}" for place in range(len(rows[table][0])))
        db.execute(f"CREATE TABLE {table} ({names})")
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


def measure(runs: int = 5) -> list[Figure]:
    """Both figures, `full`; ours and the raw ones in turn, since a disk's speed drifts."""
    found: list[tuple[float, float, float, float]] = []
    with folder() as path:

        async def ours(place: Path) -> tuple[float, float, float]:
            async with store_in(place) as store:
                many = await _many(store)
                return many, await asyncio.to_thread(_raw_many, place), await _alone(store)

        for run in range(runs):
            many, raw, alone = asyncio.run(ours(path / str(run)))
            found.append((many, raw, alone, _raw_alone(path)))
    many, raw_many, alone, raw_alone = (statistics.median(each[place] for each in found) for place in range(4))
    share = statistics.median(each[0] / each[1] for each in found)
    times = statistics.median(each[2] / each[3] for each in found)
    return [
        Figure(
            "64 sends in flight, full",
            f"{many:,.0f}/s ({share:.0%} of raw)",
            f"{raw_many:,.0f}/s: the same rows by group commit",
            "≥ 15 % of raw",
            share >= 0.15,
        ),
        Figure(
            "one send alone, full, p50", f"{ms(alone)} ({times:.1f} × raw)", f"{ms(raw_alone)} a one-row commit", "≤ 3 × raw", times <= 3
        ),
    ]
