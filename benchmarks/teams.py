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
from typing import Any

import msgspec

from benchmarks.measuring import EIGHT, RUNS, Figure, folder, median, store_in
from covey.agents import configuring, living
from covey.agents.model import THE_OPERATOR
from covey.app.teaming import supervise
from covey.base.clock import SystemClock
from covey.base.processes import Identity
from covey.base.settings import BrainSettings
from covey.brains.model import Brain, Hands, Outcome, Turn
from covey.runner.runner import Runner
from covey.runner.sweeping import Sweeper
from covey.store import Store
from covey.teams import AgentCommunication, AgentMessage, MessageType
from covey.teams.runs.model import Part, TeamDraft, TeamRun

NAMES = [agent.id for agent in EIGHT.agents]
PYTHON = BrainSettings(kind="python", target="instant:think")
CREW = msgspec.structs.replace(EIGHT, agents=tuple(msgspec.structs.replace(agent, brain=PYTHON) for agent in EIGHT.agents))
STEPS = 100
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
        runner = Runner(
            store=store,
            agent=agent,
            settings=CREW,
            brain=brain,
            clock=SystemClock(),
            node="here",
            pid=me.pid,
            sweep=Sweeper(store, CREW.start_s, SystemClock()).one_round,
            leave=lambda why, code: sys.exit(f"{why} ({code})"),
        )
        await runner.start()
        stack.push_async_callback(runner.stop)


async def _timed(store: Store, drafts: list[TeamDraft]) -> float:
    """Seconds for these runs, one after the other."""
    began = time.perf_counter()
    for draft in drafts:
        run: TeamRun = await supervise(store, SystemClock(), draft, THE_OPERATOR, None, 60.0)
        assert run.quality_score == 1.0, run
    return time.perf_counter() - began


def durable(full: bool, drafts: list[TeamDraft]) -> float:
    """Seconds for these runs by eight agents with instant brains, all in one process."""

    async def run(path: Path) -> float:
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
    graph = theirs["langgraph"]["sync"] if isinstance(theirs, dict) else 0.0
    langgraph = f"LangGraph {graph:,.1f} runs/s ({2 * graph:,.0f} nodes/s), synchronous=FULL" if graph else str(theirs)
    rate, by_wall = sorted(in_process() for _ in range(RUNS))[RUNS // 2]
    hundred = {full: median(lambda full=full: durable(full, [_hundred()])) for full in (False, True)}  # type: ignore[misc]
    chains = {full: 20 / median(lambda full=full: durable(full, [_chain()] * 20)) for full in (False, True)}  # type: ignore[misc]
    return [
        Figure(
            "in-process send and receive, message included",
            f"{rate:,.0f}/s ({by_wall:,.0f}/s by the wall clock)",
            autogen,
            "≥ 100,000/s",
            rate >= 100_000,
        ),
        Figure(
            f"durable run of {STEPS} steps, 8 workers, normal",
            f"{hundred[False]:.2f} s ({STEPS / hundred[False]:,.0f} steps/s)",
            langgraph,
            "< 2 s, more steps/s than LangGraph",
            hundred[False] < 2 and STEPS / hundred[False] > 2 * graph,
        ),
        Figure(
            f"durable run of {STEPS} steps, 8 workers, full",
            f"{hundred[True]:.2f} s ({STEPS / hundred[True]:,.0f} steps/s)",
            langgraph,
            "more steps/s than LangGraph",
            STEPS / hundred[True] > 2 * graph,
        ),
        Figure("durable chain of two steps, full", f"{chains[True]:.1f} runs/s", langgraph, "more than LangGraph", chains[True] > graph),
        Figure(
            "durable chain of two steps, normal", f"{chains[False]:.1f} runs/s", langgraph, "more than LangGraph", chains[False] > graph
        ),
    ]
