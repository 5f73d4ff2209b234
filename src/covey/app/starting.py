"""`covey up` and `covey down`: check before anything starts, wait until all is ready; stop all, and see that nothing is left."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import stat
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple

from covey.agents import roster
from covey.app import outer, snapshot
from covey.app.calling_off import call_off
from covey.app.groups import own_ports
from covey.app.noding import NODE
from covey.app.opening import apply, open_store, run_dir
from covey.app.tokens import tokens_of
from covey.base.clock import SystemClock
from covey.base.ending import end
from covey.base.errors import Failed, Misconfigured, PortTaken, StoreDamaged, StoreUnavailable
from covey.base.markers import Marker, marker, markers
from covey.base.ports import Free, Ours, probe, why_taken
from covey.base.processes import Identity, alive, send
from covey.base.progress import Tell
from covey.base.settings import Settings
from covey.base.target import authority_of
from covey.nodes.keeping import LEAVING_S
from covey.nodes.pinging import answers
from covey.nodes.watching import Watch
from covey.planning import templates
from covey.reports import spending
from covey.runner import holding
from covey.store import Store
from covey.tasks import runs

READY_S = 60.0
LOOK_S = 0.05
LOOK_EACH_S = 0.003
"""How often it is looked who answers: less often the more there are, who need the processor more than we do."""
PATIENCE_S = 2.0
NODE_S = 10.0
"""How long beside its processes' own time a node may take to end."""
Say = Callable[[str], None]


class Address(NamedTuple):
    """Where something of the fleet answers."""

    name: str
    url: str
    ready: bool


def running_node(settings: Settings) -> Marker | None:
    """The node that keeps this fleet now, or None."""
    return marker(run_dir(settings) / f"{NODE}.lock")


def as_started(settings: Settings) -> Settings:
    """The settings that a running fleet has."""
    path = snapshot.path_of(settings)
    return snapshot.read(path) if running_node(settings) is not None and path.exists() else settings


def addresses(settings: Settings) -> list[tuple[str, str, int]]:
    """Name, host and port of the console, the gateway, and every agent with a port of ours."""
    found = [(name, settings.host, port) for name, port in own_ports(settings)]
    here = [agent for agent in settings.agents if agent.brain.kind != "external" and (not settings.only or agent.id in settings.only)]
    return [*found, *((agent.id, settings.host, agent.port) for agent in here)]


async def look(settings: Settings) -> list[Address]:
    """Which of the fleet's addresses answer right now."""
    there = addresses(settings)
    ready = await asyncio.gather(*(answers(host, port, PATIENCE_S) for _, host, port in there))
    return [Address(name, url_of(host, port), answered) for (name, host, port), answered in zip(there, ready, strict=True)]


def url_of(host: str, port: int) -> str:
    """The address that a person opens. Pure."""
    return f"http://{authority_of(host, port)}"


def check_ports(settings: Settings) -> None:
    """Refuse to start where a stranger holds a port (A10).

    Raises:
        PortTaken: All such ports, each with its holder.
    """
    taken = []
    for _, host, port in addresses(settings):
        found = probe(host, port, run_dir(settings))
        if not isinstance(found, Free | Ours):
            taken.append(why_taken(host, port, found))
    if taken:
        raise PortTaken("\n".join(error.message for error in taken), field="port", ports=[error.details for error in taken])


def _refuse_shared(folder: Path) -> None:
    """Refuse a data folder in which others could put their own store and tokens in the place of ours."""
    why = why_shared(folder.stat(), os.geteuid())
    if why is not None:
        raise Misconfigured(
            f"the data folder {folder} {why}: others could put a store and tokens of theirs in the place of the fleet's. Make it this"
            " user's own (`chmod 700`), or choose another by --dir (data_dir)."
        )


def why_shared(status: os.stat_result, user: int) -> str | None:
    """Why a folder is not in the hands of this user alone; None if it is, as far as mode and owner tell. Pure.

    Root may work in anybody's folder, and anybody in one that root made for them. A group's right to write is its maker's to give.
    """
    if status.st_mode & stat.S_IWOTH:
        return f"may be written to by everybody (mode {stat.S_IMODE(status.st_mode):04o})"
    if user != 0 and status.st_uid not in (user, 0):
        return f"belongs to the user {status.st_uid}, and the fleet runs as {user}"
    return None


async def make_ready(settings: Settings) -> Path:
    """Everything that processes need before they start: folders, tokens, the store with its agents, the settings' snapshot."""
    for folder in (
        Path(settings.data_dir),
        run_dir(settings),
        Path(settings.data_dir) / "drop",
        Path(settings.logs_dir) / "system",
        Path(settings.logs_dir) / "agents",
    ):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700 if folder.is_relative_to(settings.data_dir) else 0o755)
        except OSError as error:
            raise Failed(
                f"{folder} can't be made ({error.strerror}); give this user write access, or choose another folder with --dir."
            ) from error
    _refuse_shared(Path(settings.data_dir))
    templates.check(settings.planning)
    store = open_store(settings)
    try:
        await store.write(apply, settings)
        await tokens_of(store, settings)
    finally:
        await store.close()
    return snapshot.write(settings)


async def budgets_of(settings: Settings) -> dict[str, Any]:
    """What the fleet may spend a day, and has spent (P3)."""
    store = open_store(settings)
    try:
        found: dict[str, Any] = await store.read(spending.overview)
        return found
    finally:
        await store.close()


async def wait_ready(settings: Settings, node: Identity, tell: Tell, timeout_s: float = READY_S) -> list[Address]:
    """Wait until everything answers.

    Raises:
        Failed: The node ended, or something did not come up in time; its log is named.
    """
    until = time.monotonic() + timeout_s
    there = addresses(settings)
    late = {name: (host, port) for name, host, port in there}
    said = -1
    while True:
        found = await asyncio.gather(*(answers(host, port, PATIENCE_S) for host, port in late.values()))
        late = {name: at for (name, at), answered in zip(late.items(), found, strict=True) if not answered}
        if len(late) != said:
            tell("getting ready", len(there) - len(late), len(there))
            said = len(late)
        if not late:
            return [Address(name, url_of(host, port), True) for name, host, port in there]
        names = ", ".join(list(late)[:20])
        if not alive(node):
            raise Failed(f"the node ended before {names} came up; {settings.logs_dir}/system/node.out says why.")
        if time.monotonic() > until:
            raise Failed(
                f"{names} did not come up in {timeout_s:.0f} s; {settings.logs_dir}/agents/ and system/node.out there say why."
                " What did come up runs on; `covey down` ends it."
            )
        await asyncio.sleep(LOOK_S + LOOK_EACH_S * len(late))


async def down(settings: Settings, say: Say) -> list[str]:
    """Stop all processes of this fleet; what could not be ended, as a rule nothing. Works whether the node lives or not.

    Raises:
        StoreUnavailable, StoreDamaged: The processes are ended, but the store can't say what else ran.
    """
    clock = SystemClock()
    there = call_off(settings, clock, (each.name for each in markers(run_dir(settings))))
    node = running_node(settings)
    if node is not None:
        say(f"the node (pid {node.pid}) ends its processes")
        send(node.identity, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2 * settings.grace_s + LEAVING_S + NODE_S):
                await Watch().exited(node.identity)
        await end(node.identity, grace_s=0.0, clock=clock)
    outer.forget(settings)
    left = {each.identity: each for each in markers(run_dir(settings))}
    for each in left.values():
        say(f"{each.name} (pid {each.pid}) is ended")
    remaining = await asyncio.gather(*(end(identity, grace_s=settings.grace_s + LEAVING_S, clock=clock) for identity in left))
    try:
        await end_brains(settings, clock, there | {each.name for each in left.values()})
    except (StoreUnavailable, StoreDamaged) as error:
        raise type(error)(
            f"the fleet's processes are ended; whether their brains left programs behind could not be seen: {error.message}"
        ) from error
    return [str(identity.pid) for each in remaining for identity in each] + [each.name for each in markers(run_dir(settings))]


async def end_brains(settings: Settings, clock: SystemClock, there: Collection[str]) -> None:
    """End what brains left running, and give their work back; the try counts only where the agent's process was not `there` (K4)."""
    store = open_store(settings, clock)
    try:
        for name in await store.read(roster.all_names):
            await _end_brain(store, name, clock, was_there=name in there)
    finally:
        await store.close()


async def _end_brain(store: Store, agent: str, clock: SystemClock, *, was_there: bool) -> None:
    found = await store.read(runs.open_of, agent)
    left = []
    for run in found:
        brain = Identity(run.pid, run.start_ticks or 0, run.boot_id or "") if run.pid else None
        left += await end(brain, run_id=run.id, pgid=run.pgid or 0, grace_s=0.0, clock=clock)
    if left or not found:
        return
    if was_there:
        await store.write(holding.return_all, agent, "the fleet was taken down")
    else:
        await store.write(holding.lose_all, agent)
