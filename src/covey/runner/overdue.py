"""A task that takes too long: at twice its estimate its brain is asked, beside the attempt, to split it (H3).

Parts that could be made end the attempt, and are made once its processes are gone. Else the attempt goes on to its run timeout, and then
the task is another agent's.
"""

from __future__ import annotations

import asyncio
import logging
import math

import msgspec

from covey.agents import roster
from covey.base.errors import Conflict, CoveyError, LeaseLost, NotFound, StoreBusy, StoreUnavailable
from covey.base.settings import PAID_KINDS
from covey.brains.model import Cost, Outcome, Turn
from covey.healing import incidents, remedies
from covey.healing.diagnosis import AtWork, Limits, Signs, diagnose, overdue_at
from covey.planning.gating import gate
from covey.runner import settling, taking
from covey.runner.hands import RunHands
from covey.runner.place import Place
from covey.runner.run import MARGIN_S, Bounds, Run, Unended
from covey.runner.watchdog import EX_HUNG
from covey.runner.work import Limits as Times
from covey.runner.work import Work
from covey.store import Transaction
from covey.tasks import reading, runs, working

log = logging.getLogger("covey.runner")

SPLIT_S = 120.0
"""A turn that only says how a task splits may take so long."""


class Beside:
    """Waits beside an attempt at a task, from `begin` on, until it takes too long, and has it split then. `stop` once it is over."""

    def __init__(self, at: Place, run: Run, turn: Turn) -> None:
        self._at = at
        self._run = run
        self._turn = turn
        self._asking: Run | None = None
        self._task: asyncio.Task[None] | None = None

    async def stop(self) -> None:
        """Whatever it has the brain do ends, and so does it."""
        if self._task is None:
            return
        if self._asking is not None:
            self._asking.end("shutdown")
            await asyncio.wait({self._task}, timeout=self._at.settings.grace_s + 2 * MARGIN_S)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def begin(self) -> None:
        """The attempt is under way, and may take long."""
        self._task = asyncio.create_task(self._guarded())

    async def _guarded(self) -> None:
        try:
            await self._wait_and_split()
        except (StoreBusy, StoreUnavailable, LeaseLost, Conflict, NotFound) as error:
            log.warning("%s: %s is not split: %s", self._at.agent.id, self._run.work.item, error.message)
        except Unended:
            self._at.leave(f"the brain of {self._at.agent.id}, asked to split a task, could not be ended; the process goes", EX_HUNG)
        except Exception:
            log.exception("%s: splitting %s failed; the attempt goes on", self._at.agent.id, self._run.work.item)

    async def _wait_and_split(self) -> None:
        at, run, task = self._at, self._run, self._turn.task
        assert task is not None
        await at.clock.sleep(Limits().overrun * task.estimated_seconds)
        asked, incident = await at.store.write(ask, run.work, at.node)
        run.incident = incident
        if asked is None:
            return
        self._asking = Run(asked, RunHands(at.store, asked, at.clock))
        turn = msgspec.structs.replace(self._turn, run_id=asked.run_id, kind="split", also=[], answer=None, deadline_s=SPLIT_S)
        outcome = await self._asking.think(at.brain, turn, Bounds(SPLIT_S, None, at.settings.grace_s), at.clock)
        if await at.store.write(answered, asked, incident, outcome):
            run.instead = outcome
            run.end("split")


def ask(tx: Transaction, work: Work, node: str) -> tuple[Work | None, str]:
    """The work of asking how a task splits, in a run of its own under the attempt's token, and the incident of what takes too long.

    None instead of the work: asking would cost money that nobody granted (P3).

    Raises:
        LeaseLost: The attempt is over.
    """
    row = tx.one(working.HELD, token=work.token)
    if row is None:
        raise working.lost(work.agent)
    at_work = AtWork(row.id, row.started_at or row.claimed_at, row.estimated_s)
    (ailment,) = diagnose(Signs(max(tx.now, math.nextafter(overdue_at(at_work), math.inf)), tasks=(at_work,)))
    incident, _ = remedies.overran(tx, work.agent, ailment)
    if roster.find(tx, work.agent).brain in PAID_KINDS and gate(tx, work.agent) == "asked":
        incidents.step(tx, incident, "not_asked", "the fleet's budget is spent, so its brain is not asked how it splits.")
        return None, incident
    asked = msgspec.structs.replace(work, kind="split", run_id=tx.new_id("run"), riders=[])
    runs.open_run(tx, asked.run_id, item=work.item, kind="split", agent=work.agent, node=node, attempt=work.attempt)
    incidents.step(tx, incident, "asked_to_split", f"{work.agent}'s brain is asked how it splits; the attempt goes on meanwhile.")
    return asked, incident


def answered(tx: Transaction, asked: Work, incident: str, outcome: Outcome | None) -> bool:
    """Whether the parts that the brain named could stand for the task; if not, the incident says why, and the attempt goes on."""
    said = outcome or Outcome(kind="failed", error="the attempt was over first")
    cost = said.cost or Cost()
    tokens = cost.tokens_in + cost.tokens_out
    runs.close(tx, asked.run_id, said.kind if outcome else "returned", cost_usd=cost.usd or None, tokens=tokens or None)
    if outcome is None:
        return False
    why = _why_not(tx, asked, said)
    if why:
        incidents.step(tx, incident, "not_split", f"it is not split: {why}; the attempt goes on until its time limit.")
        return False
    incidents.step(tx, incident, "split", f"it splits into {len(said.tasks)} parts; the attempt is ended, and its processes first.")
    return True


class _Undo(Exception):
    """What was tried went well, and is taken back."""


def _why_not(tx: Transaction, asked: Work, said: Outcome) -> str:
    """Why the parts can't stand for the task; empty if they can. They are tried, and taken back."""
    if said.kind != "split":
        return said.error.strip()[:500] or f"its brain answered {said.kind}"
    try:
        with tx.attempt():
            working.split(tx, asked.agent, asked.token, said.tasks)
            raise _Undo
    except _Undo:
        return ""
    except CoveyError as error:
        return error.message


def settle(
    tx: Transaction, incident: str, work: Work, outcome: Outcome, limits: Times, node: str, pid: int, *, timed_out: bool, take: bool
) -> Work | None:
    """As `settling.settle_and_take` for an attempt that took too long: its incident ends, and a task that timed out goes to another.

    Raises:
        LeaseLost, Conflict: As there.
    """
    settling.settle(tx, work, outcome, limits, pid)
    row = reading.seek(tx, work.item)
    if timed_out and row is not None and row.state == "queued":
        remedies.pass_on(tx, row, work.agent, incident)
    else:
        state = row.state if row is not None else "gone"
        incidents.end_incident(tx, incident, "split" if outcome.kind == "split" else state, f"the task {work.item} is {state} now.")
    return taking.take(tx, work.agent, work.lane, node, pid, limits) if take else None
