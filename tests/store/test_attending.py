"""A verb that waits for a bell is run in the commit that rings it, where nobody else writes meanwhile: it is a short cut, and no more."""

from __future__ import annotations

import asyncio
import threading

import pytest

from covey.store import Store, Transaction
from covey.store.sqlite_sessions import SqliteWriter
from covey.store.transaction import Retry
from tests.rules import rule
from tests.store.verbs import WAIT_S, get, names, put

BOUND_S = 10.0


@pytest.fixture
async def alone(store: Store) -> Store:
    """A store with one writer at a time, which is where verbs are attended; elsewhere there is nothing to show."""
    if not store.engine.is_exclusive:
        pytest.skip("a server takes many writers, and nobody attends there")
    return store


def hand_out(tx: Transaction, who: str) -> str | None:
    """Who gets the fact `work`, if it is free."""
    if get(tx, "work") is None or get(tx, f"work-of-{who}") is not None or any(name.startswith("work-of-") for name in names(tx)):
        return None
    return put(tx, f"work-of-{who}")


def seen(tx: Transaction, name: str) -> list[str]:
    assert name in names(tx)
    return names(tx)


@rule("M4b")
async def test_it_is_run_in_the_commit_that_rings_and_what_it_answers_is_looked_at(alone: Store) -> None:
    attendant = alone.attend("work", hand_out, seen, "ada")
    before = alone.stamp()
    await alone.write(put, "work")
    assert await asyncio.wait_for(attendant.answer(), BOUND_S) == ("work-of-ada", ["work", "work-of-ada"])
    after = alone.stamp()
    assert before is not None
    assert after is not None
    assert after.commits == before.commits + 1
    assert not attendant.leave()


async def test_what_came_to_nothing_waits_on_until_it_comes_to_something(alone: Store) -> None:
    attendant = alone.attend("other", hand_out, seen, "ada")
    await alone.write(put, "other")
    await alone.write(put, "work")
    assert await alone.read(names) == ["other", "work"]
    await alone.write(lambda tx: tx.ring("other"))
    assert (await asyncio.wait_for(attendant.answer(), BOUND_S))[0] == "work-of-ada"


async def test_who_left_is_not_run(alone: Store) -> None:
    attendant = alone.attend("work", hand_out, seen, "ada")
    assert attendant.leave()
    await alone.write(put, "work")
    assert await alone.read(names) == ["work"]


async def test_one_of_several_gets_it_and_the_others_wait_on(alone: Store) -> None:
    ran: list[str] = []

    def noting(tx: Transaction, who: str) -> str | None:
        ran.append(who)
        return hand_out(tx, who)

    several = [alone.attend("work", noting, seen, who) for who in ("ada", "bob", "cyd")]
    await alone.write(put, "work")
    assert (await asyncio.wait_for(several[0].answer(), BOUND_S))[0] == "work-of-ada"
    assert ran == ["ada", "bob"], "after one that came to nothing there is nothing for the next"
    assert [each.leave() for each in several] == [False, True, True]


async def test_one_attended_may_ring_for_another(alone: Store) -> None:
    def after(tx: Transaction, who: str) -> str:
        return put(tx, f"after-{who}")

    first, second = alone.attend("work", hand_out, seen, "ada"), alone.attend("work-of-ada", after, seen, "bob")
    await alone.write(put, "work")
    assert (await asyncio.wait_for(first.answer(), BOUND_S))[0] == "work-of-ada"
    assert (await asyncio.wait_for(second.answer(), BOUND_S))[0] == "after-bob"


async def test_its_error_is_its_own_and_undoes_what_it_did_alone(alone: Store) -> None:
    def fails(tx: Transaction, who: str) -> str:
        put(tx, f"half-done-{who}")
        raise ValueError(who)

    attendant = alone.attend("work", fails, seen, "ada")
    assert await alone.write(put, "work") == "work"
    with pytest.raises(ValueError, match="ada"):
        await asyncio.wait_for(attendant.answer(), BOUND_S)
    assert await alone.read(names) == ["work"]


async def test_a_ring_that_is_not_stored_calls_nobody(alone: Store) -> None:
    def fails(tx: Transaction) -> None:
        put(tx, "work")
        raise ValueError("refused")

    attendant = alone.attend("work", hand_out, seen, "ada")
    with pytest.raises(ValueError, match="refused"):
        await alone.write(fails)
    assert await alone.read(names) == []
    assert attendant.leave()


async def test_a_commit_that_is_run_again_has_it_once(alone: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    real = SqliteWriter.commit
    failed: list[int] = []

    def once(writer: SqliteWriter, tx: Transaction) -> None:
        if not failed:
            failed.append(1)
            raise Retry("the first time")
        real(writer, tx)

    monkeypatch.setattr(SqliteWriter, "commit", once)
    attendant = alone.attend("work", hand_out, seen, "ada")
    await alone.write(put, "work")
    assert (await asyncio.wait_for(attendant.answer(), BOUND_S))[0] == "work-of-ada"
    assert await alone.read(names) == ["work", "work-of-ada"]


@pytest.mark.parametrize("finds", [True, False])
async def test_who_leaves_while_it_is_run_gets_what_comes_of_it(alone: Store, *, finds: bool) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(tx: Transaction, who: str) -> str | None:
        begun.set()
        assert go_on.wait(WAIT_S)
        return hand_out(tx, who) if finds else None

    attendant = alone.attend("work", slow, seen, "ada")
    writing = asyncio.ensure_future(alone.write(put, "work"))
    assert await asyncio.to_thread(begun.wait, WAIT_S)
    assert not attendant.leave()
    go_on.set()
    expected = ("work-of-ada", ["work", "work-of-ada"]) if finds else (None, None)
    assert await asyncio.wait_for(attendant.answer(), BOUND_S) == expected
    await writing
    await alone.write(lambda tx: tx.ring("work"))
    assert len(await alone.read(names)) == 1 + finds


async def test_where_many_write_at_once_nobody_is_called(store: Store) -> None:
    if store.engine.is_exclusive:
        pytest.skip("one writes at a time here")
    attendant = store.attend("work", hand_out, seen, "ada")
    await store.write(put, "work")
    assert attendant.leave()
    assert await store.read(names) == ["work"]
