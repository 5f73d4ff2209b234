"""Starts the worker processes of these tests, and ends them whatever happens."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
WAIT_S = 30.0


class Worker:
    """One process of `tests.store.worker`."""

    def __init__(self, task: str, store: str, folder: Path, name: str) -> None:
        command = [sys.executable, "-m", "tests.store.worker", task, store, str(folder), name]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self._process.pid
        self.said: list[str] = []

    def line(self) -> str:
        """The next line it says; empty at its end."""
        assert self._process.stdout is not None
        self.said.append(self._process.stdout.readline().strip())
        return self.said[-1]

    def ready(self) -> None:
        """Return when it has been set up."""
        assert self.line() == "ready"

    def go(self) -> None:
        """Let it begin."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def end(self) -> list[str]:
        """Close its input, wait for its end; all that it has said."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self.said += self._process.stdout.read().split()  # ends with the process
        self._process.wait(WAIT_S)
        return self.said

    def kill(self) -> list[str]:
        """End it with SIGKILL; all that it has said."""
        self._process.kill()
        return self.end()


@contextmanager
def workers(*tasks: str, store: str, folder: Path, name: str = "w") -> Iterator[list[Worker]]:
    """A process for each of these tasks, set up and waiting for the word to go."""
    started = [Worker(task, store, folder, f"{name}{place}") for place, task in enumerate(tasks)]
    try:
        for worker in started:
            worker.ready()
        yield started
    finally:
        for worker in started:
            worker._process.kill()
            worker._process.wait(WAIT_S)
            for pipe in (worker._process.stdin, worker._process.stdout):
                if pipe is not None and not pipe.closed:
                    pipe.close()
