"""The process on port 8000: the fleet's API (the console's pages join it)."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from covey.api.fleet_port import make_app
from covey.app import snapshot
from covey.app.groups import CONSOLE
from covey.app.opening import open_store, run_dir
from covey.app.process import BOUND_S, Leaving, gone_soon, log_to_stderr
from covey.app.reviving import Reviver
from covey.base.clock import SystemClock
from covey.base.errors import CoveyError, PortTaken
from covey.base.loops import every
from covey.base.markers import NameLock
from covey.base.ports import EX_OWN_INSTANCE
from covey.base.settings import Settings
from covey.doors.door import FleetDoor
from covey.doors.serving import serve
from covey.nodes.spawner import ExecSpawner
from covey.runner.watchdog import Watchdog

FOLLOW_S = 5.0


def main(snapshot_path: str, edition: str = "") -> int:
    """Serve the fleet's API until told to end; the exit code."""
    log_to_stderr()
    settings = snapshot.read(Path(snapshot_path))
    try:
        return gone_soon(asyncio.run(run(settings, edition)))
    except CoveyError as error:
        sys.stderr.write(f"console: {error.message}\n")
        return EX_OWN_INSTANCE if isinstance(error, PortTaken) and error.details.get("own") else 1


async def run(settings: Settings, edition: str = "") -> int:
    """Serve until SIGTERM or SIGINT."""
    lock = NameLock(run_dir(settings) / f"{CONSOLE}.lock")
    if not lock.take(CONSOLE, settings.console_port, edition):
        sys.stderr.write("the console runs already; there is nothing to start\n")
        return EX_OWN_INSTANCE
    leaving = Leaving(settings.grace_s + BOUND_S)
    leaving.hear_signals()
    watchdog = Watchdog(asyncio.get_running_loop(), settings.watchdog_s)
    watchdog.start()
    clock = SystemClock()
    store = open_store(settings, clock)
    try:
        door = FleetDoor(store=store, settings=settings)
        serving = await serve(make_app(door), settings.host, settings.console_port, run_dir(settings))
        rounds = [asyncio.create_task(every(FOLLOW_S, Follower(door).one_round, clock, "settings"))]
        if edition:  # a node has started this process, and is to be there
            reviver = Reviver(lambda: door.settings, ExecSpawner().spawn)
            rounds.append(asyncio.create_task(every(FOLLOW_S, reviver.one_round, clock, "the node")))
        await leaving.asked.wait()
        for task in rounds:
            task.cancel()
        await serving.stop()
    finally:
        await store.close()
        watchdog.stop()
        leaving.done()
    return leaving.code


class Follower:
    """Has the API go by the settings as they are now: a changed agent is no reason to start it anew."""

    def __init__(self, door: FleetDoor) -> None:
        self._door = door
        self._path = snapshot.path_of(door.settings)
        self._seen = 0

    async def one_round(self) -> None:
        """Read the snapshot, if it has been written since."""
        changed = self._path.stat().st_mtime_ns
        if changed != self._seen:
            self._seen, self._door.settings = changed, snapshot.read(self._path)
