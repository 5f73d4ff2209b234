"""Small verbs on the store's own table of facts, and a writer that is held up, for tests of the store itself."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from covey.store import Store, Transaction
from covey.store.statements import Statement

PUT = Statement("tests:put", "INSERT INTO facts (name, value) VALUES (:name, :value)")
SET = Statement("tests:set", "UPDATE facts SET value = :value WHERE name = :name")
GET = Statement("tests:get", "SELECT value FROM facts WHERE name = :name")
NAMES = Statement("tests:names", "SELECT name FROM facts ORDER BY name")
WAIT_S = 20.0


def put(tx: Transaction, name: str, value: str = "") -> str:
    """A new fact, with its news and a bell."""
    tx.run(PUT, name=name, value=value)
    tx.happened("fact.put", subject=name)
    tx.ring(name)
    return name


def get(tx: Transaction, name: str) -> str | None:
    """A fact."""
    row = tx.one(GET, name=name)
    return row.value if row else None


def names(tx: Transaction) -> list[str]:
    """The names of all facts."""
    return [row.name for row in tx.all(NAMES)]


@asynccontextmanager
async def busy(store: Store) -> AsyncIterator[None]:
    """While this lasts the store's one writer is at work, so that all that is written meanwhile waits for one batch."""
    store.engine.writers = 1
    at_work, done = threading.Event(), threading.Event()

    def work(tx: Transaction) -> None:
        at_work.set()
        done.wait(WAIT_S)

    first = asyncio.ensure_future(store.write(work))
    await asyncio.to_thread(at_work.wait, WAIT_S)
    try:
        yield
    finally:
        done.set()
        await first
