"""The default fleet as it is started: how soon it is ready, what it holds and does when idle, how soon a killed agent serves again."""

from __future__ import annotations

import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.measuring import Figure, folder
from covey.base.markers import Marker, markers

BASE_PORT = int(os.environ.get("COVEY_BENCH_PORT", "27000"))
FIRST_S = 30.0
WORKS_S = 50.0
IDLE_S = 60.0
"""An idle fleet is measured from its start to its first buddy checks and planned tasks, and after them."""


def _covey(path: Path, *words: str) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("COVEY_")} | {
        "COVEY_BASE_PORT": str(BASE_PORT),
        "COVEY_GATEWAY": "off",
    }
    subprocess.run([sys.executable, "-m", "covey", *words], cwd=path, env=env, check=True, capture_output=True, timeout=120)


@contextmanager
def _up() -> Iterator[tuple[Path, float]]:
    with folder() as path:
        began = time.perf_counter()
        _covey(path, "up", "--detach")
        took = time.perf_counter() - began
        try:
            yield path, took
        finally:
            _covey(path, "down")


def _found(path: Path) -> list[Marker]:
    return markers(path / ".covey" / "run")


def _pids(path: Path) -> list[int]:
    """The fleet's processes: by their marks, and the node's fork server."""
    known = [each.pid for each in _found(path)]
    node = next(each.pid for each in _found(path) if each.name == "node")
    children = Path(f"/proc/{node}/task/{node}/children").read_text().split()
    return sorted({*known, *map(int, children)})


def _pss_mib(pid: int) -> float:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) / 1024


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _share_of_a_core(pids: list[int], seconds: float) -> float:
    before = sum(map(_cpu_s, pids))
    time.sleep(seconds)
    return (sum(map(_cpu_s, pids)) - before) / seconds


def _serves(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=0.5) as peer:
        peer.sendall(f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
        return b" 200 " in peer.recv(64)
    return False


def _back_after_kill(path: Path, name: str) -> float:
    marker = next(each for each in _found(path) if each.name == name)
    os.kill(marker.pid, signal.SIGKILL)
    began = time.perf_counter()
    while _serves(marker.port) is False or all(each.pid == marker.pid for each in _found(path) if each.name == name):
        if time.perf_counter() - began > 30:
            break
        time.sleep(0.01)
    return time.perf_counter() - began


def measure() -> list[Figure]:
    """Five starts for the time to ready; the rest on the last one."""
    starts = []
    for _ in range(4):
        with _up() as (_, took):
            starts.append(took)
    with _up() as (path, took):
        starts.append(took)
        time.sleep(3)
        pids = _pids(path)
        agents_and_node = [each.pid for each in _found(path) if each.name != "console"]
        pss = sum(map(_pss_mib, agents_and_node))
        whole = sum(map(_pss_mib, pids))
        first = _share_of_a_core(pids, FIRST_S)
        works = _share_of_a_core(pids, WORKS_S)
        idle = _share_of_a_core(pids, IDLE_S)
        back = statistics.median(_back_after_kill(path, name) for name in ("coder", "sales", "intel", "comms", "ops"))
    ready = statistics.median(starts)
    return [
        Figure("covey up to all ready", f"{ready:.2f} s", "", "< 2 s", ready < 2),
        Figure("eight agents and the node, PSS", f"{pss:.0f} MiB ({whole:.0f} with API and fork server)", "", "≤ 160 MiB", pss <= 160),
        Figure("idle fleet, all processes, from its start", f"{first:.2%} of a core", "", "< 1 %", first < 0.01),
        Figure("the same while it does its first checks and tasks", f"{works:.2%} of a core", "", "", True),
        Figure("the same after them", f"{idle:.2%} of a core", "", "< 1 %", idle < 0.01),
        Figure("killed agent serves again, p50", f"{back:.2f} s", "", "< 0.5 s", back < 0.5),
    ]
