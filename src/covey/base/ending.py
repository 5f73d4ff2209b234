"""Ending processes, with all that they started: by group and by the COVEY_RUN that they carry, never by name (K4c, H7a).

It touches nothing that is not of the run it is asked about, and decides nothing about tasks.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
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


def left_of_run(run_id: str, pgid: int = 0, leader: Identity | None = None) -> list[Identity]:
    """What still runs of a brain's run: all that carries its COVEY_RUN, its first process, and that one's group (K4c).

    `leader` is the first process; it leads the session and group `pgid` (its own pid unless told). With an empty `run_id` the
    leader and its group alone. Whose environment we may read is the kernel's to say: our own user's, and for root everybody's.
    """
    return [Identity(stat.pid, stat.start_ticks, this_boot()) for stat in _survey(run_id, pgid, leader)]


def run_is_gone(run_id: str, pgid: int = 0, leader: Identity | None = None) -> bool:
    """Whether nothing is left of a run, so that its task may go to somebody else (K4, K4a). Looks twice: a fork can slip past one look."""
    return not _survey(run_id, pgid, leader) and not _survey(run_id, pgid, leader)


def _survey(run_id: str, pgid: int, leader: Identity | None) -> list[Stat]:
    group = _group(pgid, leader)
    mark = f"{RUN_VARIABLE}={run_id}".encode() if run_id else b""
    others = (stat for stat in every_process() if stat.pid != os.getpid() and not stat.dead)
    return [stat for stat in others if _led(stat, group, leader) or _carries(stat.pid, mark)]


def _group(pgid: int, leader: Identity | None) -> int:
    """The number of the leader's group, or 0 if that number is somebody else's by now."""
    if leader is None or leader.boot_id != this_boot():
        return 0
    number = pgid or leader.pid
    holder = stat_of(number)
    taken = holder is not None and number == leader.pid and not leader.is_that_of(holder)
    return 0 if taken else number


def _led(stat: Stat, group: int, leader: Identity | None) -> bool:
    """Whether it is the leader or of its group, which is a session of its own: a shell's job of the same number is not."""
    if leader is None:
        return False
    in_group = stat.pgid == stat.session == group and stat.start_ticks >= leader.start_ticks
    return in_group or leader.is_that_of(stat)


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
    SIGKILL, again and again. `clear`: the look before found nobody either.
    """
    wait_s = min(0.1, 0.01 + elapsed_s / 4)
    if not left:
        return Step(0, left, None if clear else 0.001)
    if elapsed_s >= grace_s + PATIENCE_S:
        return Step(0, left, None)
    if elapsed_s >= grace_s:
        return Step(signal.SIGKILL, left, wait_s)
    return Step(signal.SIGTERM, left - asked, min(wait_s, grace_s - elapsed_s))


def _rounds(
    leader: Identity | None, run_id: str, pgid: int, grace_s: float, clock: Clock
) -> Generator[tuple[float | None, list[Identity]], None, None]:
    """One round of ending at a time: the wait after it, None after the last, and who was left at its start."""
    began, asked, clear = clock.boot(), frozenset[Identity](), False
    while True:
        found = _survey(run_id, pgid, leader)
        left = frozenset(Identity(stat.pid, stat.start_ticks, this_boot()) for stat in found)
        step = next_step(left, asked, clear, clock.boot() - began, grace_s)
        if step.signal == signal.SIGKILL:
            _kill_group(found, _group(pgid, leader))
        for identity in step.to:
            send(identity, step.signal)
        asked, clear = asked | step.to, not left
        yield step.wait_s, list(left)


def _kill_group(found: list[Stat], group: int) -> None:
    """In one stroke, which no fork escapes; only while a member that we just saw keeps the number from being another's."""
    if group and any(stat.pgid == stat.session == group for stat in found):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


async def end(leader: Identity | None, *, run_id: str = "", pgid: int = 0, grace_s: float, clock: Clock) -> list[Identity]:
    """Whoever could not be ended, as a rule nobody: `leader`, its group, and all that carries the run's COVEY_RUN (K4c, K7).

    SIGTERM once to each, SIGKILL after `grace_s` (0: at once), over and over until two looks find nobody; bounded by PATIENCE_S
    after the grace. Who is found is as `left_of_run` says. The ended stay zombies until their parents reap them.
    """
    rounds = _rounds(leader, run_id, pgid, grace_s, clock)
    while True:
        wait_s, left = await asyncio.to_thread(next, rounds)
        if wait_s is None:
            return left
        await clock.sleep(wait_s)


def end_now(leader: Identity | None, *, run_id: str = "", pgid: int = 0, grace_s: float, clock: Clock) -> list[Identity]:
    """The same as `end`, for callers without a loop; blocks."""
    for wait_s, left in _rounds(leader, run_id, pgid, grace_s, clock):
        if wait_s is None:
            return left
        time.sleep(wait_s)
    return []
