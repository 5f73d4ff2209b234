"""What an assistant's hook costs after each tool: `covey hook` as a process, with a fleet that has nothing new, and with none."""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.measuring import EIGHT, Figure, folder, ms, percentile, store_in
from covey.agents import tokens
from covey.api.fleet_port import make_app
from covey.doors.door import FleetDoor
from covey.doors.serving import serve
from covey.seats import seat
from covey.seats.seat import Seat

CALLS = 40
GOAL_S = 0.150
TOKEN = "a-token-of-the-benchmark-alone"
EVENT = b'{"hook_event_name": "PostToolUse", "tool_name": "Bash"}'


class Took(NamedTuple):
    """What one call took: on the clock, and of the processor."""

    wall_s: float
    cpu_s: float


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _took(path: Path) -> Took:
    began, used = time.perf_counter(), _cpu_s()
    done = subprocess.run([sys.executable, "-m", "covey", "hook", str(path)], input=EVENT, capture_output=True, check=True)
    took = Took(time.perf_counter() - began, _cpu_s() - used)
    assert done.stdout + done.stderr == b""
    return took


def _bare() -> Took:
    began, used = time.perf_counter(), _cpu_s()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return Took(time.perf_counter() - began, _cpu_s() - used)


def _half(took: list[Took]) -> str:
    return f"{ms(percentile([each.wall_s for each in took], 0.5))}, {ms(percentile([each.cpu_s for each in took], 0.5))} of the processor"


async def _calls(api: str, where: Path) -> list[Took]:
    path = seat.path_of(where, "claude", "coder")
    seat.write(path, Seat("claude", "coder", api, "", TOKEN, str(where), "covey", []))
    return [await asyncio.to_thread(_took, path) for _ in range(CALLS)]


async def _with_a_fleet(where: Path) -> list[Took]:
    async with store_in(where, full=False) as store:
        await store.write(tokens.put, "coder", tokens.hash_of(TOKEN))
        serving = await serve(make_app(FleetDoor(store=store, settings=EIGHT)), "127.0.0.1", 0)
        try:
            return await _calls(f"http://127.0.0.1:{serving.port}", where)
        finally:
            await serving.stop()


def measure() -> list[Figure]:
    """Both, beside what a bare interpreter takes to start."""
    bare = f"a bare interpreter {_half([_bare() for _ in range(CALLS)])}"
    with folder() as where:
        told = asyncio.run(_with_a_fleet(where))
    with tempfile.TemporaryDirectory() as where_else:
        alone = asyncio.run(_calls("http://127.0.0.1:9", Path(where_else)))
    return [
        Figure(
            f"a hook, {what}",
            f"{_half(took)}, p95 {ms(percentile([each.wall_s for each in took], 0.95))}",
            bare,
            f"half of them under {GOAL_S * 1000:.0f} ms",
            met=percentile([each.wall_s for each in took], 0.5) < GOAL_S,
        )
        for what, took in (("nothing new", told), ("no fleet", alone))
    ]
