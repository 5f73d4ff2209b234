"""A server that is not there, goes away in the middle, or comes back: a clear error or success, nothing lost, nothing twice."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors as pg

from covey.agents import configuring
from covey.agents.model import as_agent
from covey.base.clock import SystemClock
from covey.base.errors import CoveyError, Failed, Invalid, StoreBusy, StoreUnavailable
from covey.messages import sending
from covey.messages.model import draft
from covey.store import DatagramBell, Store, Transaction, events
from covey.store.postgres import PostgresEngine
from covey.store.postgres_errors import in_transaction, our_error
from covey.store.statements import Statement
from covey.store.transaction import Broken, Retry
from tests import postgres as servers
from tests.conftest import EIGHT
from tests.rules import rule
from tests.store.verbs import WAIT_S, names, put

needs_programs = pytest.mark.skipif(servers.find() is None, reason=servers.NONE_HERE)
SENT = Statement("tests:sent", "SELECT body FROM messages")


@pytest.fixture
def engine(postgres: servers.Databases) -> Iterator[PostgresEngine]:
    """A store on the tests' server, with the server's own clock."""
    with postgres.fresh() as url:
        found = PostgresEngine(url)
        found.migrate(SystemClock().wall)
        yield found


@pytest.fixture
async def store(engine: PostgresEngine, tmp_path: Path) -> AsyncIterator[Store]:
    found = Store(engine, DatagramBell(tmp_path / "bells"))
    yield found
    await found.close()


async def test_a_server_that_is_not_there_is_one_sentence_without_secrets(tmp_path: Path) -> None:
    engine = PostgresEngine("postgresql://covey:s3cret@127.0.0.1:1/covey")
    store = Store(engine, DatagramBell(tmp_path / "bells"))
    for attempt in (store.write(put, "a"), store.read(names), asyncio.to_thread(engine.migrate, SystemClock().wall)):
        with pytest.raises(
            StoreUnavailable, match=r"^PostgreSQL can't be reached \(.*refused.*\); nothing was stored\. Check the server"
        ) as refused:
            await attempt
        assert "s3cret" not in refused.value.message
        assert "\n" not in refused.value.message
    await store.close()


async def test_a_database_that_was_never_set_up_says_so(postgres: servers.Databases, tmp_path: Path) -> None:
    with postgres.fresh() as url:
        store = Store(PostgresEngine(url), DatagramBell(tmp_path / "bells"))
        for attempt in (store.write(put, "a"), store.read(names)):
            with pytest.raises(StoreUnavailable, match="was never set up; `covey up` or `covey db migrate` does it"):
                await attempt
        await store.close()


def send_plain(tx: Transaction, body: str) -> str:
    """A message without an id of its own: sent twice it would be there twice."""
    return sending.send(tx, draft("coder", body), as_agent("chief")).message_id


def bodies(tx: Transaction) -> list[str]:
    return [row.body for row in tx.all(SENT)]


class Outcomes:
    """What became of each of many sends."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._news = asyncio.Event()
        self.acknowledged: list[str] = []
        self.refused: list[str] = []
        self.unknown: list[str] = []

    async def send(self, lane: str, stop: asyncio.Event) -> None:
        n = 0
        while not stop.is_set():
            body = f"{lane}.{n}"
            n += 1
            try:
                await self._store.write(send_plain, body)
            except (StoreUnavailable, StoreBusy) as error:
                (self.unknown if "not known" in error.message else self.refused).append(body)
                await asyncio.sleep(0.01)
            else:
                self.acknowledged.append(body)
                self._news.set()

    async def reach(self, more: int) -> None:
        """Return when so many more were acknowledged."""
        goal = len(self.acknowledged) + more
        while len(self.acknowledged) < goal:
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), WAIT_S)

    def check(self, found: list[str]) -> None:
        """Nothing that was acknowledged is missing, nothing that was refused is there, nothing is there twice."""
        assert set(self.acknowledged) <= set(found)
        assert not set(self.refused) & set(found)
        assert set(found) <= {*self.acknowledged, *self.unknown}
        assert max(Counter(found).values()) == 1


@rule("M3", "N1")
async def test_connections_that_are_cut_cost_nobody_a_write(store: Store, engine: PostgresEngine) -> None:
    await store.write(configuring.configure, EIGHT)
    sends, stop = Outcomes(store), asyncio.Event()
    lanes = asyncio.gather(*(sends.send(f"l{n}", stop) for n in range(8)))
    with psycopg.connect(engine.url, autocommit=True) as admin:
        for _ in range(15):
            await sends.reach(10)
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'covey' AND datname = current_database()"
            )
            assert isinstance(await store.read(names), list), "a reader whose connection was cut reads on another"
    stop.set()
    await lanes
    assert sends.unknown == []
    assert sends.refused == []
    sends.check(await store.read(bodies))


@needs_programs
@pytest.mark.scenario
@pytest.mark.slow
@pytest.mark.timeout(120)
@rule("M3", "N1")
async def test_a_server_killed_in_the_middle_loses_and_doubles_nothing(tmp_path: Path) -> None:
    with servers.running(fsync=True) as server:
        engine = PostgresEngine(server.url)
        engine.migrate(SystemClock().wall)
        store = Store(engine, DatagramBell(tmp_path / "bells"))
        await store.write(configuring.configure, EIGHT)
        sends, stop = Outcomes(store), asyncio.Event()
        lanes = asyncio.gather(*(sends.send(f"l{n}", stop) for n in range(8)))
        for _ in range(3):
            await sends.reach(50)
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
        await sends.reach(50)
        stop.set()
        await lanes
        sends.check(await store.read(bodies))
        await store.close()


class Cut(psycopg.Connection[Any]):
    """A connection that is cut at a COMMIT, before or after the server has done it."""

    when = ""

    def execute(self, query: Any, *args: Any, **kwargs: Any) -> Any:
        if query == "COMMIT" and Cut.when:
            if Cut.when == "after":
                super().execute(query)
            Cut.when = ""
            self.close()
            raise psycopg.OperationalError("the connection is closed")
        return super().execute(query, *args, **kwargs)


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> type[Cut]:
    monkeypatch.setattr("covey.store.postgres.psycopg.connect", Cut.connect)
    Cut.when = ""
    return Cut


@rule("M3")
@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_commit_without_an_answer_is_looked_up(cut: type[Cut], store: Store, when: str) -> None:
    runs = []

    def counting(tx: Transaction) -> str:
        runs.append(tx.now)
        return put(tx, f"n{len(runs)}")

    await store.write(put, "first")
    cut.when = when
    answer = await store.write(counting)
    assert await store.read(names) == ["first", answer]
    assert len(runs) == (2 if when == "before" else 1)
    assert len(await store.read(events.of_subject, answer)) == 1


async def test_a_commit_that_can_not_be_looked_up_says_that_it_is_not_known(
    cut: type[Cut], store: Store, engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.settle_s = 0.3
    engine.writers = 1
    await store.write(put, "first")
    plain = engine.open

    def gone() -> Any:
        raise StoreUnavailable("not there")

    cut.when = "after"
    monkeypatch.setattr(engine, "open", gone)
    with pytest.raises(StoreUnavailable, match=r"not known whether this was stored\. Try again with the same id"):
        await store.write(put, "second")
    monkeypatch.setattr(engine, "open", plain)
    assert await store.write(put, "third") == "third"


async def test_a_batch_that_stood_still_for_too_long_runs_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a stopped process does: the server ends its transaction, so that others need not wait for it."""
    monkeypatch.setattr("covey.store.postgres._SESSION", "-c idle_in_transaction_session_timeout=100ms")
    runs = []

    def stands_still_once(tx: Transaction) -> str:
        runs.append(tx.now)
        if len(runs) == 1:
            put(tx, "half")
            time.sleep(0.5)
        return put(tx, "whole")

    assert await store.write(stands_still_once) == "whole"
    assert await store.read(names) == ["whole"]
    assert len(runs) == 2


async def test_a_text_with_a_nul_is_refused_and_harms_nobody(store: Store) -> None:
    with pytest.raises(Invalid, match="NUL character"):
        await store.write(put, "a\0b")
    assert await store.write(put, "c") == "c"


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (pg.DiskFull("no space left"), StoreUnavailable, "disk is full"),
        (pg.LockNotAvailable("lock timeout"), StoreBusy, "nothing was stored, try again"),
        (pg.QueryCanceled("statement timeout"), StoreBusy, "nothing was stored, try again"),
        (pg.TooManyConnections("sorry"), StoreBusy, "nothing was stored, try again"),
        (pg.ReadOnlySqlTransaction("cannot execute INSERT"), StoreUnavailable, "the primary"),
        (pg.CannotConnectNow("starting up"), StoreUnavailable, "can't be reached"),
        (psycopg.OperationalError("connection\nrefused"), StoreUnavailable, "(connection refused); nothing was stored"),
        (pg.SyntaxError("near"), Failed, "fault of Covey"),
    ],
)
def test_each_error_of_postgres_has_a_sentence(error: psycopg.Error, kind: type[CoveyError], words: str) -> None:
    said = our_error(error)
    assert isinstance(said, kind)
    assert words in said.message
    assert said.message.endswith(".")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (pg.DeadlockDetected("deadlock"), Retry),
        (pg.SerializationFailure("serialize"), Retry),
        (pg.AdminShutdown("terminating"), Retry),
        (pg.IdleInTransactionSessionTimeout("idle"), Retry),
        (psycopg.OperationalError("the connection is closed"), Retry),
        (pg.DiskFull("no space left"), Broken),
        (pg.ReadOnlySqlTransaction("cannot execute INSERT"), Broken),
        (pg.LockNotAvailable("lock timeout"), StoreBusy),
        (pg.UniqueViolation("duplicate"), Failed),
    ],
)
def test_an_error_inside_a_transaction_is_a_reason_to_run_again_to_give_up_or_the_verbs_own(
    error: psycopg.Error, kind: type[Exception]
) -> None:
    assert type(in_transaction(error)) is kind
