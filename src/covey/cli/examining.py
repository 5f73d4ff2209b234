"""What `covey doctor` looks at: each check gives findings, a sentence each, and what to do. It changes and makes nothing."""

from __future__ import annotations

import getpass
import os
import platform
import resource
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

from covey.app import gateway_doors, snapshot
from covey.app.opening import engine_of, run_dir, store_path
from covey.app.starting import addresses, running_node
from covey.base import token_file
from covey.base.errors import CoveyError, Misconfigured
from covey.base.ids import Ids
from covey.base.markers import markers
from covey.base.ports import Free, Ours, probe, why_taken
from covey.base.settings import Settings
from covey.base.target import target_of
from covey.notices import telling
from covey.notices.model import channel_of
from covey.reports import machine
from covey.reports.phrases import size
from covey.store.engine import Engine
from covey.version import __version__

Level = Literal["ok", "warn", "fail"]
_LARGE = 256 * 1000 * 1000
"""A larger store is not read through here."""
_OFF_S = 5.0
_FILES = 1024
_FAR = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "afs", "ceph", "glusterfs", "fuse.glusterfs", "lustre"})
"""File systems on which SQLite's locks are not to be trusted."""
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class Finding(NamedTuple):
    """One thing that was looked at."""

    level: Level
    about: str
    text: str
    todo: str = ""


Check = Callable[[Settings], Iterator[Finding]]


def checked(check: Check, about: str, settings: Settings) -> list[Finding]:
    """What a check finds. What keeps us from looking is a finding too."""
    try:
        return list(check(settings))
    except CoveyError as error:
        return [Finding("fail", about, error.message)]
    except OSError as error:
        return [
            Finding(
                "fail", about, f"{error.filename or 'a file'} can't be used: {error.strerror}.", "run this as the user whose fleet it is"
            )
        ]


def of_config(error: Misconfigured) -> list[Finding]:
    """Each fault of covey.toml."""
    if not error.faults:
        return [Finding("fail", "config", error.message)]
    return [Finding("fail", "config", f"{_place(fault)}{fault['path']} {fault['message']}", "mend covey.toml") for fault in error.faults]


def _place(fault: dict[str, Any]) -> str:
    return f"line {fault['line']}: " if fault["line"] else ""


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


def as_started(settings: Settings) -> Settings:
    """The settings that a running fleet has."""
    path = snapshot.path_of(settings)
    return snapshot.read(path) if running_node(settings) is not None and path.exists() else settings


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


def has_store(settings: Settings) -> bool:
    """Whether there is a store to look at; an embedded one is made by the first `covey up` or `covey send`."""
    return bool(settings.store) or store_path(settings).exists()


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


def openness(settings: Settings) -> Iterator[Finding]:
    """What is switched off or open beyond this machine."""
    if settings.limits == "off":
        yield Finding(
            "warn", "limits off", "quotas between agents are off: nothing stops two agents that talk without end.", 'limits = "on"'
        )
    if settings.host in _LOOPBACK:
        yield Finding("ok", "address", f"bound to {settings.host}: this machine alone can reach it")
        return
    opened = [name for name in ("open_status", "open_metrics") if getattr(settings, name)]
    also = f", and {' and '.join(opened)} let anybody read them" if opened else "; each call needs a token"
    yield Finding("warn", "address", f"bound to {settings.host}, beyond this machine{also}.", "put TLS before it, and a firewall")


def gateway(settings: Settings) -> Iterator[Finding]:
    """Which doors the gateway has, and what is missing for the others."""
    if settings.gateway == "off":
        yield Finding("ok", "gateway", "it is switched off (gateway = off)")
        return
    absent = [door for door in gateway_doors.DOORS if not gateway_doors.is_there(door)]
    if there := [door.name for door in gateway_doors.there()]:
        yield Finding("ok", "gateway", f"{' and '.join(there)} on port {as_started(settings).gateway_port}")
    for door in absent:
        yield Finding("ok", "gateway", f'there is no {door.name} door, {door.what}: pip install "covey[{door.extra}]" brings it')


def quotas(settings: Settings) -> Iterator[Finding]:
    """Whether links have their limits (L2)."""
    if settings.limits == "off":
        said = "limits = off: no link has a quota, so that agents who talk too much cost what they cost"
        yield Finding("warn", "links", said, 'write limits = "on" in covey.toml')
        return
    yield Finding("ok", "links", f"links = {settings.links}, with their limits")


def channels(settings: Settings) -> Iterator[Finding]:
    """Whether the operator can be told of alerts elsewhere, by the channels that are named; no address is repeated."""
    if not settings.notify:
        yield Finding("ok", "notices", "the operator is told of alerts in its inbox; `notify` in covey.toml names channels besides")
        return
    names = [channel_of(place, url) for place, url in enumerate(settings.notify)]
    if not telling.is_installed():
        said = f"{', '.join(names)}: Apprise is not installed, so alerts are told in the operator's inbox alone."
        yield Finding("warn", "notices", said, 'pip install "covey[notify]"')
        return
    strange = [name for name, url in zip(names, settings.notify, strict=True) if not telling.is_known(url)]
    if strange:
        yield Finding("fail", "notices", f"Apprise knows no such channel as {', '.join(strange)}.", "correct `notify` in covey.toml")
    else:
        yield Finding("ok", "notices", f"alerts go to the operator's inbox and to {', '.join(names)}")


def traces(settings: Settings) -> Iterator[Finding]:
    """Whether traces can be sent where they are to go, if anywhere."""
    where = settings.telemetry.traces
    if not where:
        return
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.exporter") is None:
        yield Finding("warn", "traces", f"they are to go to {where}, but OpenTelemetry is not installed.", 'pip install "covey[otel]"')
        return
    target = target_of(where, "traces")
    try:
        socket.create_connection((target.host, target.port), timeout=2).close()
    except OSError as error:
        yield Finding(
            "warn",
            "traces",
            f"nobody takes them at {where} ({error.strerror or error}).",
            "start the collector",
        )
    else:
        yield Finding("ok", "traces", f"they go to {where}")


CHECKS: tuple[tuple[str, Check], ...] = (
    ("versions", versions),
    ("fleet", processes),
    ("ports", ports),
    ("rights", rights),
    ("machine", disk),
    ("limits", limits),
    ("store", store),
    ("clock", clock),
    ("address", openness),
    ("gateway", gateway),
    ("links", quotas),
    ("notices", channels),
    ("traces", traces),
)
