"""Dropped files are taken exactly once though the process that takes them is killed with -9, at each step and at any moment (S2)."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from covey.agents import configuring
from covey.base.clock import SystemClock
from covey.messages import reading as mail
from covey.store import Store
from covey.tasks import reading as tasks
from tests.conftest import EIGHT, Database, opened
from tests.files.rounds import files_below
from tests.rules import rule

ROOT = Path(__file__).parents[2]
PATIENCE_S = 30


@asynccontextmanager
async def taking(folder: Path, database: Database, point: str = "") -> AsyncIterator[asyncio.subprocess.Process]:
    """A process that looks after the folder; killed at the end, if it was not before."""
    command = (sys.executable, "-m", "tests.files.dropping", str(folder), database.kind, database.url, point)
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert await asyncio.wait_for(process.stdout.readline(), PATIENCE_S) == b"ready\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await asyncio.wait_for(process.wait(), PATIENCE_S)
        process._transport.close()  # type: ignore[attr-defined]  # else its pipe is closed by the garbage collector, with a warning


async def until_done(folder: Path, count: int) -> None:
    """Return when so many files lie in done/."""
    for _ in range(PATIENCE_S * 100):
        if len(files_below(folder / "done")) == 2 * count:
            return
        await asyncio.sleep(0.01)
    pytest.fail(f"{sorted(files_below(folder))}")


@pytest.fixture
async def world(database: Database, tmp_path: Path) -> AsyncIterator[Store]:
    """A fleet on the machine's own clock, as another process sees it too."""
    async with opened(database, tmp_path, SystemClock()) as store:
        await store.write(configuring.configure, EIGHT)
        yield store


def drop_some(folder: Path, start: int, count: int) -> None:
    """Move in messages and tasks, in turn."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(start, start + count):
        message = {"to": "coder", "content": {"body": f"number {number}"}}
        task = {"description": f"number {number}", "agent": "ops"}
        part = folder / f"{number}.tmp"
        part.write_text(json.dumps(task if number % 2 else message))
        part.rename(folder / f"{number:03d}.json")


async def taken(store: Store) -> list[int]:
    messages = (await store.read(mail.inbox, "coder", limit=10_000)).items
    found = (await store.read(tasks.listed, limit=10_000)).items
    texts = [message.body for message in messages] + [task.description for task in found]
    return sorted(int(text.removeprefix("number ")) for text in texts)


POINTS = [f"{when} {step}" for when in ("before", "after") for step in ("taking", "storing", "settling", "reasoning")]


@rule("S2", "T3")
@pytest.mark.scenario
@pytest.mark.parametrize("point", POINTS)
async def test_a_kill_at_any_step_takes_each_file_once(world: Store, database: Database, tmp_path: Path, point: str) -> None:
    folder = tmp_path / ".covey/drop"
    drop_some(folder, 0, 6)
    async with taking(tmp_path, database, point) as process:
        await asyncio.wait_for(process.wait(), PATIENCE_S)
        assert process.returncode == -signal.SIGKILL
    async with taking(tmp_path, database):
        await until_done(folder, 6)
    assert await taken(world) == list(range(6))


@rule("S2", "T3")
@pytest.mark.scenario
async def test_kills_at_any_moment_take_each_file_once(world: Store, database: Database, tmp_path: Path) -> None:
    folder = tmp_path / ".covey/drop"
    rng = random.Random(7)
    for round_ in range(6):
        async with taking(tmp_path, database):
            await asyncio.to_thread(drop_some, folder, round_ * 20, 20)
            await asyncio.sleep(rng.random() * 0.05)
    async with taking(tmp_path, database):
        await until_done(folder, 120)
    assert await taken(world) == list(range(120))
