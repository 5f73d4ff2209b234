"""A mailbox of 100,000 messages with 50,000 unread, and a fleet with 1,000,000 events: claims, counts, `why`, `ps`, inbox."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from benchmarks.measuring import Figure, folder, ms, percentile, store_in
from covey.agents.model import as_agent
from covey.messages import handling, reading
from covey.messages.model import draft
from covey.messages.sending import send
from covey.reports import status, why
from covey.store import Statement, Store, Transaction

MAIL = 100_000
EVENTS = 1_000_000
HANDLE_HALF = Statement("handle_half", "UPDATE copies SET state = 'handled', handled_at = :now WHERE seq % 2 = 0")
MANY_EVENTS = Statement(
    "many_events",
    """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)
       INSERT INTO events (xid, at, kind, agent, subject, data)
       SELECT 0, :now, 'task.progress', CASE i % 8 WHEN 0 THEN 'coder' ELSE 'ops' END, 'task_' || (i % 5000), '{}' FROM n""",
)


def _fill(tx: Transaction, start: int, count: int) -> None:
    for number in range(start, start + count):
        send(tx, draft("coder", f"message {number}", type="task"), as_agent("ops"))


def _half(tx: Transaction) -> None:
    tx.run(HANDLE_HALF, now=tx.now)
    tx.run(MANY_EVENTS, now=tx.now, count=EVENTS)


async def _p95(step: Callable[[], Awaitable[object]], times: int = 40) -> float:
    took = []
    for _ in range(times):
        began = time.perf_counter()
        await step()
        took.append(time.perf_counter() - began)
    return percentile(took, 0.95)


async def _measure(store: Store) -> list[Figure]:
    for start in range(0, MAIL, 2000):
        await store.write(_fill, start, 2000)
    await store.write(_half)
    last = (await store.read(reading.inbox, "coder", limit=1)).items[0].message_id

    async def claim() -> None:
        await store.write(handling.claim, "coder", "run", lease_s=60, digest_s=900)

    figures = [
        ("claim, 50,000 of 100,000 unread, p95", await _p95(claim), 0.005),
        ("unread count, p95", await _p95(lambda: store.read(reading.unread_count, "coder")), 0.005),
        ("why, 1,000,000 events, p95", await _p95(lambda: store.read(why.why, last)), 0.05),
        ("ps, 1,000,000 events, p95", await _p95(lambda: store.read(status.fleet)), 0.05),
        ("inbox, p95", await _p95(lambda: store.read(reading.inbox, "coder")), 0.05),
        ("inbox, unread only, p95", await _p95(lambda: store.read(reading.inbox, "coder", unread=True)), 0.05),
    ]
    return [Figure(what, ms(took), "", f"< {goal * 1000:.0f} ms", took < goal) for what, took, goal in figures]


def measure() -> list[Figure]:
    """All of them, on one store."""

    async def run() -> list[Figure]:
        with folder() as path:
            async with store_in(path, full=False) as store:
                return await _measure(store)

    return asyncio.run(run())
