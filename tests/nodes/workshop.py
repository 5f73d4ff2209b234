"""A node in this process that keeps real processes, small ones: each holds its names' locks and answers pings on its port."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from covey.agents import roster
from covey.agents.model import Agent
from covey.base.clock import SystemClock
from covey.base.markers import Marker, marker, markers
from covey.base.processes import Identity, alive
from covey.nodes.forkserver import Spec
from covey.nodes.node import Duty, Group, Node
from covey.nodes.spawner import ExecSpawner, Spawner
from covey.nodes.watching import PingCounter, RestartPolicy, Watch
from covey.store import Store, events

BOUND_S = 30.0
AT_ONCE = RestartPolicy(longest_s=0.02)
ENTRIES = '''
import os, signal, socket, sys, time
from pathlib import Path
from covey.base.markers import NameLock

LOCKS = []

def live(run_dir, names, port, edition):
    """Hold the locks and answer on the port until SIGTERM."""
    for name in names:
        lock = NameLock(Path(run_dir) / f"{name}.lock")
        if not lock.take(name, port, edition):
            return 73
        LOCKS.append(lock)
    with socket.create_server(("127.0.0.1", port)) as server:
        while True:
            peer, _ = server.accept()
            with peer:
                peer.recv(1000)
                peer.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n")

def mute(run_dir, names, port, edition):
    """One that is still coming up: it holds its locks, and nobody listens yet."""
    locks = [NameLock(Path(run_dir) / f"{name}.lock") for name in names]
    assert all(lock.take(name, port, edition) for lock, name in zip(locks, names))
    time.sleep(600)

def deaf(run_dir, names, port, edition):
    """As `live`, and SIGTERM is nothing to it."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return live(run_dir, names, port, edition)

def crash(run_dir, names, port, edition):
    print("I was told to")
    print("the disk is on fire")
    return 4
'''


def free_port() -> int:
    """A port that nobody has."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


class Workshop:
    """The folder, the store and the nodes of a test."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self.folder = folder
        self.run_dir = folder / "run"
        self.run_dir.mkdir()
        (folder / "entries.py").write_text(ENTRIES)
        self.entries: dict[str, str] = {}
        self.groups: list[Group] = []
        self.nodes: list[Node] = []
        self.spawned: list[str] = []

    def group(self, *names: str, name: str = "", edition: str = "first") -> Group:
        """A group of agents with a port of its own."""
        return Group(name or names[0], names, "127.0.0.1", free_port(), edition)

    def spec(self, group: Group) -> Spec:
        """How its process is started."""
        self.spawned.append(group.name)
        return Spec(
            name=group.name,
            entry=f"entries:{self.entries.get(group.name, 'live')}",
            args=(str(self.run_dir), list(group.names), group.port, group.edition),
            env=dict(os.environ) | {"PYTHONPATH": os.pathsep.join([str(self.folder), *sys.path])},
            cwd=str(self.folder),
            log=str(self.folder / f"{group.name}.out"),
            title=f"covey {group.name}",
        )

    async def open(self, *groups: Group, **more: Any) -> Node:
        """A node that keeps these groups."""
        self.groups = list(groups)
        usual: dict[str, Any] = {
            "store": self.store,
            "clock": SystemClock(),
            "name": "here",
            "run_dir": self.run_dir,
            "spawner": ExecSpawner(),
            "watch": Watch(),
            "groups": lambda: self.groups,
            "spec": self.spec,
            "duties": list[Duty](),
            "grace_s": 5.0,
            "ping_s": 3600.0,
            "policy": AT_ONCE,
            "pings": PingCounter(grace_s=0.0),
        }
        node = Node(**(usual | more))
        self.nodes.append(node)
        await node.start()
        return node

    async def abandon(self, node: Node) -> None:
        """The node is gone, as if it had been killed: its processes live on."""
        self.nodes.remove(node)
        tasks = [*node._loops, *(task for _, task in node._kept.values())]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        node._watch.close()

    def marker(self, name: str) -> Marker | None:
        """Which process is this name now."""
        return marker(self.run_dir / f"{name}.lock")

    async def serving(self, name: str, other_than: Identity | None = None) -> Identity:
        """The process of a name, once it holds its lock (and is another one than that)."""

        async def is_there() -> bool:
            found = self.marker(name)
            return found is not None and found.identity != other_than

        await until(is_there)
        found = self.marker(name)
        assert found is not None
        return found.identity

    async def agent(self, name: str) -> Agent:
        """An agent as it is stored."""
        return await self.store.read(roster.find, name)

    async def kinds(self, agent: str) -> list[str]:
        """What happened to an agent, in order."""
        return [event.kind for event in await self.store.read(events.of_agent, agent)][::-1]

    async def close(self) -> None:
        """End all nodes and whatever they left."""
        for node in self.nodes:
            await node.stop()
        left = {each.identity for each in markers(self.run_dir) if alive(each.identity)}
        for identity in left:
            os.kill(identity.pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(identity.pid, 0)  # noqa: ASYNC222 - it has been killed


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    """Return once it is true; fail after a bound."""
    async with asyncio.timeout(BOUND_S):
        while not await true():  # noqa: ASYNC110 - processes are what is waited for
            await asyncio.sleep(0.01)


class SlowSpawner:
    """Starts processes once the test says so."""

    def __init__(self) -> None:
        self.asked, self.go_on = asyncio.Event(), asyncio.Event()
        self._inner: Spawner = ExecSpawner()

    async def spawn(self, spec: Spec) -> Identity:
        """As `Spawner.spawn`."""
        self.asked.set()
        await self.go_on.wait()
        return await self._inner.spawn(spec)

    async def close(self) -> None:
        """As `Spawner.close`."""
