"""Processes of this machine: which one is meant, whether it lives, and signals that can't hit another. Linux only.

A process is meant by its pid, start ticks and boot, never by its name. Nothing here starts a process or opens the store.
"""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import setproctitle

from covey.base.clock import SystemClock

PR_SET_CHILD_SUBREAPER = 36
_TICKS = os.sysconf("SC_CLK_TCK")


class Stat(NamedTuple):
    """What the kernel says of one process."""

    pid: int
    state: str
    parent: int
    pgid: int
    session: int
    threads: int
    start_ticks: int

    @property
    def dead(self) -> bool:
        """Whether it runs no more: a zombie, and no thread of it lives on."""
        return self.state in "ZX" and self.threads <= 1


def stat_of(pid: int) -> Stat | None:
    """The kernel's line about a process, zombies too; None if nobody has the pid."""
    try:
        line = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = line[line.rindex(b")") + 2 :].split()
    parent, pgid, session = map(int, fields[1:4])
    return Stat(pid, fields[0].decode(), parent, pgid, session, int(fields[17]), int(fields[19]))


def pids() -> list[int]:
    """The pids of all processes that can be seen now."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def every_process() -> Iterator[Stat]:
    """What the kernel says of each process that can be seen now."""
    return (stat for pid in pids() if (stat := stat_of(pid)) is not None)


@cache
def this_boot() -> str:
    """The kernel's id of this boot, read once."""
    return SystemClock().boot_id()


class Identity(msgspec.Struct, frozen=True, rename="camel"):
    """One process for good: whoever gets its pid later has other start ticks, or another boot (H7a)."""

    pid: int
    start_ticks: int
    boot_id: str

    @classmethod
    def of(cls, pid: int) -> Identity | None:
        """Who has this pid now, a zombie that waits for its parent too; None if nobody has."""
        stat = stat_of(pid)
        return cls(pid, stat.start_ticks, this_boot()) if stat else None

    @property
    def since(self) -> float:
        """When it began, in seconds since boot, as `Clock.boot` counts them."""
        return self.start_ticks / _TICKS

    def is_that_of(self, stat: Stat) -> bool:
        """Whether the kernel's line is about this very process."""
        return (self.pid, self.start_ticks, self.boot_id) == (stat.pid, stat.start_ticks, this_boot())


def alive(identity: Identity) -> bool:
    """Whether exactly this process still runs: a stopped one does, a zombie does not."""
    stat = stat_of(identity.pid)
    return stat is not None and not stat.dead and identity.is_that_of(stat)


def send(identity: Identity, number: int) -> bool:
    """Whether the signal went to exactly this process; one that has got its pid since is left alone."""
    try:
        handle = os.pidfd_open(identity.pid)
    except ProcessLookupError:
        return False
    try:
        if Identity.of(identity.pid) != identity:
            return False
        signal.pidfd_send_signal(handle, number)
        return True
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        os.close(handle)


def set_title(text: str) -> None:
    """Show this process under that name in `ps`. Its first environment is no longer to be read in /proc afterwards."""
    setproctitle.setproctitle(text)
    # the short name has no blanks: from 3.12 on Python counts this process's threads in a line of /proc that it splits at blanks
    setproctitle.setthreadtitle(text.replace(" ", "-"))


def become_subreaper(on: bool = True) -> None:
    """From now on orphans among our descendants become our children, whose exit we are told and whom we must reap.

    Raises:
        OSError: The kernel refused.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "this process could not become a child subreaper")
