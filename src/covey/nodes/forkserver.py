"""A process that has imported what agents need and forks on request, so that one starts in milliseconds and shares its memory.

Run by the node as `python -P -m covey.nodes.forkserver FD MODULES`; requests and replies are lines of JSON on that socket. It is
single-threaded, opens no store, runs no loop, and ends when the node's end of the socket closes; what it forked lives on.
`python -P -m covey.nodes.forkserver run SPEC` becomes one such process without a server.
"""

from __future__ import annotations

import gc
import importlib
import io
import os
import signal
import socket
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import msgspec

from covey.base.processes import set_title


class Spec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A process to start: a Python function, and all that it finds around it."""

    name: str
    entry: str
    """`module:function`; an int that it returns is the exit code, anything else is 0."""
    args: tuple[Any, ...] = ()
    """Its arguments, as JSON can carry them."""
    env: dict[str, str]
    """The whole environment. Python's own variables (PYTHONPATH …) are read at the server's start, not again."""
    cwd: str
    log: str
    """The file that gets stdout and stderr, appended; made with mode 0600."""
    title: str = ""


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of one request: the new process, or why there is none."""

    pid: int = 0
    error: str = ""


def main(args: list[str]) -> int:
    """Serve until the node is gone; in a process that was forked (or told to `run`) do its work, and return its exit code."""
    if args[0] == "run":
        close_strange(set())
        reset_signals()
        return run(msgspec.json.decode(args[1], type=Spec))
    conn = int(args[0])
    close_strange({conn})
    preload(args[1].split(","))
    reset_signals()  # here, so that a process just forked never has a handler of ours
    forked = serve(socket.socket(fileno=conn))
    return 0 if forked is None else run(forked)


def close_strange(ours: set[int]) -> None:
    """Close what the node's own starter left open (a pipe of a shell or of CI): agents outlive the node, and would hold it open."""
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - a Path's iterdir would keep the folder open while we close
        if int(name) > 2 and int(name) not in ours:
            with suppress(OSError):  # the listing's own
                os.close(int(name))


def preload(modules: Iterable[str]) -> None:
    """Import what is there of these, and keep the garbage collector from ever writing to their pages."""
    gc.disable()
    for module in filter(None, modules):
        try:
            importlib.import_module(module)
        except ImportError as problem:
            sys.stderr.write(f"not preloaded: {module} ({problem})\n")
    gc.freeze()


def serve(conn: socket.socket) -> Spec | None:
    """In each forked process what it is to do; in the server None, once the node is gone."""
    set_title("covey fork server")
    with conn, conn.makefile("rb") as requests:
        for line in requests:
            spec = msgspec.json.decode(line, type=Spec)
            reply = answer(spec)
            if reply is None:
                return spec
            try:
                conn.sendall(msgspec.json.encode(reply) + b"\n")
            except BrokenPipeError:
                break
    return None


def answer(spec: Spec) -> Reply | None:
    """In the server what came of a request; in the new process None, once it is on its own."""
    try:
        log = os.open(spec.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    except OSError as problem:
        return Reply(error=f"the log of {spec.name} can't be written: {problem}")
    try:
        pid = fork_away()
    except OSError as problem:
        return Reply(error=f"{spec.name} can't be forked: {problem}")
    else:
        if pid:
            return Reply(pid)
        os.setsid()
        os.dup2(log, 1)
        os.dup2(log, 2)
        return None
    finally:
        os.close(log)


def fork_away() -> int:
    """0 in the new process; in the server its pid. The process between the two has ended, so that the node is the parent.

    Raises:
        OSError: There is no memory or no pid for it.
    """
    readable, writable = os.pipe()
    try:
        between = os.fork()
        if between == 0:
            fork_and_leave(writable)
            return 0
        _, status = os.waitpid(between, 0)
        if status:
            raise OSError(os.WEXITSTATUS(status), os.strerror(os.WEXITSTATUS(status)))
        return int(os.read(readable, 32))
    finally:
        os.close(readable)
        os.close(writable)


def fork_and_leave(writable: int) -> None:
    """Write the new process's pid and end; returns in the new process only."""
    try:
        pid = os.fork()
    except OSError as problem:
        os._exit(problem.errno or 1)
    if pid:
        os.write(writable, str(pid).encode())
        os._exit(0)


def run(spec: Spec) -> int:
    """The exit code of the entry's work, done as if this process had been started for it alone."""
    set_title(spec.title or spec.name)  # first: it finds its place by the environment as the kernel laid it out
    gc.enable()
    os.environ.clear()
    os.environ.update(spec.env)
    os.chdir(spec.cwd)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True)
    module, _, function = spec.entry.partition(":")
    code = getattr(importlib.import_module(module), function)(*spec.args)
    return code if isinstance(code, int) else 0


def reset_signals() -> None:
    """Each signal as Python has it at its start, whatever the node or a module preloaded made of it."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.set_wakeup_fd(-1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
