"""Store time: never back, never still, over wrong wall clocks, boots and other servers (T2)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.agents import configuring, living, roster
from covey.agents.model import THE_OPERATOR
from covey.base.clock import SystemClock
from covey.messages import handling, sending
from covey.messages.model import draft
from covey.store import DatagramBell, Store, Transaction, events
from covey.store import clock as store_clock
from covey.store.batches import write_alone
from covey.store.postgres import PostgresEngine
from covey.store.sqlite import SqliteEngine
from covey.tasks import adding, working
from covey.tasks.model import TaskDraft
from tests.conftest import EIGHT, Database, ManualClock, opened
from tests.rules import rule


class Machine(ManualClock):
    """A machine that can be booted, and whose wall clock anybody may set."""

    def __init__(self) -> None:
        super().__init__()
        self._boots = itertools.count(1)
        self._boot = "boot-0"

    def boot_id(self) -> str:
        return self._boot

    def reboot(self, off_s: float = 30.0) -> None:
        """Off for so long by the wall clock; seconds since boot begin anew."""
        self.ahead += self.at + off_s - 3.0
        self.at = 3.0
        self._boot = f"boot-{next(self._boots)}"


def now(tx: Transaction) -> float:
    return tx.now


def tell(tx: Transaction) -> float:
    tx.happened("note.made")
    return tx.now


class TestOnOneMachine:
    """SQLite: seconds since boot plus an offset that is kept in the store."""

    @pytest.fixture
    def machine(self) -> Machine:
        return Machine()

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "store.db"

    def started(self, path: Path, machine: Machine) -> SqliteEngine:
        engine = SqliteEngine(path, machine)
        engine.migrate(machine.wall)
        return engine

    @rule("T2")
    def test_it_begins_as_the_wall_clocks(self, path: Path, machine: Machine) -> None:
        assert write_alone(self.started(path, machine), now) == pytest.approx(machine.wall())

    @rule("T2")
    def test_a_wall_clock_put_back_changes_nothing(self, path: Path, machine: Machine) -> None:
        first = write_alone(self.started(path, machine), now)
        machine.ahead -= 3600
        machine.at += 10
        assert write_alone(self.started(path, machine), now) == pytest.approx(first + 10)

    @rule("T2")
    def test_after_a_boot_it_is_the_wall_clocks_again(self, path: Path, machine: Machine) -> None:
        first = write_alone(self.started(path, machine), tell)
        machine.reboot(off_s=600)
        engine = self.started(path, machine)
        assert write_alone(engine, now) == pytest.approx(machine.wall()) == pytest.approx(first + 600)
        assert len(write_alone(engine, events.after, events.START).events) == 1, "that is no jump to tell of"

    @rule("T2")
    def test_after_a_boot_with_a_clock_that_is_behind_it_is_not_before_the_last_event(self, path: Path, machine: Machine) -> None:
        first = write_alone(self.started(path, machine), tell)
        machine.reboot()
        machine.ahead -= 86400
        engine = self.started(path, machine)
        assert write_alone(engine, now) == pytest.approx(first)
        machine.at += 5
        assert write_alone(engine, now) == pytest.approx(first + 5), "it does not stand still until the clock has caught up"
        (_, event) = write_alone(engine, events.after, events.START).events
        assert (event.kind, event.data["seconds"]) == ("clock.behind", pytest.approx(86400 - 30, abs=1))

    @rule("T2")
    def test_a_wall_clock_that_is_ahead_is_followed_and_told(self, path: Path, machine: Machine) -> None:
        engine = self.started(path, machine)
        machine.ahead += 120
        assert write_alone(engine, store_clock.step, machine.wall()) == pytest.approx(120)
        assert write_alone(engine, now) == pytest.approx(machine.wall())
        (event,) = write_alone(engine, events.after, events.START).events
        assert (event.kind, event.data["seconds"]) == ("clock.stepped", 120.0)
        assert event.at == pytest.approx(machine.wall())

    @rule("T2")
    @pytest.mark.parametrize("jump", [-86400.0, -1.0, 0.0, 0.5, 1.0])
    def test_a_wall_clock_that_is_behind_or_hardly_ahead_is_not(self, path: Path, machine: Machine, jump: float) -> None:
        engine = self.started(path, machine)
        first = write_alone(engine, now)
        machine.ahead += jump
        assert write_alone(engine, store_clock.step, machine.wall() - 1e-3) == 0.0
        assert write_alone(engine, now) == first

    @rule("T2")
    def test_a_step_that_is_undone_has_not_moved_time(self, path: Path, machine: Machine) -> None:
        engine = self.started(path, machine)

        def step_and_fail(tx: Transaction) -> None:
            store_clock.step(tx, machine.wall() + 50)
            raise ValueError("no")

        def in_a_part(tx: Transaction) -> None:
            with pytest.raises(ValueError, match="no"), tx.attempt():
                step_and_fail(tx)
            assert tx.now == pytest.approx(machine.wall())

        write_alone(engine, in_a_part)
        assert write_alone(engine, now) == pytest.approx(machine.wall())

    @rule("T2")
    @settings(max_examples=20, deadline=None)
    @given(
        st.lists(
            st.one_of(
                st.tuples(st.just("passes"), st.floats(0, 1e5)),
                st.tuples(st.just("wall"), st.floats(-1e8, 1e8)),
                st.tuples(st.just("boot"), st.floats(0, 1e6)),
                st.tuples(st.just("step"), st.just(0.0)),
            ),
            max_size=12,
        )
    )
    def test_it_never_goes_back(self, story: list[tuple[str, float]]) -> None:
        machine, last = Machine(), 0.0
        with TemporaryDirectory() as folder:
            engine = self.started(Path(folder) / "store.db", machine)
            for act, amount in story:
                if act == "passes":
                    machine.at += amount
                elif act == "wall":
                    machine.ahead += amount
                elif act == "boot":
                    machine.reboot(amount)
                    engine = self.started(Path(folder) / "store.db", machine)
                else:
                    write_alone(engine, store_clock.step, machine.wall())
                    assert write_alone(engine, now) >= machine.wall() - store_clock.STEP_S - 1e-6
                here = write_alone(engine, tell)
                assert here >= last
                last = here


@rule("T2")
async def test_live_leases_and_heartbeats_move_with_a_step(fleet: Store) -> None:
    """The same verbs on both databases, whoever found out that the clock jumped."""

    def work(tx: Transaction) -> None:
        living.arrive(tx, "coder", node="here", pid=7, start_ticks=1, boot_id="a-boot", port=8002)
        sending.send(tx, draft("coder", "hello"), THE_OPERATOR)
        adding.add(tx, TaskDraft(description="work", agent="coder"), THE_OPERATOR)
        assert handling.claim(tx, "coder", "run-1", lease_s=60, digest_s=900)
        assert working.claim(tx, "coder", "run-2", lease_s=60)

    def shift(tx: Transaction) -> None:
        handling.shift_leases(tx, 500.0)
        working.shift_leases(tx, 500.0)
        living.shift_beats(tx, 500.0)

    def stale(tx: Transaction) -> list[float]:
        beat = roster.vitals(tx, "coder").heartbeat_at or 0.0
        tx.now += 550
        return [len(working.lapsed(tx)), len(handling.lapsed(tx)), round(tx.now - beat)]

    await fleet.write(work)
    assert await fleet.read(stale) == [1, 1, 550]
    await fleet.write(shift)
    assert await fleet.read(stale) == [0, 0, 50]


class TestOnAServer:
    """PostgreSQL: the server's clock, never below the floor that the leader writes."""

    @pytest.fixture
    def database(self, postgres: object, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
        with request.getfixturevalue("postgres").fresh() as url:
            yield Database("postgres", url, tmp_path / "store.db")

    @rule("T2")
    async def test_a_wall_clock_of_ours_does_not_move_it(self, store: Store, clock: ManualClock) -> None:
        assert await store.write(store_clock.step, clock.wall() + 1000) == 0.0
        assert await store.write(now) == pytest.approx(clock.wall())

    @rule("T2")
    async def test_a_server_whose_clock_is_behind_does_not_take_it_back(self, database: Database, tmp_path: Path) -> None:
        server = ManualClock()
        async with opened(database, tmp_path, server) as store:
            first = await store.write(now)
            server.at += 100
            await store.write(store_clock.raise_floor)
            server.at -= 3600
            assert await store.read(now) == pytest.approx(first + 100)
            assert await store.write(now) == pytest.approx(first + 100)
            server.at += 7
            assert await store.write(now) == pytest.approx(first + 107), "and it goes on from there"
            told = (await store.read(events.after, events.START)).events
            assert [event.kind for event in told] == ["clock.stepped"]

    @rule("T2")
    async def test_without_a_clock_of_ours_it_is_the_servers(self, database: Database, tmp_path: Path) -> None:
        engine = PostgresEngine(database.url)
        engine.migrate(SystemClock().wall)
        bell = DatagramBell(tmp_path / "bells")
        store = Store(engine, bell)
        await store.write(configuring.configure, EIGHT)
        first = await store.write(now)
        assert first == pytest.approx(SystemClock().wall(), abs=60)
        assert first < await store.write(now)
        await store.close()
        bell.close()
