"""What `covey doctor` finds about the brains: whether each can start, and how far they are kept apart. It runs no turn."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from covey.base.errors import Misconfigured
from covey.base.settings import AgentSettings, Settings
from covey.brains.launching import account_of
from covey.brains.models.options import check, options_of
from covey.brains.presets import PRESETS
from covey.cli.findings import Finding

IMPORT_S = 30.0
_LOAD = """
import sys
from covey.base.errors import CoveyError
from covey.brains.loading import load
try:
    load(*sys.argv[1:])
except CoveyError as error:
    sys.exit(error.message)
"""


def brains(settings: Settings) -> Iterator[Finding]:
    """Whether each brain's folder, account, program or function is there."""
    found = [finding for agent in settings.agents for finding in _of_agent(agent)]
    targets = {(agent.brain.target, agent.cwd): agent.id for agent in settings.agents if agent.brain.kind == "python"}
    found += [finding for (target, folder), name in targets.items() for finding in _of_target(name, target, folder)]
    yield from found
    if not found:
        kinds = sorted({agent.brain.kind for agent in settings.agents})
        yield Finding("ok", "brains", f"all {len(settings.agents)} can start ({', '.join(kinds)})")


def _of_agent(agent: AgentSettings) -> Iterator[Finding]:
    if agent.brain.kind in ("command", "python") and not Path(agent.cwd).is_dir():
        yield Finding("fail", "brains", f"{agent.id}: its folder {agent.cwd} is not there.", "make it, or correct `cwd`")
    try:
        account_of(agent.user)
    except Misconfigured as error:
        yield Finding("fail", "brains", f"{agent.id}: {error.message}")
    if agent.brain.kind == "model":
        yield from _of_model(agent)
    if agent.brain.kind == "command" and not can_start(agent):
        todo = "install it, give its whole path, or make it executable"
        yield Finding("fail", "brains", f"{agent.id}: the command {program_of(agent)} was not found.", todo)


def _of_model(agent: AgentSettings) -> Iterator[Finding]:
    """What can be known of a model without asking it: its options, its extra, its key."""
    try:
        check(agent, options_of(agent))
    except Misconfigured as error:
        yield Finding("fail", "brains", error.message)


def program_of(agent: AgentSettings) -> str:
    """The program of a command brain."""
    return PRESETS[agent.brain.preset].begin[0] if agent.brain.preset else agent.brain.command[0]


def can_start(agent: AgentSettings) -> bool:
    """Whether an agent's program is there and executable, as its brain's process will look for it."""
    program = program_of(agent)
    if "/" in program:
        path = Path(agent.cwd) / program
        return path.is_file() and os.access(path, os.X_OK)
    return shutil.which(program, path=agent.env.get("PATH") or os.environ.get("PATH", os.defpath)) is not None


def _of_target(name: str, target: str, folder: str) -> Iterator[Finding]:
    """Import it in a process of its own: what it does at import must not touch us."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _LOAD, target, folder], cwd=folder, capture_output=True, text=True, timeout=IMPORT_S, check=False
        )
    except subprocess.TimeoutExpired:
        yield Finding(
            "fail", "brains", f"{name}: importing {target} took longer than {IMPORT_S:.0f} s.", "let the module do less at import"
        )
        return
    except OSError:
        return  # its folder is not there, which is said already
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        yield Finding("fail", "brains", f"{name}: {said[-1] if said else f'importing {target} ended with {done.returncode}'}")


def isolation(settings: Settings) -> Iterator[Finding]:
    """How far brains are kept from each other's tokens and work."""
    alone = [agent.id for agent in settings.agents if agent.brain.kind in ("command", "python") and not agent.user]
    if not alone:
        yield Finding("ok", "isolation", "no brain runs foreign code as the fleet's own user")
        return
    names = f"{', '.join(alone[:8])}{' …' if len(alone) > 8 else ''}"
    text = f"the brains of {names} run as {getpass.getuser()}: brains of one user can read each other's tokens and act as each other."
    yield Finding("warn", "isolation", text, 'a command brain with `user = "…"` in a fleet started by root runs under another account')
