"""A process that serves one port of the whole fleet, the API's or the gateway's, until it is told to end (A10, H9)."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import NamedTuple

from covey.app import snapshot
from covey.app.opening import open_store, run_dir
from covey.app.process import BOUND_S, Leaving, gone_soon, log_to_stderr
from covey.base.clock import SystemClock
from covey.base.errors import CoveyError, PortTaken
from covey.base.loops import every
from covey.base.markers import NameLock
from covey.base.ports import EX_OWN_INSTANCE
from covey.base.settings import Settings
from covey.doors.door import FleetDoor
from covey.doors.serving import Application, serve
from covey.runner.watchdog import Watchdog

FOLLOW_S = 5.0


class Part(NamedTuple):
    """What such a process is: the name whose lock it holds, its port, and what opens its application."""

    name: str
    port_of: Callable[[Settings], int]
    opened: Callable[[FleetDoor, str], AbstractAsyncContextManager[Application]]
    """Takes the door, and the edition that a node has started, empty without a node."""
    bell: str
    """The bell of news that it hears."""


def main(part: Part, snapshot_path: str, edition: str = "") -> int:
    """Serve until told to end; the exit code."""
    log_to_stderr()
    settings = snapshot.read(Path(snapshot_path))
    try:
        return gone_soon(asyncio.run(run(part, settings, edition)))
    except CoveyError as error:
        sys.stderr.write(f"{part.name}: {error.message}\n")
        return EX_OWN_INSTANCE if isinstance(error, PortTaken) and error.details.get("own") else 1


async def run(part: Part, settings: Settings, edition: str = "") -> int:
    """Serve until SIGTERM or SIGINT."""
    lock = NameLock(run_dir(settings) / f"{part.name}.lock")
    if not lock.take(part.name, part.port_of(settings), edition):
        sys.stderr.write(f"the {part.name} runs already; there is nothing to start\n")
        return EX_OWN_INSTANCE
    leaving = Leaving(settings.grace_s + BOUND_S)
    leaving.hear_signals()
    watchdog = Watchdog(asyncio.get_running_loop(), settings.watchdog_s)
    watchdog.start()
    clock = SystemClock()
    store = open_store(settings, clock)
    try:
        door = FleetDoor(store=store, settings=settings, clock=clock, bell=part.bell)
        async with part.opened(door, edition) as app:
            serving = await serve(app, settings.host, part.port_of(settings), run_dir(settings))
            following = asyncio.create_task(every(FOLLOW_S, Follower(door).one_round, clock, "settings"))
            await leaving.asked.wait()
            following.cancel()
            await serving.stop()
    finally:
        await store.close()
        watchdog.stop()
        leaving.done()
    return leaving.code


class Follower:
    """Has a door go by the settings as they are now: a changed agent is no reason to start it anew."""

    def __init__(self, door: FleetDoor) -> None:
        self._door = door
        self._path = snapshot.path_of(door.settings)
        self._seen = 0

    async def one_round(self) -> None:
        """Read the snapshot, if it has been written since."""
        changed = self._path.stat().st_mtime_ns
        if changed != self._seen:
            self._seen, self._door.settings = changed, snapshot.read(self._path)
