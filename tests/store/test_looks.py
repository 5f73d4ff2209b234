"""What is read of a verb's answer right after its commit: one way to the store in place of two, and nobody waits for it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from covey.base.errors import StoreUnavailable
from covey.store import Store, Transaction
from covey.store.sqlite import SqliteEngine
from covey.store.transaction import ReadOnly
from covey.store.turns import turn_holder
from tests.rules import rule
from tests.store.verbs import busy, names, put


def nothing(tx: Transaction) -> None:
    put(tx, "silent")


def seen(tx: Transaction, name: str) -> list[str]:
    """All names that are there, the one just put among them."""
    found = names(tx)
    assert name in found
    return found


async def test_a_look_sees_the_commit_before_it(store: Store) -> None:
    await store.write(put, "first")
    assert await store.write_and_look(put, seen, "second") == ("second", ["first", "second"])


async def test_an_answer_that_is_none_is_not_looked_at(store: Store) -> None:
    looked: list[object] = []
    assert await store.write_and_look(nothing, lambda tx, answer: looked.append((tx, answer))) == (None, None)
    assert looked == []


async def test_a_verb_that_fails_is_not_looked_at(store: Store) -> None:
    def refuse(tx: Transaction, name: str) -> str:
        put(tx, name)
        raise ValueError(name)

    with pytest.raises(ValueError, match="wrong"):
        await store.write_and_look(refuse, seen, "wrong")
    assert await store.read(names) == []


async def test_a_look_that_fails_leaves_the_answer_and_the_store_as_they_are(store: Store) -> None:
    def broken(_: Transaction, name: str) -> str:
        raise StoreUnavailable(f"{name} can't be read")

    assert await store.write_and_look(put, broken, "first") == ("first", None)
    assert await store.write_and_look(put, seen, "second") == ("second", ["first", "second"])


async def test_a_look_writes_nothing(store: Store) -> None:
    tried: list[str] = []

    def writes(tx: Transaction, name: str) -> str:
        try:
            put(tx, f"{name}-again")
        except ReadOnly:
            tried.append(name)
        return name

    assert await store.write_and_look(put, writes, "first") == ("first", "first")
    assert (tried, await store.read(names)) == (["first"], ["first"])


@rule("N1")
async def test_other_callers_are_answered_and_other_processes_write_while_it_looks(store: Store) -> None:
    looks, go_on = threading.Event(), threading.Event()
    held: list[object] = []

    def slow(_: Transaction, name: str) -> str:
        if isinstance(store.engine, SqliteEngine):
            held.append(turn_holder(store.engine.lock_path))
        looks.set()
        assert go_on.wait(10)
        return name

    async def look() -> tuple[str | None, str | None]:
        return await store.write_and_look(put, slow, "looked-at")

    async with busy(store):  # so that both are of one batch where there is one writer
        looking = asyncio.ensure_future(look())
        other = asyncio.ensure_future(store.write(put, "other"))
        await asyncio.sleep(0)
    try:
        assert await asyncio.wait_for(other, 10) == "other"
        assert await asyncio.to_thread(looks.wait, 10)
        assert not looking.done()
        assert held in ([None], [])
    finally:
        go_on.set()
    assert await looking == ("looked-at", "looked-at")
