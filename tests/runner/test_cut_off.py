"""PostgreSQL is killed under a brain at work and comes back: the result is settled, or its loss recorded; the agent reconnects (M3, N2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from covey.agents import configuring
from covey.store import DatagramBell, Store, Transaction, events
from covey.store.postgres import PostgresEngine
from covey.tasks import runs
from tests import postgres as servers
from tests.conftest import EIGHT
from tests.rules import rule
from tests.runner.office import QUICK, held_up, office, until

SETTLE_S = 0.5


@pytest.fixture
def server() -> Iterator[servers.Server]:
    """A server of the test's own, that it may kill."""
    try:
        with servers.running(fsync=True) as found:
            yield found
    except servers.NoPostgres as missing:
        pytest.skip(str(missing))


@asynccontextmanager
async def fleet_on(server: servers.Server, folder: Path) -> AsyncIterator[Store]:
    """The fleet of eight on that server, by the server's own time."""
    engine = PostgresEngine(server.url, settle_s=SETTLE_S)
    engine.migrate(lambda: 0.0)
    store = Store(engine, DatagramBell(folder / "bells"))
    try:
        await store.write(configuring.configure, EIGHT)
        yield store
    finally:
        await store.close()


@rule("M3", "K4")
async def test_a_result_that_comes_while_the_store_is_away_is_settled_when_it_is_back(server: servers.Server, tmp_path: Path) -> None:
    brain = held_up()
    async with fleet_on(server, tmp_path) as store, office(store, brain) as coder:
        task = await coder.add()
        await brain.began.wait()
        await coder.send("whose commit takes the claim to the disk, which alone may be lost", sender="ops")
        await asyncio.to_thread(server.kill)
        brain.go_on.set()
        await until(lambda: _is(coder.runner.health() == "degraded"))
        assert coder.runner.busy
        assert not coder.runner.ready()
        await asyncio.to_thread(server.start)
        found = await coder.in_state(task, "done", "failed")
        assert (found.state, found.attempts) == ("done", 1)
        await until(lambda: _is(coder.runner.health() == "healthy"))
        after = await coder.add("the next")
        assert (await coder.in_state(after, "done")).attempts == 1


@rule("K4", "M3")
async def test_a_claim_that_a_crash_of_the_server_took_back_is_made_again(server: servers.Server, tmp_path: Path) -> None:
    """A claim is not synced to disk: its loss costs the work of its brain, and nothing is done twice in the store."""
    brain = held_up()
    async with fleet_on(server, tmp_path) as store, office(store, brain) as coder:
        task = await coder.add()
        await brain.began.wait()
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
        brain.go_on.set()
        assert (await coder.in_state(task, "done")).attempts == 1
        assert len(await store.read(_ends, task)) == 1


def _ends(tx: Transaction, task: str) -> list[str]:
    return [event.kind for event in events.of_subject(tx, task) if event.kind == "task.done"]


@rule("K4", "N2")
async def test_a_brain_whose_lease_ran_out_while_the_store_was_away_is_ended_and_its_loss_recorded(
    server: servers.Server, tmp_path: Path
) -> None:
    brain = held_up()
    quick = msgspec.structs.replace(QUICK, lease_s=1.0)
    async with fleet_on(server, tmp_path) as store, office(store, brain, settings=quick) as coder:
        task = await coder.add()
        await brain.began.wait()
        await coder.send("whose commit takes the claim to the disk, which alone may be lost", sender="ops")
        await asyncio.to_thread(server.kill)
        await until(lambda: _is([run.ended_by for run in coder.runner._lanes.runs.values()] == ["lost"]))
        await asyncio.to_thread(server.start)
        await until(lambda: _is(not coder.runner.busy))
        (first, *_) = await store.read(runs.of_item, task)
        assert first.outcome == "lost"
        brain.go_on.set()
        assert (await coder.in_state(task, "done")).attempts == 2


async def _is(value: bool) -> bool:
    return value
