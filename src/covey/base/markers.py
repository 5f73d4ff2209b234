"""How our processes are known: each holds the lock `run/NAME.lock` for life, and says in it who it is (H7a).

The lock is the truth, the text only says whose it is. Nothing here ends a process or removes a file.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

import msgspec

from covey.base.processes import Identity, alive


class Marker(msgspec.Struct, frozen=True, rename="camel"):
    """What `run/NAME.lock` says: which process is that agent (or node), its port (0: none), its settings' edition (empty: unknown)."""

    pid: int
    start_ticks: int
    boot_id: str
    name: str
    port: int = 0
    edition: str = ""

    @property
    def identity(self) -> Identity:
        """The process alone."""
        return Identity(self.pid, self.start_ticks, self.boot_id)


class NameLock:
    """The marker of a process of ours: a lock on `run/NAME.lock`, held until the process ends, stopped or not (H7a).

    No child keeps it: a command loses it at exec, a forked process at once.
    """

    TRIES = 40
    WAIT_S = 0.005

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = -1

    def take(self, name: str, port: int = 0, edition: str = "") -> bool:
        """Whether we hold it now; False if another process does. Waits up to 0.2 s, since whoever asks `holder` holds it for a moment.

        Raises:
            OSError: The file can't be made or written.
        """
        me = Identity.of(os.getpid())
        assert me is not None
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not self._try(file):
            os.close(file)
            return False
        self._file = file
        os.register_at_fork(after_in_child=self.release)
        text = msgspec.json.encode(Marker(me.pid, me.start_ticks, me.boot_id, name, port, edition))
        os.pwrite(file, text, 0)
        os.ftruncate(file, len(text))
        return True

    def _try(self, file: int) -> bool:
        for _ in range(self.TRIES):
            if _locked(file, fcntl.LOCK_EX):
                return True
            time.sleep(self.WAIT_S)
        return False

    def release(self) -> None:
        """Let go of it. In a forked process that is no loss to the parent, which holds on."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _locked(file: int, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def marker(path: Path) -> Marker | None:
    """Who holds `run/NAME.lock` right now; None if nobody does, whatever the file says, or nobody of this machine that we can see."""
    try:
        with path.open("rb") as file:
            found = msgspec.json.decode(file.read(), type=Marker)
            return None if not alive(found.identity) or _locked(file.fileno(), fcntl.LOCK_SH) else found
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def holder(path: Path) -> Identity | None:
    """The process that holds `run/NAME.lock` right now; as `marker`."""
    found = marker(path)
    return found.identity if found else None


def servers(run_dir: Path) -> list[Marker]:
    """The processes of this machine that hold no agent and serve a port: the API's and the gateway's."""
    return [found for name in ("console", "gateway") if (found := marker(run_dir / f"{name}.lock")) is not None]


def markers(run_dir: Path) -> list[Marker]:
    """All processes of ours that live, by the locks they hold: what a new node adopts (H9)."""
    return [found for path in sorted(run_dir.glob("*.lock")) if (found := marker(path)) is not None]
