"""Teams: messages between agents in one process; a durable run of 100 steps over eight workers; a chain of two steps beside LangGraph's.

autogen-core and LangGraph are installed by pip into a virtual environment of their own, in COVEY_BENCH_PEERS or a folder that is gone
afterwards; without them their columns say so.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from benchmarks.measuring import EIGHT, RUNS, Figure, folder, store_in
from covey.agents import configuring, living
from covey.agents.model import THE_OPERATOR
from covey.app.teaming import supervise
from covey.base.clock import SystemClock
from covey.base.processes import Identity
from covey.base.settings import BrainSettings
from covey.brains.model import Brain, Hands, Outcome, Turn
from covey.runner.place import Place
from covey.runner.runner import Runner
from covey.runner.sweeping import Sweeper
from covey.store import Store
from covey.teams import AgentCommunication, AgentMessage, MessageType
from covey.teams.runs.model import Part, TeamDraft, TeamRun

NAMES = [agent.id for agent in EIGHT.agents]
PYTHON = BrainSettings(kind="python", target="instant:think")
CREW = msgspec.structs.replace(EIGHT, agents=tuple(msgspec.structs.replace(agent, brain=PYTHON) for agent in EIGHT.agents))
STEPS = 100
CHAINS = 20
PACKAGES = ("autogen-core", "langgraph", "langgraph-checkpoint-sqlite")


class Instant:
    """A brain that is done at once."""

    kind = "python"

    async def think(self, turn: Turn, hands: Hands) -> Outcome:  # noqa: ARG002 - the contract's
        return Outcome(summary=turn.agent)

    def can(self, description: str) -> bool:  # noqa: ARG002 - as above
        return True

    async def close(self) -> None:
        pass


def in_process(count: int = 100_000) -> tuple[float, float]:
    """Messages a second of this process's own time, which what else runs here does not change; and of the wall clock's."""
    post = AgentCommunication()
    began, began_at = time.process_time(), time.perf_counter()
    for number in range(count):
        post.send(AgentMessage(sender="a", receiver="b", message_type=MessageType.REQUEST, content={"number": number}))
        post.receive("b")
    return count / (time.process_time() - began), count / (time.perf_counter() - began_at)


async def _at_work(store: Store, stack: AsyncExitStack) -> None:
    await store.write(configuring.configure, CREW)
    me = Identity.of(os.getpid())
    assert me is not None
    for agent in CREW.agents:
        await store.write(living.arrive, agent.id, node="here", pid=me.pid, start_ticks=me.start_ticks, boot_id=me.boot_id, port=agent.port)
        brain: Brain = Instant()
        place = Place(
            store=store,
            agent=agent,
            settings=CREW,
            brain=brain,
            clock=SystemClock(),
            node="here",
            pid=me.pid,
            leave=lambda why, code: sys.exit(f"{why} ({code})"),
        )
        runner = Runner(place, sweep=Sweeper(store, CREW.start_s, SystemClock()).one_round)
        await runner.start()
        stack.push_async_callback(runner.stop)


class Took(NamedTuple):
    """How long something took by the wall clock, and of the processor, which what else runs here changes less."""

    wall_s: float
    cpu_s: float


async def _timed(store: Store, drafts: list[TeamDraft]) -> Took:
    """What these runs took, one after the other."""
    began, began_cpu = time.perf_counter(), time.process_time()
    for draft in drafts:
        run: TeamRun = await supervise(store, SystemClock(), draft, THE_OPERATOR, None, 60.0)
        assert run.quality_score == 1.0, run
    return Took(time.perf_counter() - began, time.process_time() - began_cpu)


def durable(full: bool, drafts: list[TeamDraft]) -> Took:
    """What these runs took by eight agents with instant brains, all in one process."""

    async def run(path: Path) -> Took:
        async with store_in(path, full=full) as store, AsyncExitStack() as stack:
            await _at_work(store, stack)
            await _timed(store, [_chain()])
            return await _timed(store, drafts)

    with folder() as path:
        return asyncio.run(run(path))


def _hundred() -> TeamDraft:
    return TeamDraft(goal="a hundred", workers=NAMES, parts=[Part(description=f"part {number}") for number in range(STEPS)])


def _chain() -> TeamDraft:
    """Two steps, the second on the result of the first, as a graph of two nodes."""
    return TeamDraft(goal="two", workers=NAMES[:2], parts=[Part(description="first"), Part(description="second", needs=[1])], forward=False)


def peers() -> dict[str, Any] | str:
    """What the peers reach on this machine now, or why that can't be said."""
    with folder() as path:
        home = Path(os.environ.get("COVEY_BENCH_PEERS") or path / "venv")
        python = home / "bin" / "python"
        try:
            if not python.exists():
                subprocess.run([sys.executable, "-m", "venv", str(home)], check=True, capture_output=True, timeout=120)
                subprocess.run([str(python), "-m", "pip", "install", "-q", *PACKAGES], check=True, capture_output=True, timeout=600)
            script = Path(__file__).with_name("teams_peers.py")
            done = subprocess.run([str(python), str(script), str(path)], check=True, capture_output=True, text=True, timeout=300)
            found: dict[str, Any] = json.loads(done.stdout)
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            return f"not installed: {type(error).__name__}"
        return found


def measure() -> list[Figure]:
    """Ours and theirs in the same run."""
    theirs = peers()
    autogen = theirs if isinstance(theirs, str) else f"autogen-core {theirs['autogen']:,.0f} round trips/s"
    rate, by_wall = sorted(in_process() for _ in range(RUNS))[RUNS // 2]
    return [
        Figure(
            "in-process send and receive, message included",
            f"{rate:,.0f}/s ({by_wall:,.0f}/s by the wall clock)",
            autogen,
            "≥ 100,000/s",
            rate >= 100_000,
        ),
        *(figure for full in (False, True) for figure in _durable_figures(full, theirs)),
    ]


def _durable_figures(full: bool, theirs: dict[str, Any] | str) -> list[Figure]:
    """A run of many steps and a chain of two, beside a graph of two nodes that is as durable."""
    mode = "full" if full else "normal"
    graph: dict[str, float] = theirs["langgraph"][mode.upper()] if isinstance(theirs, dict) else {"runs_s": 0.0, "cpu_ms": 0.0}
    langgraph = (
        f"LangGraph {graph['runs_s']:,.0f} runs/s of two nodes, {graph['cpu_ms']:.1f} ms CPU each" if graph["runs_s"] else str(theirs)
    )
    hundred = sorted(durable(full, [_hundred()]) for _ in range(RUNS))[RUNS // 2]
    chains = sorted(durable(full, [_chain()] * CHAINS) for _ in range(RUNS))[RUNS // 2]
    runs_s = CHAINS / chains.wall_s
    return [
        Figure(
            f"durable run of {STEPS} steps, 8 workers, {mode}",
            f"{hundred.wall_s:.2f} s ({STEPS / hundred.wall_s:,.0f} steps/s), {1000 * hundred.cpu_s / STEPS:.1f} ms CPU a step",
            langgraph,
            "< 2 s, more steps/s than LangGraph" if not full else "more steps/s than LangGraph",
            (full or hundred.wall_s < 2) and STEPS / hundred.wall_s > 2 * graph["runs_s"],
        ),
        Figure(
            f"durable chain of two steps, {mode}",
            f"{runs_s:,.0f} runs/s, {1000 * chains.cpu_s / CHAINS:.1f} ms CPU each",
            langgraph,
            "more than LangGraph",
            runs_s > graph["runs_s"],
        ),
    ]
