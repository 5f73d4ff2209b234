"""A process of its own that writes to a store, started by tests: `python -m tests.store.worker TASK STORE FOLDER NAME`.

It prints a line for what was acknowledged, and only then. It ends when its input is closed.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from covey.agents.model import as_agent
from covey.base.clock import SystemClock
from covey.base.errors import CoveyError
from covey.messages import sending
from covey.messages.model import draft
from covey.store import DatagramBell, Store, Transaction
from covey.store.engine import Engine
from covey.store.sqlite import SqliteEngine
from tests.store.verbs import put

IN_FLIGHT = 8


def engine_of(store: str) -> Engine:
    """The database of a path or a URL."""
    if store.startswith("postgresql://"):
        from covey.store.postgres import PostgresEngine

        return PostgresEngine(store)
    return SqliteEngine(Path(store), SystemClock())


def say(line: str) -> None:
    """One line to the test, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


async def send(store: Store, name: str) -> None:
    """Send messages to two agents each, without end, several at once; say the id of each that was acknowledged."""

    async def lane(lane: int) -> None:
        for n in range(1_000_000):
            ident = f"{name}.{lane}.{n}"
            await store.write(sending.send, draft(["coder", "sales"], f"message {ident}", message_id=ident), as_agent("chief"))
            say(ident)

    await asyncio.gather(*(lane(each) for each in range(IN_FLIGHT)))


async def count(store: Store, name: str) -> None:
    """Write facts without end, one after another; say how many at each tenth."""
    for n in range(1, 1_000_000):
        await store.write(put, f"{name}.{n}")
        if n % 10 == 0:
            say(str(n))


async def stop_inside(store: Store, name: str) -> None:
    """Be stopped in the middle of a verb, as by a debugger or a terminal."""

    def stops(tx: Transaction) -> None:
        put(tx, name)
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(0.2)  # the stop may take a moment to reach this thread

    say("stops")
    await store.write(stops)
    say("done")


async def once(store: Store, name: str) -> None:
    """Write one fact; say what became of it."""
    try:
        say(await store.write(put, name))
    except CoveyError as error:
        say(error.code)


TASKS: dict[str, Callable[[Store, str], Awaitable[None]]] = {"send": send, "count": count, "stop": stop_inside, "once": once, "hasty": once}


async def main(task: str, url: str, folder: str, name: str) -> None:
    """Wait for the word to go, then work until the input is closed."""
    bell = DatagramBell(Path(folder) / "bells")
    store = Store(engine_of(url), bell, patience_s=0.6 if task == "hasty" else 30.0)
    loop = asyncio.get_running_loop()
    say("ready")
    await loop.run_in_executor(None, sys.stdin.readline)
    work = asyncio.ensure_future(TASKS[task](store, name))
    if task in ("send", "count"):
        await loop.run_in_executor(None, sys.stdin.readline)
        work.cancel()
    await asyncio.gather(work, return_exceptions=task in ("send", "count"))
    await store.close()
    bell.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5]))
