"""Of a command's run nothing is left, however it ends: its group, what left its group, its pipes, its zombie."""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
from pathlib import Path

import pytest

from covey.base.clock import SystemClock
from covey.brains.command import CommandBrain
from covey.brains.launching import Site
from covey.brains.model import Outcome
from tests.brains.turns import Noted, a_turn, is_gone, is_running, open_files, settings, until
from tests.ended import end_now, left_of_run
from tests.rules import rule

CLOCK = SystemClock()


class Runs:
    """A folder in which scripts run as one agent's brain, each under an id of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run_id = f"run_{secrets.token_hex(8)}"
        self.hands = Noted()

    async def think(self, script: str, *, grace_s: float = 0.3, deadline_s: float | None = None, timeout_s: float | None = None) -> Outcome:
        brain = CommandBrain(
            settings(self.folder, kind="command", command=("sh", "-c", script), timeout_s=timeout_s), Site(grace_s=grace_s)
        )
        return await brain.think(a_turn(self.run_id, deadline_s=deadline_s), self.hands)

    def begin(self, script: str, *, grace_s: float = 0.3) -> asyncio.Task[Outcome]:
        return asyncio.create_task(self.think(script, grace_s=grace_s))

    def pid_in(self, name: str) -> int:
        return int((self.folder / name).read_text())

    def nothing_is_left(self) -> bool:
        return not left_of_run(self.run_id) and all(is_gone(pid) for pid, _ in self.hands.began if pid)


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


@pytest.fixture(autouse=True)
def _clean(runs: Runs) -> object:
    """Whatever a failed test has left is ended."""
    yield
    end_now(None, run_id=runs.run_id, grace_s=0)


# A command that ends by itself


@rule("K4c")
@pytest.mark.parametrize(
    "how",
    ["sleep 300 &", "setsid sleep 300 &", "setsid sleep 300 < /dev/null > /dev/null 2>&1 &", "trap '' TERM; setsid sleep 300 &"],
    ids=["in the group", "in a session of its own", "without our pipes", "deaf to SIGTERM"],
)
async def test_whoever_a_finished_command_leaves_behind_neither_holds_it_up_nor_lives_on(runs: Runs, how: str) -> None:
    outcome = await runs.think(f"{how}\necho $! > left; echo done")
    assert outcome == Outcome(summary="done", exit_code=0)
    assert not is_running(runs.pid_in("left"))
    assert runs.nothing_is_left()


async def test_what_a_child_says_just_after_the_commands_end_still_counts(runs: Runs) -> None:
    outcome = await runs.think("(sleep 0.1; echo late) & echo first")
    assert outcome.summary == "first\nlate"


# Time limits


@rule("K4a", "K4c")
@pytest.mark.parametrize("limits", [(0.2, None), (None, 0.2), (0.2, 300.0), (300.0, 0.2)])
async def test_a_command_that_takes_too_long_is_ended_with_all_of_it(runs: Runs, limits: tuple[float | None, float | None]) -> None:
    deadline_s, timeout_s = limits
    outcome = await runs.think("setsid sleep 300 & echo half; echo 'still at it' >&2; wait", deadline_s=deadline_s, timeout_s=timeout_s)
    assert outcome.kind == "failed"
    assert outcome.error.startswith("timed out: it did not end within 0.2 s and was ended")
    assert not outcome.permanent
    assert runs.nothing_is_left()


@rule("K4c")
async def test_a_command_has_its_grace_to_clean_up(runs: Runs) -> None:
    thinking = runs.begin("trap 'sleep 0.1; echo clean > cleaned; exit' TERM; echo ready >&2; while :; do sleep 0.01; done", grace_s=20)
    await runs.hands.heard("ready")
    thinking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await thinking
    assert (runs.folder / "cleaned").read_text() == "clean\n"


async def test_a_flood_of_output_does_not_escape_the_time_limit(runs: Runs) -> None:
    outcome = await runs.think("yes flood", deadline_s=0.3)
    assert "timed out" in outcome.error
    assert len(outcome.error) < 3000


# Cancellation


@rule("K7", "K4c", "A7")
@pytest.mark.parametrize("deaf", ["", "trap '' TERM;"])
async def test_a_cancelled_run_is_gone_with_its_group_and_what_left_it_before_the_cancellation_returns(runs: Runs, deaf: str) -> None:
    thinking = runs.begin(f"{deaf} setsid sleep 300 & echo $! > other; sleep 300 & echo $! > child; echo ready >&2; wait")
    await runs.hands.heard("ready")
    children = [runs.pid_in("other"), runs.pid_in("child")]
    assert all(is_running(pid) for pid in children)
    thinking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await thinking
    assert not any(is_running(pid) for pid in children)
    assert runs.nothing_is_left()


@rule("K7")
async def test_a_run_cancelled_again_and_again_still_leaves_nothing(runs: Runs) -> None:
    thinking = runs.begin("trap '' TERM; echo ready >&2; while :; do sleep 300; done", grace_s=0.2)
    await runs.hands.heard("ready")
    while not thinking.done():
        thinking.cancel()
        await asyncio.sleep(0.005)
    assert thinking.cancelled()
    assert runs.nothing_is_left()


@rule("K7")
async def test_a_run_cancelled_while_it_starts_leaves_nothing(runs: Runs) -> None:
    for turns_of_the_loop in range(12):
        thinking = runs.begin("echo $$ >> begun; sleep 300")
        for _ in range(turns_of_the_loop):
            await asyncio.sleep(0)
        thinking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await thinking
        assert runs.nothing_is_left()


@rule("K4c")
async def test_other_runs_are_left_alone(runs: Runs, tmp_path: Path) -> None:
    other = Runs(tmp_path)
    going_on = other.begin("echo ready >&2; while [ ! -e on ]; do sleep 0.01; done; echo done")
    await other.hands.heard("ready")
    await runs.think("sleep 300", deadline_s=0.1)
    (tmp_path / "on").touch()
    assert (await going_on).summary == "done"


# Nothing leaks


async def test_fifty_runs_leave_no_file_no_zombie_and_no_thread(runs: Runs) -> None:
    await runs.think("echo warm")
    files, threads = open_files(), threading.active_count()
    for number in range(50):
        match number % 4:
            case 0:
                assert (await runs.think("cat > /dev/null; echo one")).summary == "one"
            case 1:
                assert (await runs.think("exec 0<&-; head -c 100000 /dev/zero; exit 3")).exit_code == 3
            case 2:
                thinking = runs.begin("sleep 300")
                await until(lambda: len(runs.hands.began) > number)  # noqa: B023 - awaited at once
                thinking.cancel()
                await asyncio.gather(thinking, return_exceptions=True)
            case _:
                brain = CommandBrain(settings(runs.folder, kind="command", command=("./gone",)), Site())
                assert (await brain.think(a_turn(), Noted())).permanent
                runs.hands.began.append((0, 0))
    assert open_files() == files
    assert threading.active_count() <= threads + (os.cpu_count() or 1) + 4
    assert runs.nothing_is_left()
