"""Rounds of the loops over files, as tests call them: so that each sees all that happened before it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Protocol

import pytest

from covey.store import Store, Transaction, events
from covey.store.events import Event

PATIENCE = 2000


class Loop(Protocol):
    """A loop over files."""

    async def round(self) -> None: ...


async def go(store: Store, loop: Loop) -> None:
    """One round that sees all events so far: on PostgreSQL they show when no older transaction runs any more, in any database."""
    ident = await store.write(_mark)
    for _ in range(PATIENCE):
        if any(event.subject == ident for event in await told(store, "test.marked")):
            await loop.round()
            return
        await asyncio.sleep(0.005)
    pytest.fail("a committed event did not show")


def _mark(tx: Transaction) -> str:
    ident = tx.new_id("mark")
    tx.happened("test.marked", subject=ident)
    return ident


async def told(store: Store, kind: str) -> list[Event]:
    """The events of this kind so far."""
    page = await store.read(events.after, events.START, kinds=(kind,), limit=100_000)
    return page.events


async def told_in_time(store: Store, kind: str) -> list[Event]:
    """The same, once all that was committed shows."""

    class Nothing:
        async def round(self) -> None: ...

    await go(store, Nothing())
    return await told(store, kind)


def files_below(root: Path) -> set[str]:
    """The names of all files below a folder."""
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
