"""The brain's own summaries: while it has nothing to do and its context fills, it is asked for one, if the settings say so (C4).

The asking is a run like any other, with its process recorded and its turn counted; nothing is locked meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from covey.agents import roster
from covey.base.errors import CoveyError
from covey.brains.model import Cost, Outcome, Turn
from covey.contexts import condensing
from covey.contexts.condensing import Wanted
from covey.planning.gating import gate
from covey.runner.hands import RunHands
from covey.runner.place import Place
from covey.runner.run import MARGIN_S, Bounds, Reason, Run, Unended
from covey.runner.watchdog import EX_HUNG
from covey.runner.work import Limits, Work
from covey.store import Transaction
from covey.tasks import runs

log = logging.getLogger("covey.runner")

LOOK_S = 60.0
SUMMARY_S = 120.0


class Condenser:
    """Looks each minute whether a summary of the brain's own is wanted. Only for agents with `summaries = "brain"`."""

    def __init__(self, at: Place, is_free: Callable[[], bool]) -> None:
        self._at = at
        self._is_free = is_free
        self._loop: asyncio.Task[None] | None = None
        self._limits = Limits.of(at.settings, at.agent)
        self._run: Run | None = None

    async def one_round(self) -> bool:
        """Whether a summary of the brain's was taken."""
        at = self._at
        asked = await at.store.read(condensing.wanted, at.agent.id, at.agent.max_context)
        work = await at.store.write(begin, at.agent.id, at.node, self._limits) if asked is not None else None
        if asked is None or work is None:
            return False
        self._run = Run(work, RunHands(at.store, work, at.clock))
        try:
            bounds = Bounds(SUMMARY_S, None, at.settings.grace_s)
            outcome = await self._run.think(at.brain, await at.store.read(turn_of, work, asked), bounds, at.clock)
        except Unended:
            at.leave(f"the brain of {at.agent.id}, asked for a summary, could not be ended; the process goes", EX_HUNG)
            return False
        finally:
            self._run = None
        return await at.store.write(settle, work, asked, outcome, at.agent.max_context)

    def start(self) -> None:
        """Begin to look."""
        self._loop = asyncio.create_task(self._go_on())

    async def _go_on(self) -> None:
        while True:
            await self._at.clock.sleep(LOOK_S)
            try:
                if self._is_free():
                    await self.one_round()
            except CoveyError as error:
                log.warning("%s: no summary: %s", self._at.agent.id, error.message)
            except Exception:
                log.exception("%s: a summary failed; its context is compressed by extraction", self._at.agent.id)

    def end(self, reason: Reason) -> None:
        """End what the brain does for it."""
        if self._run is not None:
            self._run.end(reason)

    async def stop(self) -> None:
        """End what the brain does for it, and look no more."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        if self._run is not None:
            self.end("shutdown")
            await asyncio.wait({loop}, timeout=self._at.settings.grace_s + 2 * MARGIN_S)
        loop.cancel()
        await asyncio.gather(loop, return_exceptions=True)


def begin(tx: Transaction, agent: str, node: str, limits: Limits) -> Work | None:
    """The run of a summary, opened; None if it would cost money that nobody granted (P3)."""
    if limits.paid and gate(tx, agent) == "asked":
        return None
    run_id = tx.new_id("run")
    runs.open_run(tx, run_id, item=agent, kind="summary", agent=agent, node=node, attempt=1)
    return Work(agent, "mail", "summary", "", run_id, 1, agent, None, None, [])


def turn_of(tx: Transaction, work: Work, asked: Wanted) -> Turn:
    """The turn that asks for a summary: what is to be summarised is its context."""
    return Turn(
        run_id=work.run_id,
        kind="summary",
        agent=work.agent,
        role=roster.find(tx, work.agent).role,
        attempt=1,
        max_attempts=1,
        now=tx.now,
        context=[{"kind": entry.kind, "text": entry.text, "at": entry.at, "source": entry.source} for entry in asked.entries],
        deadline_s=SUMMARY_S,
    )


def settle(tx: Transaction, work: Work, asked: Wanted, outcome: Outcome | None, max_tokens: int) -> bool:
    """Whether the brain's summary was taken; if not, one by extraction stands in its place. Nothing else of its outcome counts."""
    said = outcome or Outcome(kind="failed")
    cost = said.cost or Cost()
    tokens = cost.tokens_in + cost.tokens_out
    runs.close(tx, work.run_id, said.kind if outcome else "returned", cost_usd=cost.usd or None, tokens=tokens or None)
    if outcome is None:
        return False
    return condensing.put(tx, work.agent, asked, said.summary if said.kind == "done" else None, max_tokens)
