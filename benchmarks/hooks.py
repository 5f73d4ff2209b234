"""What an assistant's hook costs after each tool: `covey hook` as a process, with a fleet that has nothing new, and with none."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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


def _took(path: Path) -> float:
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "covey", "hook", str(path)], input=EVENT, capture_output=True, check=True)
    took = time.perf_counter() - began
    assert done.stdout + done.stderr == b""
    return took


def _bare() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - began


async def _calls(api: str, where: Path) -> list[float]:
    path = seat.path_of(where, "claude", "coder")
    seat.write(path, Seat("claude", "coder", api, "", TOKEN, str(where), "covey", []))
    return [await asyncio.to_thread(_took, path) for _ in range(CALLS)]


async def _with_a_fleet(where: Path) -> list[float]:
    async with store_in(where, full=False) as store:
        await store.write(tokens.put, "coder", tokens.hash_of(TOKEN))
        serving = await serve(make_app(FleetDoor(store=store, settings=EIGHT)), "127.0.0.1", 0)
        try:
            return await _calls(f"http://127.0.0.1:{serving.port}", where)
        finally:
            await serving.stop()


def measure() -> list[Figure]:
    """Both, beside what a bare interpreter takes to start."""
    bare = f"a bare interpreter {ms(percentile([_bare() for _ in range(CALLS)], 0.5))}"
    with folder() as where:
        told = asyncio.run(_with_a_fleet(where))
    with tempfile.TemporaryDirectory() as where_else:
        alone = asyncio.run(_calls("http://127.0.0.1:9", Path(where_else)))
    return [
        Figure(
            f"a hook, {what}",
            f"{ms(percentile(took, 0.5))}, p95 {ms(percentile(took, 0.95))}",
            bare,
            f"half of them under {GOAL_S * 1000:.0f} ms",
            met=percentile(took, 0.5) < GOAL_S,
        )
        for what, took in (("nothing new", told), ("no fleet", alone))
    ]
