"""Processes are started on their own, seen to end, reaped, and started again within bounds."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.base.errors import Failed
from covey.base.ports import EX_OWN_INSTANCE
from covey.base.processes import Identity, Stat, alive, become_subreaper, every_process, send, stat_of
from covey.nodes.forkserver import Spec
from covey.nodes.spawner import ExecSpawner, ForkServerSpawner, Spawner
from covey.nodes.watching import ExitStatus, GiveUp, Past, PingCounter, Restart, RestartPolicy, Watch
from tests.rules import rule

PRELOAD = ("asyncio", "apsw", "msgspec", "psutil", "starlette.applications", "uvicorn")
ENTRIES = '''
import json, os, random, signal, sys, threading, time


def idle():
    time.sleep(300)


def code(number):
    print("printed")
    return number


def last_words():
    print("last words")
    os.kill(os.getpid(), signal.SIGKILL)


def fail():
    raise RuntimeError("it went wrong")


def stamp(path):
    with open(path, "w") as file:
        file.write(str(time.monotonic()))


def about(path):
    """What this process finds around it."""
    found = {
        "pid": os.getpid(), "session": os.getsid(0), "group": os.getpgrp(), "cwd": os.getcwd(),
        "env": dict(os.environ), "stdin": os.readlink("/proc/self/fd/0"), "stdout": os.readlink("/proc/self/fd/1"),
        "stderr": os.readlink("/proc/self/fd/2"), "files": [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if fd.isdigit() and os.path.lexists(f"/proc/self/fd/{fd}")],
        "title": open("/proc/self/cmdline").read().rstrip(chr(0)), "random": random.random(), "threads": threading.active_count(),
        "term": signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, "int": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
        "pipe": signal.getsignal(signal.SIGPIPE) is signal.SIG_IGN, "blocked": len(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
    }
    with open(path + ".part", "w") as file:
        json.dump(found, file)
    os.rename(path + ".part", path)


def orphan():
    """A child that outlives this process for a moment and then is nobody's."""
    if os.fork() == 0:
        time.sleep(0.01)
        os._exit(3)
'''


RUDE = """
import signal
signal.signal(signal.SIGTERM, lambda *_: None)
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
"""


class Node:
    """What a node has: a subreaper's process, a spawner, a watch, a folder."""

    def __init__(self, spawner: Spawner, folder: Path) -> None:
        self.spawner = spawner
        self.folder = folder
        self.watch = Watch()
        self.log = folder / "agent.log"

    def spec(self, entry: str, *args: Any, **more: Any) -> Spec:
        settings = {"env": dict(os.environ), "cwd": str(self.folder), "log": str(self.log), "title": "covey coder"} | more
        return Spec(name="coder", entry=entry, args=args, **settings)

    async def start(self, entry: str, *args: Any, **more: Any) -> Identity:
        return await self.spawner.spawn(self.spec(f"entries:{entry}", *args, **more))

    async def ends(self, identity: Identity) -> ExitStatus:
        async with asyncio.timeout(20):
            return await self.watch.exited(identity)

    async def about(self, **more: Any) -> dict[str, Any]:
        """What a process started here reports of itself."""
        path = self.folder / "about.json"
        assert await self.ends(await self.start("about", str(path), **more)) == ExitStatus(code=0), self.log.read_text()
        found: dict[str, Any] = json.loads(path.read_text())
        return found


others: set[int] = set()
"""Children of this process that no test here has started, as the tests' PostgreSQL is one; they are let alone."""


@pytest.fixture(autouse=True)
def subreaper() -> Iterator[None]:
    """As the node is: what loses its parent becomes our child."""
    others.update(stat.pid for stat in children())
    become_subreaper()
    yield
    become_subreaper(False)
    others.clear()


@pytest.fixture
async def node(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Node]:
    """A node with a fork server, or with plain exec where a test asks for it; all that it started ends with the test."""
    (tmp_path / "entries.py").write_text(ENTRIES)
    (tmp_path / "rude.py").write_text(RUDE)
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    spawner = (
        ExecSpawner() if getattr(request, "param", "") == "exec" else ForkServerSpawner((*PRELOAD, "rude"), tmp_path / "forkserver.log")
    )
    made = Node(spawner, tmp_path)
    yield made
    await spawner.close()
    made.watch.close()
    end_children()


def end_children() -> None:
    for stat in children():
        with contextlib.suppress(ProcessLookupError, ChildProcessError):  # a fork server just dropped is being reaped
            os.kill(stat.pid, signal.SIGKILL)
            os.waitpid(stat.pid, 0)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def threads_of(who: Identity) -> int:
    return len(list(Path(f"/proc/{who.pid}/task").iterdir()))


def children() -> list[Stat]:
    return [stat for stat in every_process() if stat.parent == os.getpid() and stat.pid not in others]


async def until(happened: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not happened():  # noqa: ASYNC110 - the kernel sets no event
            await asyncio.sleep(0.002)


def server_of(node: Node) -> Identity:
    assert isinstance(node.spawner, ForkServerSpawner)
    assert node.spawner._server is not None
    return node.spawner._server.identity


both = pytest.mark.parametrize("node", ["fork server", "exec"], indirect=True)


# What is started


@both
@rule("H9")
async def test_a_process_has_all_of_its_own_and_nothing_of_ours(node: Node) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    with (node.folder / "ours").open("w") as ours:
        os.set_inheritable(ours.fileno(), True)
        try:
            found = await node.about(env=dict(os.environ) | {"COVEY_AGENT": "coder"}, cwd="/")
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
    assert found["session"] == found["group"] == found["pid"]
    assert found["cwd"] == "/"
    assert found["title"] == "covey coder"
    assert found["env"]["COVEY_AGENT"] == "coder"
    assert found["stdin"] == os.devnull
    assert found["stdout"] == found["stderr"] == str(node.log)
    assert [file for file in found["files"] if file.startswith(("socket:", "pipe:", str(node.folder / "ours")))] == []
    assert found["threads"] == 1
    assert (found["term"], found["int"], found["pipe"], found["blocked"]) == (True, True, True, 0)
    assert node.log.stat().st_mode & 0o777 == 0o600


@both
async def test_a_process_is_our_child_as_soon_as_it_is_told(node: Node) -> None:
    for _ in range(5):
        stat = stat_of((await node.start("idle")).pid)
        assert stat is not None
        assert stat.parent == os.getpid()


@both
async def test_the_environment_is_the_one_given_and_no_more(node: Node) -> None:
    given = {"PYTHONPATH": os.environ["PYTHONPATH"], "ONLY": "this"}
    found = await node.about(env=given)
    assert {name: value for name, value in found["env"].items() if name != "LC_CTYPE"} == given


async def test_no_two_processes_draw_the_same_random_numbers(node: Node) -> None:
    assert (await node.about())["random"] != (await node.about())["random"]


@both
async def test_how_a_process_ends_is_told_and_its_words_are_in_its_log(node: Node) -> None:
    assert await node.ends(await node.start("code", 73)) == ExitStatus(code=73)
    assert await node.ends(await node.start("code", None)) == ExitStatus(code=0)
    assert await node.ends(await node.start("last_words")) == ExitStatus(signal=signal.SIGKILL)
    assert await node.ends(await node.start("fail")) == ExitStatus(code=1)
    log = node.log.read_text()
    assert log.count("printed") == 2
    assert "last words" in log
    assert "RuntimeError: it went wrong" in log


@both
async def test_what_cannot_run_says_so_in_its_log(node: Node) -> None:
    assert await node.ends(await node.start("nothing_of_this_name")) == ExitStatus(code=1)
    assert await node.ends(await node.start("code", 0, cwd=str(node.folder / "nowhere"))) == ExitStatus(code=1)
    log = node.log.read_text()
    assert "nothing_of_this_name" in log
    assert "FileNotFoundError" in log


@both
async def test_a_log_that_cannot_be_written_is_said_to_the_caller(node: Node) -> None:
    with pytest.raises(Failed, match="nowhere"):
        await node.start("idle", log=str(node.folder / "nowhere" / "log"))
    assert await node.ends(await node.start("code", 0)) == ExitStatus(code=0)


async def test_twenty_started_at_once_are_all_reaped(node: Node) -> None:
    started = await asyncio.gather(*(node.start("code", number) for number in range(20)))
    ended = await asyncio.gather(*map(node.ends, started))
    assert [status.code for status in ended] == list(range(20))
    assert [stat.pid for stat in children()] == [server_of(node).pid]


# The fork server


async def test_the_fork_server_has_one_thread_with_all_that_it_imported(node: Node) -> None:
    await node.start("idle")
    assert threads_of(server_of(node)) == 1
    assert (node.folder / "forkserver.log").read_text() == ""


async def test_a_module_that_is_not_there_is_not_preloaded(node: Node) -> None:
    node.spawner = ForkServerSpawner(("covey.no_such_module", "json"), node.folder / "forkserver.log")
    assert await node.ends(await node.start("code", 7)) == ExitStatus(code=7)
    assert "not preloaded: covey.no_such_module" in (node.folder / "forkserver.log").read_text()
    await node.spawner.close()


@rule("H9")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_fork_server_that_dies_or_hangs_is_replaced_and_its_processes_live(node: Node, number: int) -> None:
    assert isinstance(node.spawner, ForkServerSpawner)
    node.spawner._reply_s = 0.3
    before = await node.start("idle")
    dead = server_of(node)
    send(dead, number)
    async with asyncio.timeout(20):
        after = await node.start("code", 5)
    assert await node.ends(after) == ExitStatus(code=5)
    assert server_of(node) != dead
    assert alive(before)
    await until(lambda: stat_of(dead.pid) is None)


async def test_a_fork_server_that_cannot_start_is_said_with_its_log(node: Node) -> None:
    broken = ForkServerSpawner((), node.folder / "forkserver.log", env={"PYTHONHOME": "/nowhere"})
    with pytest.raises(Failed, match=r"forkserver\.log says why"):
        await broken.spawn(node.spec("entries:idle"))
    assert "encodings" in (node.folder / "forkserver.log").read_text()


@rule("H9")
async def test_the_fork_server_ends_by_itself_when_the_node_is_gone_and_its_processes_live(node: Node) -> None:
    agent = await node.start("idle")
    server = server_of(node)
    assert isinstance(node.spawner, ForkServerSpawner)
    assert node.spawner._server is not None
    node.spawner._server.writer.close()
    assert await node.ends(server) == ExitStatus(code=0)
    assert alive(agent)


async def test_after_a_start_that_was_given_up_the_next_one_gets_its_own_answer(node: Node) -> None:
    await node.start("idle")
    os.kill(server_of(node).pid, signal.SIGSTOP)
    given_up = asyncio.create_task(node.start("code", 1))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    assert await node.ends(await node.start("code", 2)) == ExitStatus(code=2)


async def test_forked_processes_share_what_was_imported_and_start_at_once(node: Node) -> None:
    agents = [await node.start("idle") for _ in range(8)]
    began = time.monotonic()
    assert await node.ends(await node.start("stamp", str(node.folder / "stamp"))) == ExitStatus(code=0)
    running_s = float((node.folder / "stamp").read_text()) - began
    figures = [memory(agent.pid) for agent in (server_of(node), *agents)]
    print(f"start to running: {running_s * 1000:.1f} ms; PSS: {sum(pss for pss, _ in figures) / 1024:.1f} MiB, the fork server among them")
    assert all(2 * pss < rss for pss, rss in figures)


def memory(pid: int) -> tuple[int, int]:
    """PSS and RSS in KiB."""
    lines = (line.split() for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    figures = {name: int(value) for name, value, *_ in lines}
    return figures["Pss:"], figures["Rss:"]


# Watching


@rule("H9")
async def test_the_end_of_an_adopted_process_is_seen_but_not_how(node: Node) -> None:
    other, adopted = somebody_elses()
    waiting = asyncio.create_task(node.ends(adopted))
    await asyncio.sleep(0)
    send(adopted, signal.SIGSTOP)
    assert not waiting.done()
    send(adopted, signal.SIGKILL)
    assert await waiting == ExitStatus()
    assert "not known" in str(await waiting)
    other.communicate(timeout=10)


def somebody_elses() -> tuple[subprocess.Popen[str], Identity]:
    """A process that is a child of another one, which is the first."""
    other = subprocess.Popen(["sh", "-c", "sleep 300 & echo $!; wait"], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    child = Identity.of(int(other.stdout.readline()))
    assert child is not None
    return other, child


async def test_all_who_wait_for_a_process_are_told_the_same(node: Node) -> None:
    agent = await node.start("idle")
    first, second, gone = (asyncio.create_task(node.ends(agent)) for _ in range(3))
    await asyncio.sleep(0)
    gone.cancel()
    send(agent, signal.SIGTERM)
    assert await first == await second == ExitStatus(signal=signal.SIGTERM)
    assert str(await first) == "killed by SIGTERM"
    assert await node.ends(agent) == ExitStatus()


async def test_a_process_that_has_got_a_used_pid_is_not_waited_for(node: Node) -> None:
    agent = await node.start("idle")
    former = Identity(agent.pid, agent.start_ticks - 1, agent.boot_id)
    before = open_files()
    assert await node.ends(former) == ExitStatus()
    assert open_files() == before
    assert alive(agent)


async def test_a_watch_that_is_closed_leaves_nothing_open(node: Node) -> None:
    agent = await node.start("idle")
    before = open_files()
    waiting = asyncio.create_task(node.watch.exited(agent))
    await asyncio.sleep(0)
    node.watch.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert open_files() == before


async def test_orphans_are_reaped_and_nobody_loses_the_exit_code_of_what_it_started(node: Node) -> None:
    agent = await node.start("orphan")
    await until(lambda: len([stat for stat in children() if stat.dead]) == 2)
    node.watch.reap_orphans()
    assert len([stat for stat in children() if stat.dead]) == 2, "whoever started one still has a round's time"
    assert await node.ends(agent) == ExitStatus(code=0)
    node.watch.reap_orphans()
    assert [stat for stat in children() if stat.dead] == []


async def test_the_round_for_orphans_takes_no_exit_code_from_who_waits(node: Node) -> None:
    agent = await node.start("idle")
    waiting = asyncio.create_task(node.ends(agent))
    await asyncio.sleep(0)
    send(agent, signal.SIGKILL)
    os.waitid(os.P_PID, agent.pid, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222 - the loop must not turn meanwhile
    node.watch.reap_orphans()
    node.watch.reap_orphans()
    assert await waiting == ExitStatus(signal=signal.SIGKILL)


# Restarting

FINE = RestartPolicy()
DEATHS = st.lists(st.one_of(st.floats(0, 30), st.floats(0, 4000)), min_size=1, max_size=60)


def lived(runs: list[float], policy: RestartPolicy = FINE) -> list[Restart | GiveUp]:
    """What is decided when a process runs so long each time, until it is given up."""
    now, past, decided = 0.0, Past(), list[Restart | GiveUp]()
    for ran_s in runs:
        now += ran_s
        decision = policy.decide(past, ExitStatus(code=1), ran_s, now)
        decided.append(decision)
        if isinstance(decision, GiveUp):
            break
        now, past = now + decision.after_s, decision.past
    return decided


@rule("H4")
def test_the_first_restart_is_at_once_and_the_others_wait_longer_and_longer() -> None:
    waits = [decision.after_s for decision in lived([200.0] * 9) if isinstance(decision, Restart)]
    assert waits == [0, 1, 2, 4, 8, 16, 32, 60, 60]


@rule("H7")
def test_after_five_restarts_in_ten_minutes_it_is_given_up() -> None:
    decided = lived([1.0] * 9)
    assert len(decided) == 6
    last = decided[-1]
    assert isinstance(last, GiveUp)
    assert last.why == "it ended again after 5 restarts in 10 minutes (exit code 1)"
    assert not last.own


@rule("H7", "H4")
@given(DEATHS)
def test_no_ten_minutes_hold_six_restarts_and_no_wait_is_over_a_minute(runs: list[float]) -> None:
    now, restarts = 0.0, list[float]()
    for ran_s, decision in zip(runs, lived(runs), strict=False):
        now += ran_s
        if isinstance(decision, GiveUp):
            assert len([at for at in restarts if now - at < 600]) == 5
            break
        assert 0 <= decision.after_s <= 60
        now += decision.after_s
        restarts.append(now)
        assert len([at for at in restarts if now - at < 600]) <= 5


@rule("H7a")
@given(DEATHS, st.floats(1800, 1e6))
def test_what_just_ran_fine_for_half_an_hour_starts_its_count_afresh(runs: list[float], fine_s: float) -> None:
    decided = lived([*runs, fine_s, 1.0, 1.0])
    if not any(isinstance(decision, GiveUp) for decision in decided[: len(runs)]):
        assert [decision.after_s for decision in decided[len(runs) :] if isinstance(decision, Restart)] == [0, 1, 2]


@rule("A10")
def test_a_process_that_found_its_own_instance_is_not_tried_again() -> None:
    decision = FINE.decide(Past(), ExitStatus(code=EX_OWN_INSTANCE), 0.1, 100.0)
    assert isinstance(decision, GiveUp)
    assert decision.own


def rounds(*answers: bool, age_s: float = 100.0) -> PingCounter:
    counter = PingCounter()
    for answered in answers:
        counter = counter.after(answered, age_s)
    return counter


@rule("H8b")
def test_three_missed_rounds_mean_hung_whatever_the_clock_says() -> None:
    assert not rounds(False, False).hung
    assert rounds(False, False, False).hung


@rule("H8b")
@given(st.lists(st.booleans()), st.integers(1, 9))
def test_it_is_hung_exactly_when_the_last_rounds_were_all_missed(answers: list[bool], most: int) -> None:
    counter = PingCounter(most=most)
    for answered in answers:
        counter = counter.after(answered, 100.0)
    assert counter.hung is (len(answers) >= most and not any(answers[-most:]))


@rule("H7a")
@given(st.integers(0, 50), st.floats(0, 29.99))
def test_inside_its_start_grace_a_process_that_has_not_answered_yet_is_not_hung(unanswered: int, age_s: float) -> None:
    assert rounds(*[False] * unanswered, age_s=age_s).missed == 0


@rule("H7a", "H8b")
@given(st.lists(st.booleans()), st.floats(0, 29.99))
def test_one_that_has_answered_once_is_judged_by_the_usual_rule_however_young_it_is(answers: list[bool], age_s: float) -> None:
    assert rounds(True, *answers, age_s=age_s) == rounds(True, *answers)
    assert rounds(True, False, False, False, age_s=age_s).hung


@rule("H8b")
@pytest.mark.parametrize("stopped_at_s", [0.0, 2.5, 4.9])
def test_a_stopped_process_is_noticed_within_thirty_seconds(stopped_at_s: float) -> None:
    now, counter = 5.0, PingCounter()
    while not counter.hung:
        counter = counter.after(answered=False, age_s=100.0)
        now += 5.0 + (0.0 if counter.hung else 5.0)
    assert 25.0 <= now - stopped_at_s <= 30.0
