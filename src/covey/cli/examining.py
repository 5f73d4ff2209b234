"""What `covey doctor` looks at, in its order, and the checks of this machine, its processes and the store. It changes and makes nothing."""

from __future__ import annotations

import getpass
import os
import platform
import resource
import time
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from covey.app.opening import engine_of, has_store, run_dir, store_path
from covey.app.starting import addresses, as_started, running_node
from covey.base import token_file
from covey.base.ids import Ids
from covey.base.markers import markers
from covey.base.ports import Free, Ours, probe, why_taken
from covey.base.settings import Settings
from covey.cli import examining_ways
from covey.cli.findings import Check, Finding
from covey.reports import machine
from covey.reports.phrases import size
from covey.store.engine import Engine
from covey.version import __version__

_LARGE = 256 * 1000 * 1000
"""A larger store is not read through here."""
_OFF_S = 5.0
_FILES = 1024
_FAR = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "afs", "ceph", "glusterfs", "fuse.glusterfs", "lustre"})
"""File systems on which SQLite's locks are not to be trusted."""


def versions(settings: Settings) -> Iterator[Finding]:
    """Covey, Python, the database's driver."""
    driver = "psycopg" if settings.store else "apsw"
    try:
        found = version(driver)
    except PackageNotFoundError:
        yield Finding("fail", "versions", f"{driver} is not installed, and the store needs it.", 'pip install "covey[postgres]"')
        return
    yield Finding(
        "ok", "versions", f"Covey {__version__}, Python {platform.python_version()}, {driver} {found}, Linux {platform.release()}"
    )


def processes(settings: Settings) -> Iterator[Finding]:
    """What of the fleet runs."""
    node = running_node(settings)
    if node is None:
        left = markers(run_dir(settings))
        names = ", ".join(each.name for each in left[:10])
        if left:
            yield Finding(
                "warn", "fleet", f"the node does not run, but {names} do.", "`covey up --detach` adopts them, `covey down` ends them"
            )
        else:
            yield Finding("ok", "fleet", "it does not run here")
        return
    wanted = {name for name, _, _ in addresses(as_started(settings))}
    missing = sorted(wanted - {each.name for each in markers(run_dir(settings))})
    if missing:
        yield Finding("fail", "fleet", f"these do not run: {', '.join(missing[:10])}.", f"`covey logs {missing[0]} --output` says why")
    else:
        yield Finding("ok", "fleet", f"it runs: the node (pid {node.pid}) and {len(wanted)} servers")


def ports(settings: Settings) -> Iterator[Finding]:
    """Whether each port is free, or held by us; who holds it otherwise (A10)."""
    there = addresses(as_started(settings))
    free = ours = 0
    for name, host, port in there:
        found = probe(host, port, run_dir(settings))
        free += isinstance(found, Free)
        ours += isinstance(found, Ours)
        if not isinstance(found, Free | Ours):
            yield Finding("fail", "ports", f"{name}: {why_taken(host, port, found).message}")
    if free + ours:
        low, high = min(port for _, _, port in there), max(port for _, _, port in there)
        yield Finding("ok", "ports", f"from {low} to {high}: {free} free, {ours} held by this fleet")


def rights(settings: Settings) -> Iterator[Finding]:
    """Whether we may write where we must, and others may not read what is secret."""
    data = Path(settings.data_dir)
    for folder in (data, Path(settings.shared_dir), Path(settings.logs_dir)):
        there = existing(folder)
        if not os.access(there, os.W_OK | os.X_OK):
            yield Finding(
                "fail", "rights", f"{getpass.getuser()} can't write in {there}.", "give this user write access, or choose another folder"
            )
    if data.exists() and data.stat().st_mode & 0o077:
        yield Finding("warn", "rights", f"{data} is open to others.", f"chmod 700 {data}")
    count = len(token_file.read(data))
    yield Finding(
        "ok", "rights", f"{count} tokens, readable by their owner alone" if count else "there are no tokens yet; `covey up` makes them"
    )


def existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    return next((each for each in (folder, *folder.absolute().parents) if each.exists()), Path("/"))


def disk(settings: Settings) -> Iterator[Finding]:
    """Room for the data, memory, and a file system that locks."""
    folder = existing(Path(settings.data_dir))
    figures = machine.health(folder)
    for said in figures["low"]:
        yield Finding("warn", "machine", said, "free some; below this the fleet takes only urgent work")
    kind = file_system(folder, Path("/proc/self/mountinfo").read_text(errors="replace"))
    if kind in _FAR and not settings.store:
        yield Finding(
            "fail",
            "disk",
            f"{folder} is on a {kind} file system, where SQLite's locks can't be trusted.",
            "use a local disk, or PostgreSQL",
        )
    memory = size(figures["memory"]["availableBytes"])
    yield Finding("ok", "machine", f"{size(figures['disk']['freeBytes'])} of disk free at {folder} ({kind}), {memory} of memory available")


def file_system(folder: Path, mounts: str) -> str:
    """The kind of file system that a folder is on, by the kernel's table of mounts. Pure."""
    best, kind = "", "unknown"
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        place = left.split()[4].replace("\\040", " ")
        if len(place) >= len(best) and folder.is_relative_to(place):
            best, kind = place, right.split()[0]
    return kind


def limits(_: Settings) -> Iterator[Finding]:
    """How much the system lets a process of ours have."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    instances = Path("/proc/sys/fs/inotify/max_user_instances")
    also = f", {instances.read_text().strip()} inotify instances for brains that use them" if instances.exists() else ""
    if soft != resource.RLIM_INFINITY and soft < _FILES:
        yield Finding(
            "warn", "limits", f"a process may have {soft} open files.", f"raise it: ulimit -n {_FILES}, or LimitNOFILE= of the service"
        )
    else:
        yield Finding("ok", "limits", f"{soft:,} open files a process{also}")


def clock(settings: Settings) -> Iterator[Finding]:
    """Store time beside the wall clock (T2)."""
    if not has_store(settings):
        return
    now = _store_time(engine_of(settings))
    ahead = now - time.time()
    if ahead > _OFF_S:
        todo = "leases go by store time, which never goes back; set the clock right, by NTP if you can"
        yield Finding("warn", "clock", f"store time is {ahead:.0f} s ahead of the wall clock: that one went back.", todo)
    elif ahead < -_OFF_S:
        todo = (
            "a running fleet steps forward by itself within seconds" if not settings.store else "let both machines take their time from NTP"
        )
        yield Finding("warn", "clock", f"store time is {-ahead:.0f} s behind the wall clock.", todo)
    else:
        yield Finding("ok", "clock", "store time and the wall clock agree")


def _store_time(engine: Engine) -> float:
    with closing(engine.reader(Ids())) as reader:
        tx = reader.begin()
        reader.end()
        return tx.now


def store(settings: Settings) -> Iterator[Finding]:
    """Whether the store can be opened and is sound."""
    if not has_store(settings):
        yield Finding("ok", "store", "there is none yet; `covey up` makes it")
        return
    if not settings.store and (large := store_path(settings).stat().st_size) > _LARGE:
        yield Finding("ok", "store", f"it is {size(large)}, too large to be read through here; `covey db check` does it")
        return
    found = engine_of(settings).faults()
    for each in found:
        yield Finding("fail", "store", each, "stop the fleet, keep the damaged store, and run `covey restore` with your last backup")
    if not found:
        yield Finding("ok", "store", "PostgreSQL answers, and every table can be read" if settings.store else "it is sound")


CHECKS: tuple[tuple[str, Check], ...] = (
    ("versions", versions),
    ("fleet", processes),
    ("ports", ports),
    ("rights", rights),
    ("machine", disk),
    ("limits", limits),
    ("store", store),
    ("clock", clock),
    ("address", examining_ways.openness),
    ("gateway", examining_ways.gateway),
    ("links", examining_ways.quotas),
    ("notices", examining_ways.channels),
    ("traces", examining_ways.traces),
)
