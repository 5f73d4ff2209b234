"""The node's process: it opens the store, keeps the agents' and the console's processes, and goes round with its duties."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from covey.app import outer, snapshot
from covey.app.buddy_duties import buddy_duties
from covey.app.calling_off import is_called_off
from covey.app.duties import Keeping, LockWatch, News, duties
from covey.app.filing import file_duties
from covey.app.groups import CONSOLE, GATEWAY, groups_of
from covey.app.node_spec import NODE
from covey.app.opening import open_store, run_dir
from covey.app.process import BOUND_S, Leaving, gone_soon, log_to_stderr
from covey.base.clock import SystemClock
from covey.base.errors import CoveyError
from covey.base.markers import NameLock
from covey.base.ports import EX_OWN_INSTANCE
from covey.base.processes import Identity, become_subreaper, set_title
from covey.base.settings import Settings
from covey.nodes import records
from covey.nodes.forkserver import Spec
from covey.nodes.keeping import LEAVING_S
from covey.nodes.node import Group, Node
from covey.nodes.spawner import ForkServerSpawner
from covey.nodes.watching import Watch
from covey.runner.watchdog import Watchdog
from covey.store import Store
from covey.version import __version__

__all__ = ["NODE", "log_to_stderr", "main", "node_name", "run", "spec_of"]

log = logging.getLogger("covey.node")

ENTRIES = {CONSOLE: "covey.app.consoling:main", GATEWAY: "covey.app.gateway:main"}
"""The processes of the fleet's own, which hold no agent, by name."""
HOLDS_AGENTS = "covey.app.hosting:main"
PRELOAD = ("covey.app.hosting", "covey.app.consoling", "covey.brains.making", "covey.brains.rules", "covey.brains.python", "psutil")


def node_name() -> str:
    """This machine's name as a node."""
    return os.environ.get("COVEY_NODE") or socket.gethostname().split(".")[0] or "node"


def main(snapshot_path: str) -> int:
    """Be the node until told to end; the exit code."""
    log_to_stderr()
    try:
        return gone_soon(asyncio.run(run(snapshot.read(Path(snapshot_path)))))
    except CoveyError as error:
        sys.stderr.write(f"node: {error.message}\n")
        return 1


async def run(settings: Settings, *, children: bool = True) -> int:
    """Keep the fleet until SIGTERM or SIGINT; without `children` only the duties (a controller alone)."""
    lock = NameLock(run_dir(settings) / f"{NODE}.lock")
    if not lock.take(NODE, settings.console_port):
        sys.stderr.write("a node keeps this fleet already; there is nothing to start\n")
        return EX_OWN_INSTANCE
    clock = SystemClock()
    if is_called_off(settings, clock):
        sys.stderr.write("the fleet was taken down while it was starting; nothing is started\n")
        return 0
    leaving = Leaving(2 * settings.grace_s + LEAVING_S + BOUND_S)
    leaving.hear_signals()
    set_title("covey node")
    become_subreaper()
    watchdog = Watchdog(asyncio.get_running_loop(), settings.watchdog_s)
    watchdog.start()
    store = open_store(settings, clock)
    try:
        node, news = _node(store, settings, clock, children=children)
        await _register(store, node.name)
        await news.one_round()
        stop_listening = store.bell.listen(NODE, news.rung)
        await node.start()
        await leaving.asked.wait()
        stop_listening()
        left = await node.stop()
        outer.forget(settings)
    finally:
        await store.close()
        watchdog.stop()
        leaving.done()
        lock.release()
    for identity in left:
        log.error("pid %d could not be ended", identity.pid)
    return 1 if left else leaving.code


def _node(store: Store, settings: Settings, clock: SystemClock, *, children: bool) -> tuple[Node, News]:
    """The node with its duties, and what tells it the news."""
    latest = Latest(settings)
    news, lock_watch = News(store, lambda: latest.read_again(node.arrange)), LockWatch(settings, clock)
    keeping = Keeping(store, clock, node_name(), lambda: latest.settings)
    node = Node(
        store=store,
        clock=clock,
        name=keeping.node,
        run_dir=run_dir(settings),
        spawner=ForkServerSpawner(preloaded(settings), Path(settings.logs_dir) / "system" / "forkserver.out"),
        watch=Watch(),
        groups=lambda: groups_of(latest.settings) if children else [],
        spec=lambda group: spec_of(latest.settings, group),
        duties=[*duties(keeping, news, lock_watch), *buddy_duties(keeping), *file_duties(store, settings, clock)],
        grace_s=settings.grace_s,
    )
    news.node = lock_watch.node = node
    return node, news


def preloaded(settings: Settings) -> tuple[str, ...]:
    """What the processes that are forked have in common: OpenTelemetry only where traces are sent, for each would have it for itself."""
    return (*PRELOAD, "covey.telemetry.exporting") if settings.telemetry.traces else PRELOAD


class Latest:
    """The settings as they are now: the snapshot's."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def read_again(self, then: Callable[[], None]) -> None:
        """Read the snapshot and act on it."""
        self.settings = snapshot.read(snapshot.path_of(self.settings))
        then()


async def _register(store: Store, name: str) -> None:
    """Say that this machine's node is there.

    Raises:
        Conflict: Another live node has this name.
    """
    me = Identity.of(os.getpid())
    assert me is not None
    await store.write(
        records.register, name, host=socket.gethostname(), pid=me.pid, start_ticks=me.start_ticks, boot_id=me.boot_id, version=__version__
    )


def spec_of(settings: Settings, group: Group) -> Spec:
    """How a group's process is started."""
    logs = Path(settings.logs_dir) / ("agents" if group.agents else "system")
    with contextlib.suppress(OSError):
        logs.mkdir(parents=True, exist_ok=True)
    path = str(snapshot.path_of(settings))
    return Spec(
        name=group.name,
        entry=HOLDS_AGENTS if group.agents else ENTRIES[group.name],
        args=(path, list(group.agents), node_name(), group.edition) if group.agents else (path, group.edition),
        env=dict(os.environ),
        cwd=settings.root or str(Path.cwd()),
        log=str(logs / f"{group.name}.out"),
        title=f"covey {'agent ' if group.agents else ''}{group.name}",
    )
