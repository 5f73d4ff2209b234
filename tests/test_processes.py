"""Which process is meant, which are ours, and that ending one ends all of it and nothing else."""

from __future__ import annotations

import asyncio
import fcntl
import os
import secrets
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.base import ending
from covey.base.clock import SystemClock
from covey.base.ending import PATIENCE_S, RUN_VARIABLE, end, led, look, next_step
from covey.base.markers import Marker, NameLock, holder, marker, markers
from covey.base.processes import Identity, Stat, alive, send, stat_of, this_boot
from tests.ended import end_now, left_of_run, run_is_gone
from tests.rules import rule

Start = Callable[..., subprocess.Popen[str]]
CLOCK = SystemClock()
SLEEP = "exec sleep 300"


def until(happened: Callable[[], bool], bound_s: float = 10.0) -> None:
    """Wait, bounded, for what the kernel does in its own time."""
    limit = time.monotonic() + bound_s
    while not happened():
        assert time.monotonic() < limit, "it did not happen in time"
        time.sleep(0.002)


def identity(pid: int) -> Identity:
    found = Identity.of(pid)
    assert found is not None
    return found


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a shell script (or Python, with `python=True`) that leads its own session; returns once it has said `ready`."""
    begun: list[subprocess.Popen[str]] = []

    def run(script: str, run_id: str = "", python: bool = False) -> subprocess.Popen[str]:
        environment = os.environ | ({RUN_VARIABLE: run_id} if run_id else {})
        argv = [sys.executable, "-c", script] if python else ["sh", "-c", script]
        process = subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
        begun.append(process)
        return process

    yield run
    for process in begun:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)
        assert process.stdout is not None
        process.stdout.close()


@pytest.fixture
def run_id() -> Iterator[str]:
    """The id of a run of which nothing survives the test."""
    made = f"run_{secrets.token_hex(8)}"
    yield made
    end_now(None, run_id=made, grace_s=0)


def must_be(expected: set[int], leader: Identity | None, run_id: str = "") -> None:
    """Look before a test ends anything: a fault in the looking must not cost anybody else's process."""
    until(lambda: {left.pid for left in left_of_run(run_id, leader=leader)} == expected)


def ready(process: subprocess.Popen[str]) -> str:
    """The first line that it prints."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


# Identity


@rule("H7a")
def test_a_process_is_alive_until_it_is_killed_and_a_zombie_is_dead(start: Start) -> None:
    process = start(SLEEP)
    who = identity(process.pid)
    assert alive(who)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert Identity.of(process.pid) == who, "the zombie still has its pid"
    assert not alive(who)
    process.wait(10)
    assert Identity.of(process.pid) is None
    assert not alive(who)


@rule("H7a")
def test_a_stopped_process_is_alive(start: Start) -> None:
    process = start(SLEEP)
    os.kill(process.pid, signal.SIGSTOP)
    until(lambda: (stat_of(process.pid) or pytest.fail("gone")).state == "T")
    assert alive(identity(process.pid))


def test_a_process_whose_first_thread_has_ended_is_alive(start: Start) -> None:
    process = start(
        "import ctypes, threading, time\n"
        "threading.Thread(target=time.sleep, args=(300,)).start()\n"
        "print('ready', flush=True)\n"
        "ctypes.CDLL(None).pthread_exit(None)",
        python=True,
    )
    ready(process)
    until(lambda: (stat_of(process.pid) or pytest.fail("gone")).state == "Z")
    assert alive(identity(process.pid))


@rule("H7a")
@pytest.mark.parametrize("other", [{"start_ticks": 1}, {"boot_id": "another"}])
def test_whoever_has_a_used_pid_is_neither_taken_for_its_former_owner_nor_signalled(start: Start, other: dict[str, object]) -> None:
    process = start(SLEEP)
    former = msgspec.structs.replace(identity(process.pid), **other)
    assert not alive(former)
    assert not send(former, signal.SIGKILL)
    assert left_of_run("", leader=former) == []
    assert process.poll() is None
    before = len(list(Path("/proc/self/fd").iterdir()))
    assert send(identity(process.pid), 0)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert send(identity(process.pid), signal.SIGKILL)
    assert process.wait(10) == -signal.SIGKILL


# Ending


@rule("K4c", "K7")
def test_a_run_is_ended_with_its_group_and_with_what_left_the_group(start: Start, run_id: str) -> None:
    process = start("setsid sleep 300 & echo $!; sleep 300 & echo $!; wait", run_id)
    all_of_it = {process.pid, int(ready(process)), int(ready(process))}
    who = identity(process.pid)
    must_be(all_of_it, who, run_id)
    assert not run_is_gone(run_id, process.pid, who)
    assert end_now(who, run_id=run_id, grace_s=5) == []
    assert run_is_gone(run_id, process.pid, who)
    process.wait(10)


def test_who_ends_a_run_is_not_of_it() -> None:
    me = identity(os.getpid())
    assert me not in left_of_run("", leader=me)


@rule("K4c")
async def test_a_run_that_ignores_sigterm_is_killed_after_the_grace(start: Start, run_id: str) -> None:
    process = start("trap '' TERM; setsid sleep 300 & echo $!; wait; sleep 300", run_id)
    must_be({process.pid, int(ready(process))}, identity(process.pid), run_id)
    assert await end(identity(process.pid), run_id=run_id, grace_s=0.05, clock=CLOCK) == []
    assert process.wait(10) == -signal.SIGKILL
    assert run_is_gone(run_id)


@rule("K4c")
async def test_a_program_has_its_grace_to_clean_up_and_is_asked_once(start: Start, tmp_path: Path) -> None:
    script = (
        "import signal, time\n"
        f"log = open({str(tmp_path / 'log')!r}, 'a', buffering=1)\n"
        "asked = []\n"
        "signal.signal(signal.SIGTERM, lambda *_: (asked.append(1), print('asked', file=log)))\n"
        "print('ready', flush=True)\n"
        "while not asked: time.sleep(0.01)\n"
        "for _ in range(20): time.sleep(0.01)\n"
        "print('clean', file=log)\n"
        "raise SystemExit(7)"
    )
    process = start(script, python=True)
    ready(process)
    must_be({process.pid}, identity(process.pid))
    assert await end(identity(process.pid), grace_s=20, clock=CLOCK) == []
    assert (tmp_path / "log").read_text().split() == ["asked", "clean"]
    assert process.wait(10) == 7


@rule("K4c")
def test_a_stopped_run_is_ended(start: Start) -> None:
    process = start(SLEEP)
    os.kill(process.pid, signal.SIGSTOP)
    until(lambda: (stat_of(process.pid) or pytest.fail("gone")).state == "T")
    must_be({process.pid}, identity(process.pid))
    assert end_now(identity(process.pid), grace_s=0.05) == []
    assert process.wait(10) == -signal.SIGKILL


@rule("K4c")
def test_a_run_is_found_by_its_group_when_it_dropped_the_mark_and_its_leader_is_gone(start: Start, run_id: str) -> None:
    process = start("env -i sleep 300 & echo $!", run_id)
    child, who = int(ready(process)), identity(process.pid)
    process.wait(10)
    until(lambda: Path(f"/proc/{child}/environ").read_bytes() == b"")
    must_be({child}, who, run_id)
    assert end_now(who, run_id=run_id, grace_s=5) == []
    assert run_is_gone("", process.pid, who)


@rule("K4c", "H7a")
@pytest.mark.parametrize(("marked", "ours"), [("", False), ("sleep 300 & ", True)])
def test_a_group_without_its_leader_is_proven_by_the_mark_or_by_the_control_group(
    start: Start, run_id: str, monkeypatch: pytest.MonkeyPatch, marked: str, ours: bool
) -> None:
    monkeypatch.setattr(ending, "_control_group", lambda pid: str(pid).encode())
    process = start(f"{marked}env -i sleep 300 & echo $!", run_id)
    child, who = int(ready(process)), identity(process.pid)
    until(lambda: Path(f"/proc/{child}/environ").read_bytes() == b"")
    process.wait(10)
    assert (child in {left.pid for left in left_of_run(run_id, leader=who)}) is ours
    assert (look(run_id, 0, who).group == process.pid) is ours
    send(identity(child), signal.SIGKILL)


@rule("K4c")
def test_a_run_of_which_only_the_id_was_stored_is_found_by_its_mark(start: Start, run_id: str) -> None:
    process = start(SLEEP, run_id)
    must_be({process.pid}, None, run_id)
    assert end_now(None, run_id=run_id, grace_s=5) == []
    assert process.wait(10) == -signal.SIGTERM


@rule("K4c")
def test_a_run_that_hops_from_process_to_process_is_caught_by_its_group(start: Start, run_id: str) -> None:
    hop = "import os, signal\nsignal.signal(15, signal.SIG_IGN)\nprint('ready', flush=True)\nfor _ in range(30_000):\n    if os.fork(): os._exit(0)"
    process = start(hop, run_id, python=True)
    who = identity(process.pid)
    ready(process)
    until(lambda: (stat_of(process.pid) or pytest.fail("gone")).dead)
    assert look(run_id, 0, who).group == process.pid
    assert end_now(who, run_id=run_id, grace_s=0.02) == []
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], 10)[0], "somebody still holds the pipe"
    assert process.stdout.read() == ""


@rule("H7a", "K4c")
def test_strangers_of_the_same_name_are_not_of_the_run(start: Start, run_id: str) -> None:
    stranger, longer = start(SLEEP), start(SLEEP, run_id + "0")
    process = start(SLEEP, run_id)
    must_be({process.pid}, identity(process.pid), run_id)
    assert end_now(identity(process.pid), run_id=run_id, grace_s=5) == []
    assert process.wait(10) == -signal.SIGTERM
    assert stranger.poll() is None
    assert longer.poll() is None


@rule("H7a")
def test_a_group_whose_number_a_stranger_has_by_now_is_not_of_the_run(start: Start) -> None:
    stranger = start("sleep 300 & echo ready; wait")
    ready(stranger)
    former = msgspec.structs.replace(identity(stranger.pid), start_ticks=1)
    assert left_of_run("", stranger.pid, former) == []
    assert run_is_gone("", stranger.pid, former)


@rule("H7a")
def test_a_process_in_a_shells_job_is_ended_without_the_job(start: Start) -> None:
    shell = start("sleep 300 & echo $!; wait")
    job = identity(int(ready(shell)))
    must_be({job.pid}, job)
    assert end_now(job, grace_s=5) == []
    assert shell.wait(10) == 0


STATS = st.builds(
    Stat,
    pid=st.integers(1, 5),
    state=st.sampled_from("RSTZ"),
    parent=st.integers(0, 5),
    pgid=st.integers(0, 5),
    session=st.integers(0, 5),
    threads=st.just(1),
    start_ticks=st.integers(0, 3),
)


@rule("H7a", "K4c")
@given(stat=STATS, group=st.integers(0, 5), ticks=st.integers(0, 3))
def test_only_the_leader_and_its_own_sessions_group_are_led(stat: Stat, group: int, ticks: int) -> None:
    leader = Identity(3, ticks, this_boot())
    itself = (stat.pid, stat.start_ticks) == (3, ticks)
    assert not led(stat, group, None)
    assert led(stat, 0, leader) is itself, "group 0 is no group: kernel threads show it"
    if led(stat, group, leader) and not itself:
        assert stat.pgid == stat.session == group > 0
        assert stat.start_ticks >= ticks


WHO = st.frozensets(st.integers(1, 5).map(lambda pid: Identity(pid, 1, "boot")))


@rule("K4c")
@given(left=WHO, asked=WHO, clear=st.booleans(), elapsed_s=st.floats(0, 30), grace_s=st.floats(0, 10))
def test_an_ending_asks_once_kills_only_after_the_grace_and_is_bounded(
    left: frozenset[Identity], asked: frozenset[Identity], clear: bool, elapsed_s: float, grace_s: float
) -> None:
    step = next_step(left, asked, clear, elapsed_s, grace_s)
    assert step.to <= left
    if step.signal == signal.SIGTERM:
        assert elapsed_s < grace_s
        assert not step.to & asked
    if step.signal == signal.SIGKILL:
        assert elapsed_s >= grace_s
        assert step.to == left
    over = elapsed_s >= grace_s + PATIENCE_S or (not left and clear)
    assert (step.wait_s is None) is over
    assert step.wait_s is None or 0 < step.wait_s <= 0.1


# Markers

TAKE = """
import sys, time
from pathlib import Path
from covey.base.markers import NameLock
lock = NameLock(Path(sys.argv[1]) if len(sys.argv) > 1 else Path({path!r}))
print(lock.take("coder", 8002), flush=True)
{then}
"""


def taking(path: Path, then: str = "time.sleep(300)") -> str:
    return TAKE.format(path=str(path), then=then)


@rule("H7a")
def test_a_marker_names_its_holder_while_it_lives_even_stopped_and_nobody_after(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "coder.lock"
    assert holder(path) is None
    process = start(taking(path), python=True)
    assert ready(process) == "True"
    who = identity(process.pid)
    os.kill(process.pid, signal.SIGSTOP)
    assert holder(path) == who
    assert marker(path) == Marker(who.pid, who.start_ticks, who.boot_id, "coder", 8002)
    assert msgspec.json.decode(path.read_bytes())["startTicks"] == who.start_ticks
    assert markers(tmp_path) == [marker(path)]
    assert not NameLock(path).take("coder")
    process.kill()
    process.wait(10)
    assert holder(path) is None
    assert markers(tmp_path) == []
    assert path.stat().st_mode & 0o777 == 0o600


@rule("H7a")
def test_a_lock_whose_process_we_cannot_see_is_held_but_names_nobody(tmp_path: Path) -> None:
    path = tmp_path / "coder.lock"
    lock = NameLock(path)
    assert lock.take("coder")
    me = identity(os.getpid())
    path.write_bytes(msgspec.json.encode(Marker(me.pid, 1, me.boot_id, "coder", 8002)))
    assert holder(path) is None
    assert not NameLock(path).take("coder")
    lock.release()


def test_a_name_is_taken_although_others_ask_all_the_time_who_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "coder.lock"
    asker = path.open("a+b")
    fcntl.flock(asker, fcntl.LOCK_SH)
    threading.Timer(0.03, asker.close).start()
    lock = NameLock(path)
    assert lock.take("coder", 8002)
    assert holder(path) == identity(os.getpid())
    lock.release()
    assert holder(path) is None


@rule("H7a")
@pytest.mark.parametrize(
    "child",
    [
        "import subprocess; child = subprocess.Popen(['sleep', '300'], stdout=-3, close_fds=False).pid",
        "import os; child = os.fork() or (os.close(1), time.sleep(300))",
    ],
    ids=["command", "fork"],
)
def test_no_child_keeps_the_marker_of_a_dead_agent(start: Start, tmp_path: Path, child: str) -> None:
    path = tmp_path / "coder.lock"
    process = start(taking(path, f"{child}\nprint(child, flush=True)\ntime.sleep(300)"), python=True)
    assert ready(process) == "True"
    left = identity(int(ready(process)))
    assert holder(path) == identity(process.pid)
    process.kill()
    process.wait(10)
    lock = NameLock(path)
    assert lock.take("coder", 8002)
    lock.release()
    assert alive(left)
    send(left, signal.SIGKILL)


def test_a_file_of_another_form_marks_nobody(tmp_path: Path) -> None:
    for name, text in {"empty": "", "text": "no JSON", "other": '{"pid": 1}'}.items():
        (tmp_path / f"{name}.lock").write_text(text)
    assert markers(tmp_path) == []


def test_a_title_is_what_ps_shows(start: Start) -> None:
    process = start(
        "from covey.base.processes import set_title\nset_title('covey coder')\nprint('ready', flush=True)\nimport time; time.sleep(300)",
        python=True,
    )
    ready(process)
    assert Path(f"/proc/{process.pid}/cmdline").read_bytes().rstrip(b"\0") == b"covey coder"


async def test_an_ending_does_not_hold_up_the_loop(start: Start, run_id: str) -> None:
    process = start("trap '' TERM; echo ready; exec sleep 300", run_id)
    ready(process)
    must_be({process.pid}, identity(process.pid), run_id)
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    turning = asyncio.create_task(turn())
    await end(identity(process.pid), run_id=run_id, grace_s=0.05, clock=CLOCK)
    turning.cancel()
    assert turns > 5
