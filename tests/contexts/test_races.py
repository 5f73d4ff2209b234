"""Many who write into one context at once: nothing lost, the bound kept (C3a, C6)."""

from __future__ import annotations

import asyncio

import pytest

from covey.contexts import entries
from covey.contexts.entries import Entry
from covey.store import Store
from tests.inline import Hand
from tests.lock_waits import blocks, other
from tests.rules import rule

__all__ = ["other"]

Pair = tuple[Store, Store]


@rule("C3a")
async def test_fifty_who_remember_at_once_lose_nothing_and_keep_the_bound(pair: Pair) -> None:
    """adk-python#5244: concurrent writers lose state, the last delta wins."""
    bound = 600
    await asyncio.gather(
        *(pair[number % 2].write(entries.remember, "coder", "note", f"{number} " + "x" * 90, max_tokens=bound) for number in range(50))
    )
    assert await pair[0].read(entries.size_of, "coder") <= bound
    found = await pair[0].read(entries.since, "coder", 0.0, limit=1000)
    assert sorted(int(entry.text.split()[0]) for entry in found) == list(range(50))


@rule("C3a")
@pytest.mark.parametrize("database", ["postgres"], indirect=True)
def test_who_remembers_waits_for_another_who_does(hand: Hand, other: Hand) -> None:
    """Each would see room for itself alone."""
    text, bound = "x" * 1300, 1000
    blocks(
        hand,
        lambda tx: entries.remember(tx, "coder", "note", text, max_tokens=bound),
        lambda: other(entries.remember, "coder", "note", text, max_tokens=bound),
    )
    assert hand(entries.size_of, "coder") <= bound


@rule("C6")
async def test_the_same_entries_merged_by_two_at_once_are_there_once(pair: Pair) -> None:
    given = [Entry(f"entry_{number}", "note", f"{number}", None, 1, 1000.0 + number) for number in range(20)]
    accepted = await asyncio.gather(*(store.write(entries.merge, "chief", given, by="ops") for store in (*pair, *pair)))
    assert sum(accepted) == 20
    assert [entry.text for entry in await pair[0].read(entries.live, "chief")] == [f"{number}" for number in range(20)]
