"""How this machine and the fleet's processes on it do, through psutil. It reads no store and blocks a moment: call it in a thread.

Figures are of this machine as its kernel shows them: inside a container memory and load may be the host's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from covey.base.processes import stat_of
from covey.reports.phrases import percent, size

CPU_S = 0.2
"""The processor's use is measured over so long."""
DISK_SHARE, DISK_BYTES, MEMORY_SHARE, FILES_SHARE = 0.05, 500 * 1000 * 1000, 0.10, 0.80
"""Low is less disk than 5 % or 500 MB, less available memory than 10 %, more than 80 % of file handles in use (H10)."""


class Room(NamedTuple):
    """What is left of a machine's disk and memory, and how much of its file handles is used; shares are 0 to 1."""

    disk_bytes: float
    disk_share: float
    memory_share: float
    files_used: float


class Started(NamedTuple):
    """A process of the fleet: whose, and which one is meant by that pid."""

    agent: str
    pid: int
    start_ticks: int | None


def room(folder: Path) -> Room:
    """How much room there is, by a few quick looks."""
    memory, disk = psutil.virtual_memory(), psutil.disk_usage(str(_existing(folder)))
    return Room(disk.free, disk.free / max(disk.total, 1), memory.available / max(memory.total, 1), _files()["share"])


def health(folder: Path, started: Iterable[Started] = ()) -> dict[str, Any]:
    """Processor, memory, disk of `folder`, open files, the fleet's living processes, and under `low` what is short, in sentences."""
    memory = psutil.virtual_memory()
    disk = psutil.disk_usage(str(_existing(folder)))
    figures: dict[str, Any] = {
        "cpus": psutil.cpu_count() or 1,
        "cpuShare": psutil.cpu_percent(interval=CPU_S) / 100,
        "load": [round(each, 2) for each in psutil.getloadavg()],
        "memory": {"totalBytes": memory.total, "availableBytes": memory.available, "availableShare": memory.available / memory.total},
        "disk": {
            "path": str(folder),
            "totalBytes": disk.total,
            "freeBytes": disk.free,
            "freeShare": disk.free / max(disk.total, 1),
        },
        "files": _files(),
        "uptime": time.time() - psutil.boot_time(),
        "processes": [found for each in started if (found := _process(each)) is not None],
    }
    figures["low"] = low(figures)
    return figures


def low(figures: dict[str, Any]) -> list[str]:
    """What is short by the bounds of H10, one sentence each. Pure."""
    disk, memory, files = figures["disk"], figures["memory"], figures["files"]
    said = []
    if disk["freeShare"] < DISK_SHARE or disk["freeBytes"] < DISK_BYTES:
        said.append(f"Disk is low: {size(disk['freeBytes'])} ({percent(disk['freeShare'])}) free at {disk['path']}.")
    if memory["availableShare"] < MEMORY_SHARE:
        said.append(f"Memory is low: {size(memory['availableBytes'])} ({percent(memory['availableShare'])}) available.")
    if files["share"] > FILES_SHARE:
        said.append(f"File handles are low: {files['open']:,} of {files['most']:,} in use ({percent(files['share'])}).")
    return said


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    return next((each for each in (folder, *folder.absolute().parents) if each.exists()), Path("/"))


def _files() -> dict[str, Any]:
    """Open file handles of the whole machine, of the most it allows."""
    used, _, most = map(int, Path("/proc/sys/fs/file-nr").read_text().split())
    return {"open": used, "most": most, "share": used / most if most else 0.0}


def _process(started: Started) -> dict[str, Any] | None:
    """What one process uses; None if it has ended, or its pid is somebody else's now."""
    stat = stat_of(started.pid)
    if stat is None or stat.dead or started.start_ticks not in (None, stat.start_ticks):
        return None
    try:
        process = psutil.Process(started.pid)
        with process.oneshot():
            times = process.cpu_times()
            return {
                "agent": started.agent,
                "pid": started.pid,
                "memoryBytes": _own_share(started.pid) or process.memory_info().rss,
                "cpuSeconds": round(times.user + times.system, 2),
                "threads": process.num_threads(),
                "openFiles": _open_files(started.pid),
            }
    except psutil.Error:
        return None


def _own_share(pid: int) -> int | None:
    """A process's memory with what it shares counted in parts (PSS), so that a sum over processes is true; None where it is not told."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), None)


def _open_files(pid: int) -> int | None:
    """How many descriptors a process has open; None where this user may not look."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208 - a count, no paths
    except OSError:
        return None
