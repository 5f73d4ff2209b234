"""`covey up` and `covey down`: check before anything starts, start the node, wait until all is ready; stop all, and see that nothing is left."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from covey.agents import roster
from covey.app import snapshot
from covey.app.groups import CONSOLE
from covey.app.noding import NODE
from covey.app.opening import apply, open_store, run_dir
from covey.app.tokens import tokens_of
from covey.base.clock import SystemClock
from covey.base.ending import end
from covey.base.errors import Failed, PortTaken
from covey.base.markers import Marker, marker, markers
from covey.base.ports import Free, Ours, probe, why_taken
from covey.base.processes import Identity, alive, send
from covey.base.settings import Settings
from covey.nodes.pinging import answers
from covey.runner import turns
from covey.store import Store
from covey.tasks import runs

READY_S = 60.0
Say = Callable[[str], None]


class Address(NamedTuple):
    """Where something of the fleet answers."""

    name: str
    url: str
    ready: bool


def running_node(settings: Settings) -> Marker | None:
    """The node that keeps this fleet now, or None."""
    return marker(run_dir(settings) / f"{NODE}.lock")


def addresses(settings: Settings) -> list[tuple[str, str, int]]:
    """Name, host and port of the console and of every agent with a port of ours."""
    found = [(CONSOLE, settings.host, settings.console_port)]
    here = [agent for agent in settings.agents if agent.brain.kind != "external" and (not settings.only or agent.id in settings.only)]
    return [*found, *((agent.id, settings.host, agent.port) for agent in here)]


async def look(settings: Settings) -> list[Address]:
    """Which of the fleet's addresses answer right now."""
    there = addresses(settings)
    ready = await asyncio.gather(*(answers(host, port, 2.0) for _, host, port in there))
    return [Address(name, f"http://{host}:{port}", answered) for (name, host, port), answered in zip(there, ready, strict=True)]


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
    store = open_store(settings)
    try:
        await store.write(apply, settings)
        await tokens_of(store, settings)
    finally:
        await store.close()
    return snapshot.write(settings)


async def wait_ready(settings: Settings, node: Identity, say: Say, timeout_s: float = READY_S) -> list[Address]:
    """Wait until everything answers.

    Raises:
        Failed: The node ended, or something did not come up in time; its log is named.
    """
    until = time.monotonic() + timeout_s
    said = -1
    while True:
        found = await look(settings)
        count = sum(each.ready for each in found)
        if count != said:
            say(f"{count} of {len(found)} ready")
            said = count
        if count == len(found):
            return found
        late = [each.name for each in found if not each.ready]
        if not alive(node):
            raise Failed(f"the node ended before {', '.join(late)} came up; {settings.logs_dir}/system/node.out says why.")
        if time.monotonic() > until:
            raise Failed(f"{', '.join(late)} did not come up in {timeout_s:.0f} s; {settings.logs_dir}/agents/{late[0]}.out says why.")
        await asyncio.sleep(0.05)


async def down(settings: Settings, say: Say) -> list[str]:
    """Stop all processes of this fleet; what could not be ended, as a rule nothing. Works whether the node lives or not."""
    node = running_node(settings)
    clock = SystemClock()
    if node is not None:
        say(f"the node (pid {node.pid}) ends its processes")
        send(node.identity, signal.SIGTERM)
        until = clock.boot() + settings.grace_s * 2 + 20
        while alive(node.identity) and clock.boot() < until:
            await asyncio.sleep(0.05)
        await end(node.identity, grace_s=0.0, clock=clock)
    left = markers(run_dir(settings))
    for each in left:
        say(f"{each.name} (pid {each.pid}) is ended")
    remaining = await asyncio.gather(*(end(each.identity, grace_s=settings.grace_s + 3, clock=clock) for each in left))
    await end_brains(settings, clock)
    return [str(identity.pid) for each in remaining for identity in each] + [each.name for each in markers(run_dir(settings))]


async def end_brains(settings: Settings, clock: SystemClock) -> None:
    """End what brains of dead agents left running, and give their work back."""
    store = open_store(settings, clock)
    try:
        for name in await store.read(roster.all_names):
            await _end_brain(store, name, clock)
    finally:
        await store.close()


async def _end_brain(store: Store, agent: str, clock: SystemClock) -> None:
    found = await store.read(runs.open_of, agent)
    for run in found:
        brain = Identity(run.pid, run.start_ticks or 0, run.boot_id or "") if run.pid else None
        await end(brain, run_id=run.id, pgid=run.pgid or 0, grace_s=0.0, clock=clock)
    if found:
        await store.write(turns.free_predecessor, agent)
