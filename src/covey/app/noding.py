"""The node's process: it opens the store, keeps the agents' and the console's processes, and goes round with its duties."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from pathlib import Path

from covey.app import snapshot
from covey.app.duties import LockWatch, News, duties
from covey.app.filing import file_duties
from covey.app.groups import CONSOLE, groups_of
from covey.app.opening import open_store, run_dir
from covey.base.clock import SystemClock
from covey.base.markers import NameLock
from covey.base.ports import EX_OWN_INSTANCE
from covey.base.processes import Identity, become_subreaper, set_title
from covey.base.settings import Settings
from covey.nodes import records
from covey.nodes.forkserver import Spec
from covey.nodes.node import Group, Node
from covey.nodes.spawner import ForkServerSpawner
from covey.nodes.watching import Watch
from covey.version import __version__

log = logging.getLogger("covey.node")

NODE = "node"
PRELOAD = ("covey.app.hosting", "covey.app.consoling", "covey.brains.making", "covey.brains.rules", "covey.brains.python", "psutil")


def node_name() -> str:
    """This machine's name as a node."""
    return os.environ.get("COVEY_NODE") or socket.gethostname().split(".")[0] or "node"


def main(snapshot_path: str) -> int:
    """Be the node until told to end; the exit code."""
    log_to_stderr()
    return asyncio.run(run(snapshot.read(Path(snapshot_path))))


def log_to_stderr() -> None:
    """Lines of this process's own log, with time and level."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True)


async def run(settings: Settings, *, children: bool = True) -> int:
    """Keep the fleet until SIGTERM or SIGINT; without `children` only the duties (a controller alone)."""
    lock = NameLock(run_dir(settings) / f"{NODE}.lock")
    if not lock.take(NODE, settings.console_port):
        return EX_OWN_INSTANCE
    set_title("covey node")
    become_subreaper()
    clock = SystemClock()
    store = open_store(settings, clock)
    watch = Watch()
    latest = [settings]

    def rearrange() -> None:
        latest[0] = snapshot.read(snapshot.path_of(settings))
        node.arrange()

    news, lock_watch = News(store, rearrange), LockWatch(settings, clock)
    node = Node(
        store=store,
        clock=clock,
        name=node_name(),
        run_dir=run_dir(settings),
        spawner=ForkServerSpawner(PRELOAD, Path(settings.logs_dir) / "system" / "forkserver.out"),
        watch=watch,
        groups=lambda: groups_of(latest[0]) if children else [],
        spec=lambda group: spec_of(latest[0], group),
        duties=[*duties(store, settings, clock, news, lock_watch), *file_duties(store, settings, clock)],
        grace_s=settings.grace_s,
    )
    news.node = lock_watch.node = node
    me = Identity.of(os.getpid())
    assert me is not None
    await store.write(
        records.register,
        node.name,
        host=socket.gethostname(),
        pid=me.pid,
        start_ticks=me.start_ticks,
        boot_id=me.boot_id,
        version=__version__,
    )
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    stop_listening = store.bell.listen(NODE, lambda: None)
    await node.start()
    await stopping.wait()
    left = await node.stop()
    stop_listening()
    await store.close()
    lock.release()
    for identity in left:
        log.error("pid %d could not be ended", identity.pid)
    return 1 if left else 0


def spec_of(settings: Settings, group: Group) -> Spec:
    """How a group's process is started."""
    logs = Path(settings.logs_dir) / ("system" if group.name == CONSOLE else "agents")
    with contextlib.suppress(OSError):
        logs.mkdir(parents=True, exist_ok=True)
    path = str(snapshot.path_of(settings))
    entry = "covey.app.consoling:main" if group.name == CONSOLE else "covey.app.hosting:main"
    return Spec(
        name=group.name,
        entry=entry,
        args=(path,) if group.name == CONSOLE else (path, list(group.agents), node_name()),
        env=dict(os.environ),
        cwd=settings.root or str(Path.cwd()),
        log=str(logs / f"{group.name}.out"),
        title=f"covey {'agent ' if group.agents else ''}{group.name}",
    )
