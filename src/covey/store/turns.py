"""Whose turn it is to write to the embedded store, over all processes: an flock, with its holder's name in the file, and a stamp.

SQLite's own waiting is not fair (measured: one process wrote once while another wrote 7,000 times); the kernel's is.
The stamp counts commits, so that whoever polls need not ask the store as long as nobody has written.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from covey.base.clock import Clock
from covey.base.errors import StoreBusy, StoreUnavailable

GIVE_UP_S = 30.0
"""A write that does not get its turn for so long is given up."""
_FREE = b"free".ljust(42)
_UNCOUNTED = b" " * 42
"""What a version that keeps no stamp leaves when its turn ends."""
_USED = (64, b"in use\n")
_STAMP_AT = 128
_STAMP = struct.Struct("<QQ")


class Stamp(NamedTuple):
    """How many commits there were: those that changed something that somebody may wait for, and all, heartbeats and bookmarks too."""

    changes: int
    commits: int


class TurnLock:
    """One connection's claim to the turn. The holder's pid and since when stand in the file while it is held."""

    def __init__(self, path: Path, clock: Clock) -> None:
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise unavailable(path, error) from error
        self._path = path
        self._clock = clock
        self._pid = os.getpid()

    def take(self) -> None:
        """Wait for the turn, however long.

        Raises:
            StoreUnavailable: The file is no longer there, and the store's neither.
        """
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        self._sign()

    def take_within(self, seconds: float) -> bool:
        """Whether it is our turn by then."""
        end = time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= end:
                    return False
                time.sleep(0.01)
            else:
                self._sign()
                return True

    def _sign(self) -> None:
        if os.fstat(self._fd).st_nlink == 0:
            self.give()
            raise StoreUnavailable(
                f"{self._path} was deleted while the store is open; nothing was stored. Stop the fleet and start it again."
            )
        before = os.pread(self._fd, len(_FREE), 0)
        os.pwrite(self._fd, b"%-20d %-20.6f\n" % (self._pid, self._clock.boot()), 0)
        if before != _FREE:  # whoever had the turn died in it, or counts nothing: there may be a commit that is not in the stamp
            self.count(changed=True)

    def count(self, *, changed: bool) -> None:
        """Add a commit to the stamp; `changed`: it changed something that somebody may wait for."""
        stamp = _stamp(os.pread(self._fd, _STAMP.size, _STAMP_AT))
        os.pwrite(self._fd, _STAMP.pack(stamp.changes + changed, stamp.commits + 1), _STAMP_AT)

    def give(self) -> None:
        """End the turn."""
        os.pwrite(self._fd, _FREE, 0)
        fcntl.flock(self._fd, fcntl.LOCK_UN)

    @property
    def has_served(self) -> bool:
        """Whether the store beside it was ever in use."""
        return os.pread(self._fd, len(_USED[1]), _USED[0]) == _USED[1]

    def serve(self) -> None:
        """Note that the store beside it is in use."""
        os.pwrite(self._fd, _USED[1], _USED[0])

    def close(self) -> None:
        """Give back the descriptor, and the turn with it."""
        os.close(self._fd)


class StampReader:
    """Reads the stamp without a turn; blocking, but no longer than a byte takes from memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = -1

    def read(self) -> Stamp | None:
        """The stamp as it is now; None if there is none to rely on: no file, or a version that does not count was the last to write."""
        try:
            if self._fd < 0:
                self._fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            found = os.pread(self._fd, _STAMP_AT + _STAMP.size, 0)
        except OSError:
            return None
        return None if found.startswith(_UNCOUNTED) else _stamp(found[_STAMP_AT:])

    def close(self) -> None:
        """Give back the descriptor."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _stamp(found: bytes) -> Stamp:
    return Stamp(*_STAMP.unpack(found)) if len(found) == _STAMP.size else Stamp(0, 0)


@contextmanager
def turn(path: Path, clock: Clock, *, patience_s: float = GIVE_UP_S) -> Iterator[TurnLock]:
    """The turn for one piece of work.

    Raises:
        StoreBusy: It could not be had in time; nothing was done.
    """
    lock = TurnLock(path, clock)
    try:
        if not lock.take_within(patience_s):
            raise _busy(path, patience_s)
        try:
            yield lock
        finally:
            lock.give()
    finally:
        lock.close()


def turn_holder(path: Path) -> tuple[int, float] | None:
    """Who holds the turn right now, and since when by `Clock.boot()`; None if nobody does, or it has only just been taken."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        words = os.pread(fd, len(_FREE), 0).split()
        return (int(words[0]), float(words[1])) if len(words) == 2 else None
    else:
        return None
    finally:
        os.close(fd)


def _busy(path: Path, waited_s: float) -> StoreBusy:
    holder = turn_holder(path)
    who = f"the process {holder[0]}" if holder else "another process"
    return StoreBusy(
        f"{who} has held {path} for {waited_s:g} s; nothing was stored. Try again, or end that process if it is stuck.",
        retry_at=time.time() + 1,
    )


def unavailable(path: Path, error: OSError) -> StoreUnavailable:
    """The error for a file or folder of the store that can't be used."""
    return StoreUnavailable(
        f"{path} can't be opened ({error.strerror}); give this user write access to {path.parent}, and room on its disk."
    )
