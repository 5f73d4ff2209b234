"""The doorbell: a ring wakes, a lost one does no harm, and nobody is ever deaf (M4b)."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from covey.store import Bell, DatagramBell, Store
from covey.store.notify import NotifyBell
from covey.store.postgres import PostgresEngine
from tests import postgres as servers
from tests.conftest import ManualClock
from tests.rules import rule
from tests.store.verbs import put

WAIT_S = 10.0


class Ear:
    """What a listener heard."""

    def __init__(self) -> None:
        self.times = 0
        self._rung = asyncio.Event()

    def hint(self) -> None:
        """One ring, or several that came at once."""
        self.times += 1
        self._rung.set()

    async def wait(self) -> None:
        """Return at the next ring."""
        await asyncio.wait_for(self._rung.wait(), WAIT_S)
        self._rung.clear()


def files(folder: Path) -> list[str]:
    """The names of all that is in a folder."""
    return sorted(path.name for path in folder.iterdir())


async def settle() -> None:
    """Let all that waits on the loop be done."""
    for _ in range(5):
        await asyncio.sleep(0)


@contextlib.contextmanager
def closing(*bells: Bell) -> Iterator[None]:
    try:
        yield
    finally:
        for bell in bells:
            bell.close()


@rule("M4b")
async def test_a_ring_wakes_who_listens_in_another_process(tmp_path: Path) -> None:
    here, there, ear = DatagramBell(tmp_path), DatagramBell(tmp_path), Ear()
    with closing(here, there):
        stop = there.listen("coder", ear.hint)
        here.ring({"coder", "nobody"})
        await ear.wait()
        stop()
        here.ring({"coder"})
        await settle()
        assert ear.times == 1


@rule("M4b")
async def test_a_ring_wakes_who_listens_in_the_same_process(tmp_path: Path) -> None:
    bell, ear = DatagramBell(tmp_path), Ear()
    with closing(bell):
        stop = bell.listen("coder", ear.hint)
        bell.ring(["coder"])
        await ear.wait()
        stop()


@rule("M4b")
async def test_who_listens_for_a_moment_is_heard_in_its_own_process_at_once_and_by_others_if_it_goes_on(tmp_path: Path) -> None:
    here, there, ear = DatagramBell(tmp_path), DatagramBell(tmp_path), Ear()
    with closing(here, there):
        stop = there.listen("run", ear.hint, far_after_s=0.01)
        there.ring(["run"])
        await ear.wait()
        assert files(tmp_path) == []
        async with asyncio.timeout(WAIT_S):
            while "run" not in files(tmp_path):  # noqa: ASYNC110 - the socket is what is waited for
                await asyncio.sleep(0.005)
        here.ring(["run"])
        await ear.wait()
        stop()
        assert files(tmp_path) == []
        there.listen("brief", ear.hint, far_after_s=60.0)()
        assert files(tmp_path) == []


@rule("M4b")
async def test_rings_that_wait_are_heard_as_one(tmp_path: Path) -> None:
    here, there, ear = DatagramBell(tmp_path), DatagramBell(tmp_path), Ear()
    with closing(here, there):
        stop = there.listen("coder", ear.hint)
        for _ in range(5):
            here.ring({"coder"})
        await ear.wait()
        await settle()
        assert ear.times == 1
        stop()


@rule("M4b")
async def test_a_full_socket_keeps_nobody_waiting_and_still_wakes(tmp_path: Path) -> None:
    here, there, ear = DatagramBell(tmp_path), DatagramBell(tmp_path), Ear()
    with closing(here, there):
        stop = there.listen("coder", ear.hint)
        for _ in range(5000):  # nobody empties it meanwhile: this loop is busy here
            here.ring({"coder"})
        await ear.wait()
        here.ring({"coder"})
        await ear.wait()
        stop()


@rule("M4b")
async def test_a_lost_ring_does_no_harm(store: Store) -> None:
    """What a ring is about stands in the store; nobody listening, or a ring that fails, changes nothing."""
    store.bell.close()
    assert await store.write(put, "coder") == "coder"


async def test_a_folder_with_a_long_path_will_do(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 20) / ("longer" * 20)
    assert len(str(folder)) > 200
    here, there, ear = DatagramBell(folder), DatagramBell(folder), Ear()
    with closing(here, there):
        stop = there.listen("x" * 32, ear.hint)
        here.ring({"x" * 32})
        await ear.wait()
        stop()
        assert files(folder) == [], "nothing is left behind"


@rule("M4b")
async def test_a_restart_under_the_same_name_is_never_deaf(tmp_path: Path) -> None:
    """The next one comes while the last one still ends, twenty times over; whoever came last hears."""
    caller, stop_last, last = DatagramBell(tmp_path), None, None
    with closing(caller):
        for _ in range(20):
            bell, ear = DatagramBell(tmp_path), Ear()
            stop = bell.listen("coder", ear.hint)
            caller.ring({"coder"})
            await ear.wait()
            if stop_last is not None and last is not None:
                stop_last()
                last.close()
                caller.ring({"coder"})
                await ear.wait()
            stop_last, last = stop, bell
        assert stop_last is not None
        assert last is not None
        stop_last()
        last.close()


@rule("M4b")
async def test_a_successor_that_comes_at_the_very_moment_of_the_end_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    caller, old, new, ear = DatagramBell(tmp_path), DatagramBell(tmp_path), DatagramBell(tmp_path), Ear()
    with closing(caller, old, new):
        stop = old.listen("coder", Ear().hint)
        plain, stops = old._rename, []

        def rename(source: str, target: str) -> None:
            monkeypatch.setattr(old, "_rename", plain)
            stops.append(new.listen("coder", ear.hint))  # after the look whether the socket is still ours, before it is taken away
            plain(source, target)

        monkeypatch.setattr(old, "_rename", rename)
        stop()
        caller.ring({"coder"})
        await ear.wait()
        assert files(tmp_path) == ["coder"]
        stops[0]()


async def test_what_a_killed_process_left_is_in_nobodys_way(tmp_path: Path) -> None:
    left = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    left.bind(str(tmp_path / "coder"))
    left.close()
    here, there, ear = DatagramBell(tmp_path), DatagramBell(tmp_path), Ear()
    with closing(here, there):
        here.ring({"coder"})
        stop = there.listen("coder", ear.hint)
        here.ring({"coder"})
        await ear.wait()
        stop()


async def test_a_caller_whose_loop_has_ended_is_no_trouble(tmp_path: Path) -> None:
    bell, ear = DatagramBell(tmp_path), Ear()
    with closing(bell):
        other = asyncio.new_event_loop()

        async def listen() -> Callable[[], None]:
            return bell.listen("coder", ear.hint)

        stop = await asyncio.to_thread(other.run_until_complete, listen())
        other.close()
        bell.ring({"coder"})
        stop()
        assert ear.times == 0


async def test_closing_gives_back_every_descriptor(tmp_path: Path) -> None:
    before = files(Path("/proc/self/fd"))
    for _ in range(10):
        bell = DatagramBell(tmp_path)
        bell.listen("coder", Ear().hint)()
        bell.close()
    assert files(Path("/proc/self/fd")) == before


class TestOverPostgres:
    """NOTIFY between machines."""

    @pytest.fixture
    async def bells(self, postgres: servers.Databases, clock: ManualClock) -> AsyncIterator[tuple[NotifyBell, NotifyBell]]:
        with postgres.fresh() as url:
            engine = PostgresEngine(url, clock=clock)
            engine.migrate(clock.wall)
            here, there = NotifyBell(engine), NotifyBell(engine)
            with closing(here, there):
                yield here, there

    @rule("M4b", "N1")
    async def test_a_ring_wakes_who_listens_in_another_process(self, bells: tuple[NotifyBell, NotifyBell]) -> None:
        here, there = bells
        ear = Ear()
        stop = there.listen("coder", ear.hint)
        await ear.wait()  # once it is connected, for what may have rung before
        here.ring({f"agent-{n}" for n in range(250)} | {"coder"})
        await ear.wait()
        stop()

    @rule("M4b")
    async def test_a_ring_wakes_who_listens_in_the_same_process(self, bells: tuple[NotifyBell, NotifyBell]) -> None:
        here, _ = bells
        ear = Ear()
        stop = here.listen("coder", ear.hint)
        here.ring({"coder"})
        await ear.wait()
        stop()

    @rule("M4b")
    async def test_it_hears_again_after_its_connection_was_cut(
        self, bells: tuple[NotifyBell, NotifyBell], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        here, there = bells
        monkeypatch.setattr("covey.store.notify._AGAIN_S", 0.05)
        ear = Ear()
        there.listen("coder", ear.hint)
        await ear.wait()
        with here._engine.open() as admin:
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
        await ear.wait()
        here.ring({"coder"})
        await ear.wait()
