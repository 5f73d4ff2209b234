"""From the call of `send` in one process to the brain's first step in another that was idle, at 50 messages a second."""

from __future__ import annotations

import asyncio
import multiprocessing as mp
import os
import socket
import statistics
import time
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import apsw

from benchmarks.measuring import EIGHT, Figure, folder, ms, percentile, store_in
from covey.agents import living
from covey.agents.model import THE_OPERATOR
from covey.base.clock import SystemClock
from covey.brains.model import Hands, Outcome, Turn
from covey.messages.model import draft
from covey.messages.sending import send
from covey.runner.place import Place
from covey.runner.runner import Runner
from covey.store import DatagramBell, Store
from covey.store.sqlite import SqliteEngine

EACH_S = 0.02
MESSAGES = 250


class Stopwatch:
    """A brain that notes when it is handed a message."""

    kind = "rules"

    def __init__(self) -> None:
        self.took: list[float] = []

    async def think(self, turn: Turn, hands: Hands) -> Outcome:  # noqa: ARG002 - the contract's
        """Note how long ago the message was sent, by the clock that both processes share."""
        if turn.message is not None:
            self.took.append(time.monotonic() - turn.message.message.content["data"]["at"])
        return Outcome()

    def can(self, description: str) -> bool:  # noqa: ARG002 - the contract's
        """It does nothing."""
        return False

    async def close(self) -> None:
        """Nothing is held."""


def _receiver(path: str, ready: Event, stop: Event, out: mp.Queue[list[float]]) -> None:
    async def run() -> None:
        store = Store(SqliteEngine(Path(path) / "store.db", SystemClock()), DatagramBell(Path(path) / "bells"))
        brain = Stopwatch()
        agent = EIGHT.agents[1]

        async def no_sweep() -> None:
            return

        def leave(_why: str, _code: int) -> None:
            return

        await store.write(living.arrive, agent.id, node="bench", pid=os.getpid(), start_ticks=0, boot_id="", port=agent.port)
        place = Place(
            store=store,
            agent=agent,
            settings=EIGHT,
            brain=brain,
            clock=SystemClock(),
            node="bench",
            pid=os.getpid(),
            leave=leave,
        )
        runner = Runner(place, sweep=no_sweep)
        await runner.start()
        ready.set()
        await asyncio.to_thread(stop.wait)
        await runner.stop()
        await store.close()
        out.put(brain.took)

    asyncio.run(run())


def once() -> list[float]:
    """How long each message took, in seconds."""
    context = mp.get_context("spawn")
    with folder() as path:

        async def drive() -> list[float]:
            async with store_in(path) as store:
                ready, stop = context.Event(), context.Event()
                out: mp.Queue[list[float]] = context.Queue()
                process = context.Process(target=_receiver, args=(str(path), ready, stop, out))
                process.start()
                await asyncio.to_thread(ready.wait, 30)
                await asyncio.sleep(0.5)
                for number in range(MESSAGES):
                    data: dict[str, Any] = {"at": time.monotonic()}
                    await store.write(send, draft("coder", f"{number}", data=data), THE_OPERATOR)
                    await asyncio.sleep(EACH_S)
                await asyncio.sleep(0.5)
                stop.set()
                took = await asyncio.to_thread(out.get, True, 30)
                process.join(30)
                return took

        return asyncio.run(drive())


def _raw_receiver(path: str, ready: Event, out: mp.Queue[list[float]]) -> None:
    """Reads each row that it is told of, and marks it in a commit of its own."""
    db, bell = apsw.Connection(f"{path}/raw.db"), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    db.set_busy_timeout(5000)
    bell.bind(f"{path}/bell")
    bell.settimeout(30)
    ready.set()
    took = []
    for _ in range(MESSAGES):
        ident = bell.recv(64).decode()
        body = db.execute("SELECT body FROM rows WHERE id = ?", (ident,)).get
        db.execute("UPDATE rows SET body = 'seen' WHERE id = ?", (ident,))
        took.append(time.monotonic() - float(body))
    out.put(took)


def _raw_once() -> list[float]:
    """The same by hand: a row on disk, a datagram, a claim committed; no thread, no loop, no rules."""
    context = mp.get_context("spawn")
    with folder() as path:
        db = apsw.Connection(str(path / "raw.db"))
        for words in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "CREATE TABLE rows (id TEXT PRIMARY KEY, body TEXT)"):
            db.execute(words)
        ready = context.Event()
        out: mp.Queue[list[float]] = context.Queue()
        process = context.Process(target=_raw_receiver, args=(str(path), ready, out))
        process.start()
        ready.wait(30)
        bell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        for number in range(MESSAGES):
            db.execute("INSERT INTO rows VALUES (?, ?)", (str(number), str(time.monotonic())))
            bell.sendto(str(number).encode(), f"{path}/bell")
            time.sleep(EACH_S)
        took = out.get(timeout=30)
        process.join(30)
        return took


def measure(runs: int = 5) -> list[Figure]:
    """The medians over the runs of p50 and p99."""
    found, raw = [], []
    for _ in range(runs):
        found.append(once())
        raw.append(_raw_once())
    p50 = statistics.median(percentile(each, 0.5) for each in found)
    p99 = statistics.median(percentile(each, 0.99) for each in found)
    got = min(len(each) for each in found)
    return [
        Figure(
            "wake-up, process to process, 50/s",
            f"p50 {ms(p50)}, p99 {ms(p99)}, {got} of {MESSAGES} seen",
            f"p50 {ms(statistics.median(percentile(each, 0.5) for each in raw))} by hand: commit, datagram, claim",
            "p50 < 3 ms, p99 < 15 ms",
            p50 < 0.003 and p99 < 0.015 and got == MESSAGES,
        )
    ]
