"""A real fleet in a folder of its own, and what is left of it afterwards: nothing."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest

from covey import Fleet
from covey.base.markers import Marker, marker, markers
from covey.base.processes import alive, every_process
from covey.tasks import reading
from covey.tasks.model import Task

T = TypeVar("T")

BRAIN = """
import time

def think(turn):
    if turn.message is not None:
        return f"{turn.agent} read {turn.message.message.body}"
    if turn.task is not None:
        if "slowly" in turn.task.description:
            time.sleep(0.2)
        return f"{turn.agent} did {turn.task.description}"
"""
NAMES = ("chief", "coder", "sales", "finance", "intel", "devops", "comms", "ops")


class RunningFleet:
    """A fleet on this machine, driven by its own command line."""

    def __init__(self, folder: Path, base_port: int, env: dict[str, str]) -> None:
        self.folder = folder
        self.base_port = base_port
        self.env = env
        self.python = sys.executable

    def covey(self, *words: str, check: bool = True, timeout: float = 120.0) -> subprocess.CompletedProcess[str]:
        """Run a command of the CLI in the fleet's folder."""
        done = subprocess.run(
            [sys.executable, "-m", "covey", *words],
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if check and done.returncode != 0:
            raise AssertionError(f"covey {' '.join(words)} ended with {done.returncode}\n{done.stdout}\n{done.stderr}\n{self.logs()}")
        return done

    def json(self, *words: str) -> Any:
        """What a command answers with --json."""
        return json.loads(self.covey(*words, "--json").stdout)

    def configure(self, text: str) -> None:
        """Write its covey.toml."""
        (self.folder / "covey.toml").write_text(text)

    def room_for(self, count: int) -> int:
        """Move it to a base port with so many free ones behind it."""
        self.base_port = free_base_port(count)
        self.env["COVEY_BASE_PORT"] = str(self.base_port)
        return self.base_port

    def begin(self, *words: str) -> subprocess.Popen[str]:
        """Start a command of the CLI and go on."""
        return subprocess.Popen(
            [sys.executable, "-m", "covey", *words],
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def read(self, verb: Callable[..., T], *args: Any, **more: Any) -> T:
        """What a verb reads from the fleet's store."""
        found: T = run(self._read(verb, args, more))
        return found

    async def _read(self, verb: Callable[..., Any], args: tuple[Any, ...], more: dict[str, Any]) -> Any:
        async with Fleet.open(self.folder, environ=self.env) as opened:
            return await opened.read(verb, *args, **more)

    def task(self, ident: str) -> Task:
        """A task as it stands."""
        return self.read(reading.show, ident)

    def add(self, agent: str, text: str, *words: str) -> str:
        """The id of a new task."""
        ident: str = self.json("task", "add", agent, text, *words)["taskId"]
        return ident

    def up(self, *words: str) -> None:
        """Start it and wait until it is ready."""
        self.covey("up", "--detach", *words)

    def down(self) -> None:
        """Stop it."""
        self.covey("down")

    def marker(self, name: str) -> Marker | None:
        """Which process is this agent, `node` or `console` now."""
        return marker(self.folder / ".covey" / "run" / f"{name}.lock")

    def kill(self, name: str) -> Marker:
        """SIGKILL one of its processes."""
        found = self.marker(name)
        assert found is not None, f"{name} does not run\n{self.logs()}"
        os.kill(found.pid, signal.SIGKILL)
        return found

    def serving_again(self, name: str, before: Marker, timeout: float = 60.0) -> float:
        """Wait until another process is this name, and serves; how long that took."""
        began = time.monotonic()
        port = before.port

        def again() -> bool:
            now = self.marker(name)
            return now is not None and now.pid != before.pid and (not port or answers(port))

        wait_until(again, timeout, lambda: f"{name} did not come back\n{self.logs()}")
        return time.monotonic() - began

    def logs(self) -> str:
        """The ends of all that its processes printed."""
        texts = [
            f"--- {path.name}\n{path.read_text()[-1500:]}" for path in sorted((self.folder / "logs").rglob("*.out")) if path.stat().st_size
        ]
        return "\n".join(texts)

    def processes(self) -> list[int]:
        """Pids of live processes that carry this fleet's mark in their environment."""
        mark = f"COVEY_TEST_FLEET={self.folder}".encode()
        found = []
        for stat in every_process():
            with suppress(OSError):
                if not stat.dead and mark in Path(f"/proc/{stat.pid}/environ").read_bytes():
                    found.append(stat.pid)
        return found


def answers(port: int) -> bool:
    """Whether somebody answers /health there with 200."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1) as peer:
        peer.settimeout(1)
        peer.sendall(f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
        return b" 200 " in peer.recv(64)
    return False


def wait_until(true: Callable[[], object], timeout: float, what: Callable[[], str] | str) -> None:
    """Look again and again until it is true; fail with `what` after the timeout."""
    until = time.monotonic() + timeout
    while not true():
        if time.monotonic() > until:
            raise AssertionError(what() if callable(what) else what)
        time.sleep(0.05)


def free_base_port(count: int = 12) -> int:
    """A port with so many free ones behind it, none of which the kernel gives to whoever connects."""
    for _ in range(100):
        base = random.randrange(12_000, 31_000)
        with suppress(OSError):
            taken = [socket.create_server(("127.0.0.1", port)) for port in range(base, base + count)]
            for each in taken:
                each.close()
            return base
    raise AssertionError("no free ports were found")


@contextmanager
def fleet_in(folder: Path) -> Iterator[RunningFleet]:
    """A fleet in a folder, not started, without a gateway; whatever runs at the end is ended, and must have been nothing after `down`."""
    base_port = free_base_port()
    env = {name: value for name, value in os.environ.items() if not name.startswith("COVEY_")}
    env |= {"COVEY_TEST_FLEET": str(folder), "COVEY_BASE_PORT": str(base_port), "COVEY_GATEWAY": "off", "NO_COLOR": "1"}
    fleet = RunningFleet(folder, base_port, env)
    try:
        yield fleet
    finally:
        fleet.covey("down", check=False)
        left = [each for each in markers(folder / ".covey" / "run") if alive(each.identity)]
        for each in left:
            os.kill(each.pid, signal.SIGKILL)
    assert not left, f"these were left after down: {left}"


@pytest.fixture
def fleet_folder(tmp_path: Path) -> Iterator[RunningFleet]:
    """A fleet's folder with eight python agents, not started; nothing of it is left afterwards."""
    (tmp_path / "brain.py").write_text(BRAIN)
    agents = "\n".join(f'[agents.{name}]\nbrain = "brain:think"' for name in NAMES)
    (tmp_path / "covey.toml").write_text(agents)
    with fleet_in(tmp_path) as fleet:
        yield fleet


def run(step: Any) -> Any:
    """Run a coroutine to its end."""
    return asyncio.run(step)
