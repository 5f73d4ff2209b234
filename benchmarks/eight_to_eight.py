"""Eight processes send to eight that claim, handle and finish; every message is counted at both ends."""

from __future__ import annotations

import asyncio
import multiprocessing as mp
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path

import msgspec

from benchmarks.measuring import EIGHT, Figure, folder, raw_database, store_in
from covey.agents import configuring
from covey.agents.model import as_agent
from covey.base.clock import SystemClock
from covey.base.rings import mail_of
from covey.base.settings import AgentSettings
from covey.messages import handling
from covey.messages.model import draft
from covey.messages.sending import send
from covey.store import DatagramBell, Store, Transaction
from covey.store.sqlite import SqliteEngine

NAMES = [agent.id for agent in EIGHT.agents]
SENDERS = [AgentSettings(id=f"sender-{place}", port=9001 + place) for place in range(8)]
"""Others than those who handle: what an agent sends while it handles something is prompted by that, and goes in its chain."""
SIXTEEN = msgspec.structs.replace(EIGHT, agents=(*EIGHT.agents, *SENDERS))
LIMIT_S = 120.0


def _open(path: Path, full: bool) -> Store:
    return Store(SqliteEngine(path / "store.db", SystemClock(), full=full), DatagramBell(path / "bells"))


def _sender(path: str, full: bool, place: int, count: int, lanes: int, gate: Barrier) -> None:
    async def run() -> None:
        store = _open(Path(path), full)

        async def lane(number: int) -> None:
            for turn in range(count // lanes):
                message = draft(NAMES[(place + turn) % 8], f"{place} {number} {turn}", type="task")
                await store.write(send, message, as_agent(SENDERS[place].id))

        gate.wait()
        await asyncio.gather(*(lane(number) for number in range(lanes)))
        await store.close()

    asyncio.run(run())


def _finish_and_claim(tx: Transaction, agent: str, token: str | None) -> handling.Claimed | None:
    """The end of one and the claim of the next share a commit, as in the runner."""
    if token is not None:
        handling.close(tx, agent, token)
    return handling.claim(tx, agent, "run", lease_s=60, digest_s=900)


def _handler(path: str, full: bool, place: int, lanes: int, stop: mp.Queue[int], gate: Barrier, done: mp.Queue[list[str]]) -> None:
    async def run() -> None:
        store = _open(Path(path), full)
        rung = asyncio.Event()
        store.bell.listen(mail_of(NAMES[place]), rung.set)
        seen: list[str] = []
        over = False

        async def lane() -> None:
            token: str | None = None
            while True:
                claimed = await store.write(_finish_and_claim, NAMES[place], token)
                token = claimed.token if claimed else None
                if claimed is not None and claimed.main is not None:
                    seen.append(claimed.main.message_id)
                elif over:
                    return
                else:
                    rung.clear()
                    try:
                        await asyncio.wait_for(rung.wait(), 0.1)
                    except TimeoutError:
                        pass

        async def watch() -> None:
            nonlocal over
            await asyncio.to_thread(stop.get)
            over = True

        gate.wait()
        await asyncio.gather(watch(), *(lane() for _ in range(lanes)))
        await store.close()
        done.put(seen)

    asyncio.run(run())


def once(full: bool, each: int = 750, send_lanes: int = 8, handle_lanes: int = 4) -> tuple[float, int, int]:
    """Messages a second over all, how many were lost, how many were handled twice."""
    context = mp.get_context("spawn")
    with folder() as path:

        async def prepare() -> None:
            async with store_in(path, full=full) as store:
                await store.write(configuring.configure, SIXTEEN)

        asyncio.run(prepare())
        gate = context.Barrier(17)
        stop: mp.Queue[int] = context.Queue()
        done: mp.Queue[list[str]] = context.Queue()
        senders = [context.Process(target=_sender, args=(str(path), full, place, each, send_lanes, gate)) for place in range(8)]
        handlers = [context.Process(target=_handler, args=(str(path), full, place, handle_lanes, stop, gate, done)) for place in range(8)]
        for process in (*senders, *handlers):
            process.start()
        gate.wait(timeout=LIMIT_S)
        began = time.perf_counter()
        for process in senders:
            process.join(LIMIT_S)
        for _ in handlers:
            stop.put(1)
        seen = [ident for _ in handlers for ident in done.get(timeout=LIMIT_S)]
        took = time.perf_counter() - began
        for process in handlers:
            process.join(LIMIT_S)
        sent = 8 * (each // send_lanes) * send_lanes
        return sent / took, sent - len(set(seen)), len(seen) - len(set(seen))


def _raw(mode: str) -> float:
    """Single-row commits one after the other from one process: what each step would cost by itself."""
    with folder() as path:
        db = raw_database(path, mode)
        began = time.perf_counter()
        for number in range(2000):
            db.execute("INSERT INTO rows (id, body) VALUES (?, ?)", (f"msg_{number:032d}", "x"))
        return 2000 / (time.perf_counter() - began)


def measure(runs: int = 5) -> list[Figure]:
    """Both durabilities."""
    figures = []
    for full, goal in ((False, 2500), (True, 1500)):
        found = sorted(once(full) for _ in range(runs))
        rate = found[len(found) // 2][0]
        lost, twice = sum(each[1] for each in found), sum(each[2] for each in found)
        mode = "full" if full else "normal"
        figures.append(
            Figure(
                f"8 processes to 8, {mode}",
                f"{rate:,.0f}/s, {lost} lost, {twice} twice",
                f"{_raw('FULL' if full else 'NORMAL'):,.0f} single-row commits/s",
                f"≥ {goal:,}/s, none lost or twice",
                rate >= goal and lost == twice == 0,
            )
        )
    return figures
