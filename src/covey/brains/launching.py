"""How the process of a brain is started: program, folder, a minimal environment, another account. It feeds, reads and ends nothing."""

from __future__ import annotations

import errno
import os
import pwd
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from covey.base import tracing
from covey.base.clock import Clock, SystemClock
from covey.base.ending import RUN_VARIABLE
from covey.base.errors import Failed, Misconfigured
from covey.base.settings import AgentSettings

PASSED_ON = frozenset({"PATH", "HOME", "LANG", "TZ", "USER"})
"""Of our own environment a brain gets these and LC_*; no other variable of the operator's reaches it."""


class Account(NamedTuple):
    """Whom a brain's process runs as, where that is not us."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str


class Launch(NamedTuple):
    """One process to be started, leading a session and group of its own."""

    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str]
    account: Account | None


_CLOCK = SystemClock()
Spawn = Callable[[Launch], "subprocess.Popen[bytes]"]


def spawn(launch: Launch) -> subprocess.Popen[bytes]:
    """The process, started, with pipes to its three streams.

    Raises:
        OSError: The program, its interpreter or the folder is not there, or the kernel refused.
    """
    account = launch.account
    return subprocess.Popen(
        launch.argv,
        cwd=launch.cwd or None,
        env=launch.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=account.groups if account else None,
    )


@dataclass(frozen=True, slots=True)
class Site:
    """What an agent's process lends its brain: its address and token, the data folder, how long an ending may take, clock, spawner."""

    url: str = ""
    token: str = field(default="", repr=False)
    data_dir: Path | None = None
    grace_s: float = 5.0
    clock: Clock = _CLOCK
    spawn: Spawn = spawn
    allow_private: tuple[str, ...] = ()
    """Places that agents of other systems may be called at though they are private."""


def account_of(name: str) -> Account | None:
    """The account that `user = "…"` names; None where none is named, or it is our own.

    Raises:
        Misconfigured: There is no such account, or we are not root and can't become it.
    """
    if not name:
        return None
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        raise Misconfigured(f'user = "{name}": this machine has no such account; make it, or leave `user` out.') from None
    if entry.pw_uid == os.geteuid():
        return None
    if os.geteuid() != 0:
        raise Misconfigured(
            f'user = "{name}": only root can run a brain under another account; start the fleet as root, or leave `user` out.'
        )
    return Account(name, entry.pw_uid, entry.pw_gid, tuple(os.getgrouplist(name, entry.pw_gid)), entry.pw_dir)


def environment(
    settings: AgentSettings, site: Site, run_id: str, account: Account | None = None, ours: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The whole environment of a brain's process: the little of ours that is passed on, the agent's `env`, its own address and token.

    COVEY_RUN marks it and all that it starts (K4c). By TRACEPARENT a program that traces its own work goes on from here, where there is a
    trace. `ours` is os.environ unless told.
    """
    ours = os.environ if ours is None else ours
    found = {name: value for name, value in ours.items() if name in PASSED_ON or name.startswith("LC_")}
    found.setdefault("PATH", os.defpath)
    if account is not None:
        found |= {"HOME": account.home, "USER": account.name}
    marks = {"COVEY_AGENT": settings.id, RUN_VARIABLE: run_id, "COVEY_URL": site.url, "COVEY_TOKEN": site.token}
    trace = tracing.current()
    return found | {"TERM": "dumb"} | settings.env | marks | ({"TRACEPARENT": trace.header} if trace is not None else {})


class NotStarted(Failed):
    """The process could not be started; `permanent` where it would not start at another try either."""

    def __init__(self, launch: Launch, error: OSError) -> None:
        super().__init__(_why(launch, error))
        self.permanent = error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.ENOEXEC, errno.E2BIG, errno.EISDIR)


def _why(launch: Launch, error: OSError) -> str:
    program = launch.argv[0]
    if launch.cwd and not Path(launch.cwd).is_dir():
        return f"the folder {launch.cwd}, where the brain is to run, is not there; make it, or correct `cwd`."
    if error.errno == errno.ENOENT and "/" in program:
        return f"the command {program} is not there, or the interpreter in its first line is not; looked in {launch.cwd or Path.cwd()}."
    if error.errno == errno.ENOENT:
        return f"the command {program} was not found; PATH is {launch.env.get('PATH', '')}. Install it, or give its whole path."
    if error.errno == errno.EACCES:
        return (
            f"the command {program} is not executable for {launch.account.name if launch.account else 'us'} in {launch.cwd or Path.cwd()}."
        )
    if error.errno == errno.ENOEXEC:
        return f"the command {program} is no program: a script needs a first line as #!/bin/sh."
    return f"the command {program} could not be started: {error.strerror or error}."
