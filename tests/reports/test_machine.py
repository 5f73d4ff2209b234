"""The machine's figures are real, and what is short is said by the bounds of H10."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from covey.base.processes import stat_of
from covey.reports import machine
from covey.reports.machine import Started
from tests.rules import rule


def test_the_figures_are_this_machines(tmp_path: Path) -> None:
    own = stat_of(os.getpid())
    assert own is not None
    found = machine.health(
        tmp_path,
        [Started("me", own.pid, own.start_ticks), Started("other", own.pid, own.start_ticks + 1), Started("gone", 2**22 - 1, None)],
    )
    assert found["cpus"] == os.cpu_count()
    assert 0 <= found["cpuShare"] <= 1
    assert 0 < found["memory"]["availableBytes"] <= found["memory"]["totalBytes"]
    assert found["disk"]["freeBytes"] == pytest.approx(os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize, rel=0.1)
    assert [process["agent"] for process in found["processes"]] == ["me"]
    assert 5_000_000 < found["processes"][0]["memoryBytes"] <= psutil.Process().memory_info().rss * 1.1
    assert found["files"]["open"] > 0


def test_a_folder_that_is_not_there_yet_is_measured_where_it_would_be(tmp_path: Path) -> None:
    assert machine.health(tmp_path / "not" / "yet")["disk"]["totalBytes"] > 0


def figures(disk: float = 0.5, free_bytes: float = 1e12, memory: float = 0.5, files: float = 0.1) -> dict[str, Any]:
    return {
        "disk": {"path": "/data", "freeShare": disk, "freeBytes": free_bytes},
        "memory": {"availableShare": memory, "availableBytes": 1e9},
        "files": {"open": 10, "most": 100, "share": files},
    }


@rule("H10")
def test_what_is_short_is_said_in_words() -> None:
    assert machine.low(figures()) == []
    assert machine.low(figures(disk=0.04)) == ["Disk is low: 931 GiB (4 %) free at /data."]
    assert len(machine.low(figures(free_bytes=499e6))) == 1
    assert "Memory is low" in machine.low(figures(memory=0.09))[0]
    assert "File handles are low: 10 of 100 in use (81 %)." in machine.low(figures(files=0.81))
    assert machine.low(figures(disk=0.05, memory=0.10, files=0.80)) == []


def test_reports_do_not_import_psutil_until_the_machine_is_asked() -> None:
    code = "import sys; from covey.reports import status, why, work, history, timelines, conflicts; sys.exit('psutil' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=30, check=False).returncode == 0
