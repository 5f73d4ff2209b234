"""The story of the fleet: each reader gets each event once, in order, however the writers overlap; old ones go, and readers are told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.base.errors import Invalid
from covey.store import Store, Transaction, events
from covey.store.events import START, Bookmark
from tests.conftest import Database, ManualClock, opened
from tests.rules import rule

MANY = 1 << 40


@pytest.fixture
async def stores(database: Database, clock: ManualClock, tmp_path: Path) -> AsyncIterator[list[Store]]:
    """One database, opened as several processes would."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(opened(database, tmp_path, clock)) for _ in range(4)]


def tell(tx: Transaction, subject: str, kind: str = "note.made", agent: str | None = None) -> None:
    tx.happened(kind, agent=agent, subject=subject, words=f"about {subject}")


async def read_on(store: Store, start: Bookmark, limit: int = 7) -> tuple[list[str | None], Bookmark]:
    """The subjects of all that can be read from here on, in small pages, and where that ends."""
    found: list[str | None] = []
    while True:
        page = await store.read(events.after, start, limit=limit)
        found += [event.subject for event in page.events]
        start = page.bookmark
        if not page.full:
            return found, start


async def test_each_event_is_read_once_and_in_order(store: Store) -> None:
    for n in range(20):
        await store.write(tell, f"s{n}")
    first, bookmark = await read_on(store, START)
    assert first == [f"s{n}" for n in range(20)]
    assert await read_on(store, bookmark) == ([], bookmark)
    assert await store.read(events.last) == bookmark
    await store.write(tell, "later")
    assert (await read_on(store, bookmark))[0] == ["later"]


async def test_events_of_a_kind_or_a_family_of_kinds(store: Store) -> None:
    for kind in ("task.added", "task.done", "message.sent", "tasks"):
        await store.write(tell, kind, kind)
    page = await store.read(events.after, START, kinds=("task.", "message.sent"))
    assert [event.kind for event in page.events] == ["task.added", "task.done", "message.sent"]
    assert page.bookmark == await store.read(events.last), "what is left out is passed over all the same"


async def test_events_about_one_thing_or_one_agent_latest_first(store: Store) -> None:
    for n in range(5):
        await store.write(tell, f"s{n % 2}", f"k.{n}", "chief" if n < 3 else None)
    assert [event.kind for event in await store.read(events.of_subject, "s0")] == ["k.4", "k.2", "k.0"]
    assert [event.kind for event in await store.read(events.of_agent, "chief", limit=2)] == ["k.2", "k.1"]


@rule("T1")
async def test_an_event_is_shown_with_its_time_in_unix_seconds_and_a_cursor(store: Store, clock: ManualClock) -> None:
    await store.write(tell, "s0", agent="chief")
    (event,) = (await store.read(events.after, START)).events
    shown = event.shown()
    assert shown == {
        "cursor": str(event.cursor),
        "at": clock.wall(),
        "kind": "note.made",
        "agent": "chief",
        "subject": "s0",
        "words": "about s0",
    }
    assert Bookmark.parse(str(shown["cursor"])) == event.cursor


@rule("N1")
async def test_no_event_is_missed_while_many_write(stores: list[Store]) -> None:
    reader, *writers = stores
    seen: list[str | None] = []
    bookmark = START

    async def write(store: Store, name: str) -> None:
        for n in range(40):
            await store.write(tell, f"{name}.{n}")

    writing = asyncio.gather(*(write(store, f"{lane}.{place}") for place, store in enumerate(writers) for lane in range(6)))
    while not writing.done():
        new, bookmark = await read_on(reader, bookmark, limit=50)
        seen += new
    await writing
    seen += (await read_on(reader, bookmark, limit=50))[0]
    assert len(seen) == len(set(seen)) == 40 * 6 * len(writers)
    for lane in range(6):
        mine = [subject for subject in seen if subject and subject.startswith(f"{lane}.0.")]
        assert mine == [f"{lane}.0.{n}" for n in range(40)], "one writer's events keep their order"


@rule("N1")
async def test_an_event_committed_late_is_never_missed(
    postgres: object, request: pytest.FixtureRequest, clock: ManualClock, tmp_path: Path
) -> None:
    """PostgreSQL numbers rows when they are written, and shows them when they are committed."""
    with request.getfixturevalue("postgres").fresh() as url:
        async with opened(Database("postgres", url, tmp_path), tmp_path, clock) as store:
            await store.write(tell, "first")
            with psycopg.connect(url) as slow:
                slow.execute(
                    "INSERT INTO events (xid, at, kind, subject, data) VALUES (pg_current_xact_id()::text::bigint, 1, 'note.made', 'late', '{}')"
                )
                await store.write(tell, "quick")
                before, bookmark = await read_on(store, START)
                assert before == ["first"], "what was committed is kept back while something earlier may still come"
                assert await store.read(events.last) == bookmark
            after, _ = await read_on(store, bookmark)
            assert after == ["late", "quick"]


@given(xid=st.integers(0, 1 << 60), seq=st.integers(0, 1 << 60))
def test_a_bookmark_is_its_text(xid: int, seq: int) -> None:
    assert Bookmark.parse(str(Bookmark(xid, seq))) == Bookmark(xid, seq)


@pytest.mark.parametrize("text", ["", "x", "1.x", "1.2.3", "nan", "1e3"])
def test_what_is_no_bookmark_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        Bookmark.parse(text)
    assert refused.value.field == "since"


async def test_a_reader_remembers_how_far_it_got(store: Store) -> None:
    assert await store.read(events.bookmark, "me") == START
    await store.write(tell, "a")
    last = await store.read(events.last)
    await store.write(events.set_bookmark, "me", last)
    assert await store.read(events.bookmark, "me") == last
    assert await store.read(events.bookmark, "you") == START


async def test_old_events_go_and_readers_that_missed_some_are_told(store: Store, clock: ManualClock) -> None:
    marks = []
    for n in range(12):
        await store.write(tell, f"s{n}")
        marks.append(await store.read(events.last))
        clock.at += 10
    # 12 events, 10 s apart, the last one 10 s ago: seven are older than 55 s
    assert await store.write(events.prune, older_s=55, most_bytes=MANY, limit=5) == 5
    assert await store.write(events.prune, older_s=55, most_bytes=MANY, limit=5) == 2
    assert await store.write(events.prune, older_s=55, most_bytes=MANY, limit=5) == 0
    kept = [await store.read(events.is_kept, mark) for mark in marks]
    assert kept == [False] * 6 + [True] * 6, "whoever had read the last one that went has missed nothing"
    assert await store.read(events.is_kept, START), "a new reader begins with what there is"
    assert (await read_on(store, START))[0] == [f"s{n}" for n in range(7, 12)]


async def test_a_bookmark_older_than_everything_is_known_to_be_so_even_when_all_is_gone(store: Store, clock: ManualClock) -> None:
    await store.write(tell, "a")
    mark = await store.read(events.last)
    await store.write(tell, "b")
    clock.at += 100
    await store.write(events.prune, older_s=50, most_bytes=MANY)
    assert (await read_on(store, START))[0] == []
    assert not await store.read(events.is_kept, mark)


async def test_events_beyond_their_room_go_oldest_first_whatever_their_age(store: Store, clock: ManualClock) -> None:
    for n in range(30):
        clock.at += 1
        await store.write(tell, f"s{n}")
    clock.at += 1
    size = await store.read(events.size_bytes)
    assert 30 * 100 < size < 30 * 1000
    while await store.write(events.prune, older_s=MANY, most_bytes=size // 2, limit=4):
        pass
    left = (await read_on(store, START))[0]
    assert 12 <= len(left) <= 16
    assert left[-1] == "s29"
    assert await store.read(events.size_bytes) <= size // 2
