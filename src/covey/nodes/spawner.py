"""Starts processes that have a session, a group and a log file of their own, and no pipe to us: they outlive us (H9).

Watching and ending them is others' job; nothing here opens the store.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from covey.base.errors import Failed
from covey.base.processes import Identity, send
from covey.nodes.forkserver import Reply, Spec

SERVER_FD = 3
TRIES = 3


class Spawner(Protocol):
    """What starts processes for a node. The simulation brings its own."""

    async def spawn(self, spec: Spec) -> Identity:
        """The new process, which may have ended already; it is a child of the caller.

        Raises:
            Failed: It could not be started.
        """
        ...

    async def close(self) -> None:
        """Start no more. What was started lives on."""
        ...


class ExecSpawner:
    """Starts a new Python for each process: slower and larger, with nothing that can fail in between."""

    async def spawn(self, spec: Spec) -> Identity:
        """The new process; as `Spawner.spawn`."""
        try:
            pid = launch(["run", msgspec.json.encode(spec).decode()], spec.env, Path(spec.log))
        except OSError as problem:
            raise Failed(f"{spec.name} can't be started: {problem}") from problem
        return identity_of(pid, spec.name)

    async def close(self) -> None:
        """Nothing to do."""


class _Server(NamedTuple):
    identity: Identity
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


class ForkServerSpawner:
    """Starts processes by our fork server, which it starts when first needed, and again when it died.

    One request at a time. If the server dies between fork and reply a process is started twice; the second finds the
    name's lock held and ends with EX_OWN_INSTANCE. The caller must be a child subreaper, else they are not its children.
    The server has `start_s` for its first answer, imports included, and `reply_s` for each other; then it is replaced.
    """

    def __init__(
        self, preload: Sequence[str], log: Path, env: Mapping[str, str] | None = None, *, start_s: float = 30.0, reply_s: float = 10.0
    ) -> None:
        self._preload = ",".join(preload)
        self._log = log
        self._env = env
        self._start_s = start_s
        self._reply_s = reply_s
        self._bound_s = start_s
        self._turn = asyncio.Lock()
        self._server: _Server | None = None

    async def spawn(self, spec: Spec) -> Identity:
        """The new process; as `Spawner.spawn`."""
        async with self._turn:
            reply = await self._ask(msgspec.json.encode(spec) + b"\n")
        if reply.error:
            raise Failed(f"{spec.name} can't be started: {reply.error}")
        return identity_of(reply.pid, spec.name)

    async def close(self) -> None:
        """End the fork server; what it forked lives on."""
        self._drop()

    async def _ask(self, line: bytes) -> Reply:
        for _ in range(TRIES):
            answer = b""
            try:
                answer = await self._exchange(self._server or await self._start(), line)
            except OSError:  # it has died, or was silent too long
                continue
            finally:
                if not answer.endswith(b"\n"):
                    self._drop()
            if answer:
                return msgspec.json.decode(answer, type=Reply)
        raise Failed(f"the fork server ended {TRIES} times before it answered; {self._log} says why")

    async def _exchange(self, server: _Server, line: bytes) -> bytes:
        server.writer.write(line)
        async with asyncio.timeout(self._bound_s):
            await server.writer.drain()
            answer = await server.reader.readline()
        self._bound_s = self._reply_s
        return answer

    async def _start(self) -> _Server:
        ours, theirs = socket.socketpair()
        with theirs:
            pid = launch([str(SERVER_FD), self._preload], os.environ if self._env is None else self._env, self._log, theirs.fileno())
        reader, writer = await asyncio.open_unix_connection(sock=ours)
        self._bound_s = self._start_s
        self._server = _Server(identity_of(pid, "the fork server"), reader, writer)
        return self._server

    def _drop(self) -> None:
        if self._server is None:
            return
        server, self._server = self._server, None
        server.writer.close()
        send(server.identity, signal.SIGKILL)
        asyncio.get_running_loop().run_in_executor(None, _reap, server.identity.pid)


def launch(args: Sequence[str], env: Mapping[str, str], log: Path, passed: int | None = None) -> int:
    """The pid of a new Python, our child, that runs the fork server's module with these arguments; `passed` is its descriptor 3.

    Raises:
        OSError: Its log can't be written, or it can't be started.
    """
    out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
    actions += [(os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, out, 2)]
    if passed is not None:
        actions.append((os.POSIX_SPAWN_DUP2, passed, SERVER_FD))
    try:
        return os.posix_spawn(
            sys.executable,
            [sys.executable, "-P", "-m", "covey.nodes.forkserver", *args],
            env,
            file_actions=actions,
            setsid=True,
            setsigmask=(),
            setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
        )
    finally:
        os.close(out)


def identity_of(pid: int, name: str) -> Identity:
    """The process just started.

    Raises:
        Failed: It has ended and somebody has reaped it already.
    """
    identity = Identity.of(pid)
    if identity is None:
        raise Failed(f"{name} (pid {pid}) ended at once; its log says why")
    return identity


def _reap(pid: int) -> None:
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:
        pass  # the node's round for orphans was first
