"""A process whose event loop hangs ends itself, with its stacks in the log; a suspended one does not (H1, H8b)."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from covey.runner.watchdog import EX_HUNG, ROUNDS, Watchdog
from tests.rules import rule

HANGS = """
import asyncio, threading, time
from covey.runner.watchdog import Watchdog

def hang():
    print("it hangs", flush=True)
    threading.Event().wait()

async def main():
    Watchdog(asyncio.get_running_loop(), 0.6).start()
    await asyncio.sleep(0.3)
    hang()

asyncio.run(main())
"""


@rule("H1")
def test_a_process_whose_event_loop_hangs_ends_itself_and_shows_where() -> None:
    ended = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode == EX_HUNG
    assert "it hangs" in ended.stdout
    assert "the event loop has not turned for 0.6 s" in ended.stderr
    assert "in hang" in ended.stderr


class Loop:
    """A loop that turns when the test says so."""

    def __init__(self) -> None:
        self.calls: list[object] = []
        self.closed = False

    def call_soon_threadsafe(self, call: object) -> None:
        if self.closed:
            raise RuntimeError("Event loop is closed")
        self.calls.append(call)

    def turn(self) -> None:
        for call in self.calls:
            call()  # type: ignore[operator]
        self.calls.clear()


@pytest.fixture
def ended() -> list[int]:
    return []


@pytest.fixture
def loop() -> Loop:
    return Loop()


@pytest.fixture
def watchdog(loop: Loop, ended: list[int]) -> Watchdog:
    return Watchdog(loop, 30.0, ended.append)  # type: ignore[arg-type]


@rule("H8b")
def test_it_counts_its_own_rounds_so_that_a_suspended_machine_ends_nobody(watchdog: Watchdog, loop: Loop, ended: list[int]) -> None:
    """However long a suspension was, it is one round without a turn."""
    for _ in range(20):
        for _ in range(ROUNDS - 1):
            watchdog.one_round()
        loop.turn()
        watchdog.one_round()
        assert watchdog.missed == 0
    assert ended == []


@rule("H1")
def test_a_loop_that_has_not_turned_for_all_rounds_ends_the_process(
    watchdog: Watchdog, loop: Loop, ended: list[int], capfd: pytest.CaptureFixture[str]
) -> None:
    for _ in range(ROUNDS):
        watchdog.one_round()
    assert ended == []
    watchdog.one_round()
    assert ended == [EX_HUNG]
    assert "has not turned for 30 s" in capfd.readouterr().err


@rule("H1")
def test_a_loop_that_is_closed_is_not_watched_any_more(watchdog: Watchdog, loop: Loop, ended: list[int]) -> None:
    loop.closed = True
    watchdog.one_round()
    watchdog.start()
    watchdog._thread.join(timeout=10)
    assert not watchdog._thread.is_alive()
    assert ended == []


@rule("H1")
async def test_a_healthy_loop_is_left_alone() -> None:
    ended: list[int] = []
    watchdog = Watchdog(asyncio.get_running_loop(), 0.3, ended.append)
    watchdog.start()
    for _ in range(30):
        await asyncio.sleep(0.02)
    watchdog.stop()
    assert ended == []
