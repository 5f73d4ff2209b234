"""Who may read or change what only the fleet should: its files' rights, its addresses. It looks at modes, never into a secret."""

from __future__ import annotations

import os
import stat
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

PRIVATE = ("tokens.toml", "store.db", "store.db-wal", "store.db-shm", "store.db.lock", "run", "archive")
"""In the data folder; nobody but the owner may read them."""


class Audit(NamedTuple):
    """What is wrong, what is in order, what was not there."""

    faults: list[str]
    fine: list[str]
    missing: list[str]

    @property
    def checked(self) -> list[str]:
        """All that was looked at."""
        return self.faults + self.fine


def audit(data_dir: Path, root: Path, hosts: list[str]) -> Audit:
    """What the rights of the data folder, of covey.toml and the addresses come to. Blocks on the disk."""
    found = Audit([], [], [])
    _private(found, data_dir, "the data folder")
    for name in PRIVATE:
        _private(found, data_dir / name, name)
    _unchangeable(found, root / "covey.toml")
    for host in hosts:
        _address(found, host)
    if os.geteuid() == 0:
        found.faults.append("the fleet runs as root; brains without `user` do so too")
    else:
        found.fine.append("the fleet does not run as root")
    return found


def _private(found: Audit, path: Path, name: str) -> None:
    try:
        status = path.lstat()
    except OSError:
        found.missing.append(name)
        return
    mode = stat.S_IMODE(status.st_mode)
    wanted = 0o700 if stat.S_ISDIR(status.st_mode) else 0o600
    if mode & 0o077:
        found.faults.append(f"others may get at {name}: its mode is {mode:04o}; `chmod {wanted:o} {path}` closes it")
    elif status.st_uid != os.geteuid():
        found.faults.append(f"{name} belongs to user {status.st_uid}, not to the fleet's user {os.geteuid()}")
    else:
        found.fine.append(f"{name} is private ({mode:04o})")


def _unchangeable(found: Audit, path: Path) -> None:
    """What says which programs run may be changed by its owner alone."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        found.missing.append(path.name)
        return
    if mode & 0o022:
        found.faults.append(
            f"others may change {path.name}, which says what brains run: its mode is {mode:04o}; `chmod 644 {path}` closes it"
        )
    else:
        found.fine.append(f"{path.name} can be changed by its owner alone ({mode:04o})")


def _address(found: Audit, host: str) -> None:
    try:
        loopback = ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    if loopback:
        found.fine.append(f"the agents listen on {host}, which this machine alone can reach")
    else:
        found.faults.append(f"the agents listen on {host}, which other machines may reach; tokens are all that keeps them out")
