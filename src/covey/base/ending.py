"""Ending processes, with all that they started: by group and by the COVEY_RUN that they carry, never by name (K4c, H7a).

It touches nothing that is not of the run it is asked about, and decides nothing about tasks.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from covey.base.clock import Clock
from covey.base.processes import Identity, Stat, every_process, send, stat_of, this_boot

RUN_VARIABLE = "COVEY_RUN"
"""The environment variable by which all that a brain's command started is known (K4c)."""
PATIENCE_S = 5.0
"""How long after SIGKILL a process may take to be gone (it can be in the kernel's hands) before it is reported as left."""


class Look(NamedTuple):
    """What one look at all processes found of a run."""

    left: list[Identity]
    group: int
    """The run's process group, to be struck as a whole; 0 if no member was seen that proves it to be the run's."""
    sure: bool
    """False if the group is not empty, yet nobody of it was caught sight of: its processes fork and end faster than we look."""


def look(run_id: str, pgid: int = 0, leader: Identity | None = None) -> Look:
    """What still runs of a brain's run: all that carries its COVEY_RUN, its first process, and that one's group (K4c).

    `leader` is the first process; it leads the session and group `pgid` (its own pid unless told). With an empty `run_id` the
    leader and its group alone; never the caller itself. Whose environment we may read is the kernel's to say: that of our own
    user's processes, and for root everybody's.
    """
    group = _group(pgid, leader)
    mark = f"{RUN_VARIABLE}={run_id}".encode() if run_id else b""
    seen = [stat for stat in every_process() if stat.pid != os.getpid()]
    members = {stat for stat in seen if led(stat, group, leader)}
    marked = {stat for stat in seen if not stat.dead and _carries(stat.pid, mark)}
    ours = _proven(members, marked, leader)
    living = marked | {stat for stat in members if ours and not stat.dead}
    left = [Identity(stat.pid, stat.start_ticks, this_boot()) for stat in living]
    return Look(left, group if ours else 0, not group or bool(members) or not _exists(group))


def _group(pgid: int, leader: Identity | None) -> int:
    """The number of the leader's group, or 0 if that number is somebody else's by now."""
    if leader is None or leader.boot_id != this_boot():
        return 0
    number = pgid or leader.pid
    owner = stat_of(number)
    taken = owner is not None and number == leader.pid and not leader.is_that_of(owner)
    return 0 if taken else number


def led(stat: Stat, group: int, leader: Identity | None) -> bool:
    """Whether it is the leader or of its group, which is a session of its own: a shell's job of the same number is not. Pure.

    `group` 0 is no group: kernel threads, and all whose session is outside of this container, show 0.
    """
    if leader is None:
        return False
    in_group = group > 0 and stat.pgid == stat.session == group and stat.start_ticks >= leader.start_ticks
    return in_group or leader.is_that_of(stat)


def _proven(members: set[Stat], marked: set[Stat], leader: Identity | None) -> bool:
    """Whether a group is the leader's, and not one that got its number after it was gone.

    Its leader in it, even as a zombie, proves it, and so does a member with the mark. Failing both, it must live in our own
    control group, where a stranger's daemon does not.
    """
    if any(leader is not None and leader.is_that_of(stat) for stat in members) or members & marked:
        return True
    return any(not stat.dead and _control_group(stat.pid) == _control_group(os.getpid()) for stat in members)


def _control_group(pid: int) -> bytes | None:
    try:
        return Path(f"/proc/{pid}/cgroup").read_bytes()
    except OSError:
        return None


def _exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _carries(pid: int, mark: bytes) -> bool:
    if not mark:
        return False
    try:
        return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


class Step(NamedTuple):
    """One round of an ending: a signal for these, then a wait; no wait means that it is over."""

    signal: int
    to: frozenset[Identity]
    wait_s: float | None


def next_step(left: frozenset[Identity], asked: frozenset[Identity], clear: bool, elapsed_s: float, grace_s: float) -> Step:
    """What to do next about those that are left. Pure.

    Each is asked once with SIGTERM, since a second one makes some programs skip their cleaning up; after the grace comes
    SIGKILL, again and again. `clear`: the look before found nobody either, and this one is sure.
    """
    wait_s = min(0.1, 0.01 + elapsed_s / 4)
    if elapsed_s >= grace_s + PATIENCE_S:
        return Step(0, frozenset(), None)
    if not left:
        return Step(0, left, None if clear else 0.001)
    if elapsed_s >= grace_s:
        return Step(signal.SIGKILL, left, wait_s)
    return Step(signal.SIGTERM, left - asked, min(wait_s, grace_s - elapsed_s))


def _rounds(
    leader: Identity | None, run_id: str, pgid: int, grace_s: float, clock: Clock
) -> Generator[tuple[float | None, list[Identity]], None, None]:
    """One round of ending at a time: the wait after it, None after the last, and who was left at its start."""
    began, asked, clear = clock.boot(), frozenset[Identity](), False
    while True:
        found = look(run_id, pgid, leader)
        left = frozenset(found.left)
        step = next_step(left, asked, clear and found.sure, clock.boot() - began, grace_s)
        if step.signal == signal.SIGKILL or (not left and clear):
            _kill_group(found.group)
        for identity in step.to:
            send(identity, step.signal)
        asked, clear = asked | step.to, not left
        yield step.wait_s, found.left


def _kill_group(group: int) -> None:
    """In one stroke, which no fork escapes."""
    if group not in (0, os.getpgrp()):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


async def end(leader: Identity | None, *, run_id: str = "", pgid: int = 0, grace_s: float, clock: Clock) -> list[Identity]:
    """Whoever could not be ended, as a rule nobody: `leader`, its group, and all that carries the run's COVEY_RUN (K4c, K7).

    SIGTERM once to each, SIGKILL after `grace_s` (0: at once), over and over until two looks find nobody; bounded by PATIENCE_S
    after the grace. Who is found is as `look` says. The ended stay zombies until their parents reap them.
    """
    rounds = _rounds(leader, run_id, pgid, grace_s, clock)
    while True:
        wait_s, left = await asyncio.to_thread(next, rounds)
        if wait_s is None:
            return left
        await clock.sleep(wait_s)
