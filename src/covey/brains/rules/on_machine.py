"""Reports on this machine and on who may read the fleet's files. They block a moment, so they work in a thread."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from covey.agents import roster
from covey.brains.rules.audit import audit
from covey.brains.rules.desk import Desk, Findings, bullets, lines
from covey.reports import machine
from covey.reports.machine import Started
from covey.reports.phrases import count, percent, size, span

MONITORING = "monitor"
"""Who has this capability is told every process."""


async def system_health(desk: Desk) -> Findings:
    """How the machine does; whoever monitors is told in more detail."""
    vitals = await desk.read(roster.all_vitals)
    started = [Started(each.agent, each.pid, each.start_ticks) for each in vitals.values() if each.pid is not None]
    found = await asyncio.to_thread(machine.health, desk.data_dir, started)
    detailed = MONITORING in desk.settings.capabilities
    return Findings(lines(*_health(found), *(_details(found) if detailed else ())), found)


def _health(found: dict[str, Any]) -> list[str]:
    memory, disk, processes = found["memory"], found["disk"], found["processes"]
    load = ", ".join(f"{each:.2f}" for each in found["load"])
    used = sum(each["memoryBytes"] for each in processes)
    fleet = f"{count(len(processes), 'agent process', 'agent processes')} of the fleet on this machine, {size(used)} of memory in all."
    return [
        "The system is low on something."
        if found["low"]
        else "The system is healthy: disk, memory and file handles are within their bounds.",
        *found["low"],
        f"Processor: {percent(found['cpuShare'])} of {count(found['cpus'], 'core')} in use, load {load}.",
        f"Memory: {size(memory['availableBytes'])} of {size(memory['totalBytes'])} available ({percent(memory['availableShare'])}).",
        f"Disk: {size(disk['freeBytes'])} of {size(disk['totalBytes'])} free ({percent(disk['freeShare'])}) at {disk['path']}.",
        fleet if processes else "No agent's process was found on this machine.",
    ]


def _details(found: dict[str, Any]) -> list[str]:
    files = found["files"]
    heaviest = sorted(found["processes"], key=lambda each: -each["memoryBytes"])
    return [
        f"File handles: {files['open']:,} of {files['most']:,} in use ({percent(files['share'])}). Up for {span(found['uptime'])}.",
        bullets([_process(each) for each in heaviest], 20),
    ]


def _process(each: dict[str, Any]) -> str:
    files = f", {each['openFiles']} open files" if each["openFiles"] is not None else ""
    used = f"{size(each['memoryBytes'])} of memory, {each['cpuSeconds']} s of processor time, {count(each['threads'], 'thread')}"
    return f"{each['agent']} (pid {each['pid']}): {used}{files}"


async def security_audit(desk: Desk) -> Findings:
    """Who may read or change what only the fleet should."""
    agents = await desk.read(roster.everyone)
    root = Path(desk.settings.cwd) if desk.settings.cwd else desk.data_dir.parent
    found = await asyncio.to_thread(audit, desk.data_dir, root, sorted({agent.host for agent in agents}))
    head = f"I checked {count(len(found.checked), 'thing')} and found {count(len(found.faults), 'fault')}."
    return Findings(
        lines(
            head,
            bullets(found.faults, 30) if found.faults else None,
            f"In order: {'; '.join(found.fine)}." if found.fine else None,
            f"Not there, so not checked: {', '.join(found.missing)}." if found.missing else None,
            "This covers the rights of the fleet's own files and its addresses, nothing else.",
        ),
        {"faults": found.faults, "fine": found.fine, "missing": found.missing},
    )
