"""Real programs as brains, ended by cancel, stop and shutdown: nothing of them is left (K4c, K7, A7)."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec
import pytest

from covey.agents import living
from covey.agents.model import THE_OPERATOR
from covey.base.clock import SystemClock
from covey.base.ending import end
from covey.base.processes import Identity
from covey.base.settings import BrainSettings
from covey.brains.launching import Site
from covey.brains.making import make
from covey.runner import holding
from covey.runner.orphans import free_the_gone
from covey.runner.taking import take
from covey.store import Row, Store
from covey.tasks import adding, changing, reading, runs
from covey.tasks.model import TaskDraft
from tests.conftest import EIGHT, ManualClock
from tests.ended import left_of_run
from tests.rules import rule
from tests.runner.desk import LIMITS
from tests.runner.office import QUICK, Office, office, until

FORKS = "(trap '' TERM; sleep 300) & sh -c 'sleep 300 & sleep 300' & setsid sleep 300 < /dev/null > /dev/null 2>&1 & touch begun; wait"
"""Children deaf to SIGTERM, grandchildren, and one in a session of its own."""


@asynccontextmanager
async def commanded(store: Store, folder: Path, script: str, grace_s: float = QUICK.grace_s) -> AsyncIterator[Office]:
    """The coder with a shell script as its brain."""
    settings = msgspec.structs.replace(QUICK, grace_s=grace_s)
    brain = BrainSettings(kind="command", command=("sh", "-c", script))
    agent = msgspec.structs.replace(EIGHT.agents[1], brain=brain, cwd=str(folder))
    async with office(store, make(agent, Site(grace_s=grace_s)), settings=settings, brain=brain, cwd=str(folder)) as coder:
        yield coder


async def begun(coder: Office, folder: Path) -> Row:
    """The run, once all its processes are there."""

    async def is_there() -> bool:
        found = await coder.store.read(runs.open_of, "coder")
        return (folder / "begun").exists() and bool(found) and found[0].pid is not None and len(_processes(found[0])) >= 5

    await until(is_there)
    (run,) = await coder.store.read(runs.open_of, "coder")
    return run


def _processes(run: Row) -> list[Identity]:
    return left_of_run(run.id, run.pgid, Identity(run.pid, run.start_ticks, run.boot_id))


async def _closed(coder: Office) -> bool:
    return not await coder.store.read(runs.open_of, "coder")


async def nothing_is_left(run: Row) -> None:
    """Return once no process of the run lives."""

    async def is_gone() -> bool:
        return not _processes(run)

    await until(is_gone)


@rule("K7", "K4c")
async def test_cancel_reaches_a_running_program_and_its_whole_process_group(fleet: Store, tmp_path: Path) -> None:
    async with commanded(fleet, tmp_path, FORKS) as coder:
        task = await coder.add()
        run = await begun(coder, tmp_path)
        assert run.pid
        await fleet.write(changing.cancel, task, THE_OPERATOR)
        await nothing_is_left(run)
        await until(lambda: _closed(coder))
        assert (await coder.task(task)).state == "cancelled"


@rule("A7", "K4")
@pytest.mark.timeout(40)
async def test_an_emergency_stop_may_shorten_the_grace_and_leaves_no_process(fleet: Store, tmp_path: Path) -> None:
    async with commanded(fleet, tmp_path, f"trap '' TERM; {FORKS}", grace_s=120.0) as coder:
        task = await coder.add()
        run = await begun(coder, tmp_path)
        told = await coder.runner.emergency_stop(THE_OPERATOR, "smoke", grace_s=0.1)
        assert told == {"stopped": True, "taskId": task, "returnedToQueue": True}
        await nothing_is_left(run)
        assert (await coder.task(task)).attempts == 0


@rule("K4")
async def test_a_process_that_ends_takes_its_programs_along_and_gives_the_work_back(fleet: Store, tmp_path: Path) -> None:
    async with commanded(fleet, tmp_path, FORKS) as coder:
        task = await coder.add()
        run = await begun(coder, tmp_path)
    await nothing_is_left(run)
    assert ((await coder.task(task)).state, (await coder.task(task)).attempts) == ("queued", 0)


@rule("K4", "K4a")
async def test_a_lapsed_lease_is_freed_only_after_its_programs_were_ended(fleet: Store, tmp_path: Path, clock: ManualClock) -> None:
    """The agent's process is gone, its program lives on: whoever sweeps ends it, then frees the work."""
    dead = dead_pid()
    await fleet.write(living.arrive, "coder", node="here", pid=dead, start_ticks=1, boot_id="b", port=8002)
    task = (await fleet.write(adding.add, TaskDraft(description="a task", agent="coder"), THE_OPERATOR)).task_id
    work = await fleet.write(take, "coder", "task", "here", dead, LIMITS)
    assert work is not None
    program = program_of(work.run_id, tmp_path)
    who = Identity.of(program.pid)
    await fleet.write(holding.started, work, who, program.pid)
    try:
        await until(lambda: asyncio.to_thread((tmp_path / "begun").exists))
        assert len(left_of_run(work.run_id, program.pid, who)) >= 5
        free = partial(free_the_gone, fleet, SystemClock(), node="here", lease_s=60.0, grace_s=0.1)
        assert await free() == 0, "a lease that has not lapsed is nobody's business"
        clock.at += 61
        assert await free() == 1
        assert left_of_run(work.run_id, program.pid, who) == []
        assert (await fleet.read(reading.show, task)).state == "queued"
    finally:
        await end(who, run_id=work.run_id, pgid=program.pid, grace_s=0, clock=SystemClock())
        program.wait()


def dead_pid() -> int:
    """The pid of a process that has ended."""
    with subprocess.Popen(["true"]) as dead:
        return dead.pid


def program_of(run_id: str, folder: Path) -> subprocess.Popen[bytes]:
    """The program of a run, as its agent's process would have started it."""
    return subprocess.Popen(["sh", "-c", FORKS], cwd=folder, env=os.environ | {"COVEY_RUN": run_id}, start_new_session=True)
