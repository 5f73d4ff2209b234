"""The process on port 8000: the fleet's API (the console's pages join it)."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from covey.api.door import FleetDoor
from covey.api.fleet_port import make_app
from covey.api.serving import serve
from covey.app import snapshot
from covey.app.groups import CONSOLE
from covey.app.noding import log_to_stderr
from covey.app.opening import open_store, run_dir
from covey.base.clock import SystemClock
from covey.base.errors import CoveyError, PortTaken
from covey.base.markers import NameLock
from covey.base.ports import EX_OWN_INSTANCE
from covey.base.settings import Settings
from covey.runner.watchdog import Watchdog


def main(snapshot_path: str) -> int:
    """Serve the fleet's API until told to end; the exit code."""
    log_to_stderr()
    settings = snapshot.read(Path(snapshot_path))
    try:
        return asyncio.run(run(settings))
    except CoveyError as error:
        print(f"console: {error.message}", file=sys.stderr)
        return EX_OWN_INSTANCE if isinstance(error, PortTaken) and error.details.get("own") else 1


async def run(settings: Settings) -> int:
    """Serve until SIGTERM or SIGINT."""
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    lock = NameLock(run_dir(settings) / f"{CONSOLE}.lock")
    if not lock.take(CONSOLE, settings.console_port):
        return EX_OWN_INSTANCE
    store = open_store(settings, SystemClock())
    watchdog = Watchdog(loop, settings.watchdog_s)
    watchdog.start()
    try:
        serving = await serve(make_app(FleetDoor(store=store, settings=settings)), settings.host, settings.console_port, run_dir(settings))
        await stopping.wait()
        await serving.stop()
    finally:
        watchdog.stop()
        await store.close()
    return 0
