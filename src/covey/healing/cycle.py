"""The controller's cycle: all agents are looked after, by one leader at a time, and only what is amiss is touched (H8).

Whatever it writes is fenced: a leader that has been deposed writes nothing. It asks over HTTP side by side, so that one slow agent
delays no other. It starts and ends no process.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from covey.base.errors import Conflict, CoveyError
from covey.base.settings import Settings
from covey.healing import cleaning, incidents, lending, overflowing, remedies, signs
from covey.healing.diagnosis import Ailment, Limits, diagnose, span
from covey.healing.remedies import Planner
from covey.healing.signs import Patience, Ward
from covey.planning import due
from covey.store import Row, Store, Transaction, locking

log = logging.getLogger("covey.cycle")
P = ParamSpec("P")
T = TypeVar("T")

ASKED_AT_ONCE = 256
WRITTEN_AT_ONCE = 100
MISSED = 2
MISSED_S = 60.0
"""A port may be silent while the heart beats for so many cycles in a row, and for so many as would come in so many seconds."""
LOOK_S = 10.0
"""So often it is looked whether a cycle is due, or each interval if that is shorter."""
LATE = 2.0
"""So many intervals without a cycle are too many (H7b)."""
PATIENT = 12
"""Whose tasks nobody is able to do is passed over for so many rounds."""


class Lead(NamedTuple):
    """What the cycle needs of leadership, which belongs to the nodes."""

    leads: Callable[[Transaction, int], bool]
    cycled: Callable[[Transaction, int], None]
    age_s: Callable[[Transaction], float | None]
    """How long ago the last cycle was done, by whoever led."""
    unled_s: Callable[[Transaction], float]
    """For how long no cycle has been done, though a node was there."""


class Deposed(Conflict):
    """Whoever wrote leads no more."""


class Done(NamedTuple):
    """What one cycle did: who was ill, who was planned for, how many were asked, whom it could not reach."""

    ill: tuple[str, ...]
    planned: tuple[str, ...]
    asked: int
    missed: tuple[str, ...]


def _locks(_lead: Lead, _fence: int, verb: Callable[..., object], *args: object, **kwargs: object) -> list[tuple[str, str]]:
    """The leader's lease may not change hands between the look at it and the commit."""
    own: Callable[..., Sequence[tuple[str, str]]] | None = getattr(verb, "locks", None)
    return [("lead", ""), *(own(*args, **kwargs) if own is not None else ())]


@locking(_locks)
def fenced(
    tx: Transaction, lead: Lead, fence: int, verb: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
) -> T:
    """What the verb answers, if this fencing token still leads (H8).

    Raises:
        Deposed: It does not; nothing is written.
    """
    tx.lock("lead", "")
    if not lead.leads(tx, fence):
        raise Deposed(f"the fencing token {fence} leads no more; another node does the cycle now.", fence=fence)
    return verb(tx, *args, **kwargs)


class Cycle:
    """The cycle of one node, done when it leads. What it keeps between rounds is only a memory of what it need not ask again."""

    def __init__(
        self,
        store: Store,
        *,
        node: str,
        settings: Callable[[], Settings],
        lead: Lead,
        answers: Callable[[str, int], Awaitable[bool]],
        planner: Planner,
    ) -> None:
        self._store = store
        self._node = node
        self._settings = settings
        self._lead = lead
        self._answers = answers
        self._planner = planner
        self._missed: dict[str, int] = {}
        self._turn = 0
        self._unlent: dict[str, int] = {}
        """Agents that are down and whose tasks nobody can do: for how many more rounds nobody is asked again."""

    async def when_due(self, fence: int) -> Done | None:
        """One cycle, if the last one, whoever did it, is long enough ago: a new leader goes on where the old one was.

        What will be due before half of the time to the next look is due: that look might be late by an interval.
        """
        age_s = await self._store.read(self._lead.age_s)
        cycle_s = self._settings().cycle_s
        if age_s is not None and age_s < cycle_s - min(cycle_s, LOOK_S) / 2:
            return None
        return await self.one_round(fence)

    async def one_round(self, fence: int) -> Done:
        """One cycle.

        Raises:
            Deposed: Another node leads now; what was written until then stands.
        """
        settings = self._settings()
        patience = patience_of(settings)
        await self._note_lateness(fence, settings)
        ward = await self._store.read(signs.read, patience)
        asked = await self._ask(settings)
        ill = {name: diagnose(found, patience.limits) for name, found in ward.signs.items()}
        await self._heal(fence, ward, ill)
        await self._restart_the_silent(fence, settings)
        planned = await self._plan(fence, ill)
        await self._write(fence, self._lead.cycled, fence)
        missed = tuple(sorted(self._missed))
        return Done(tuple(sorted(name for name, found in ill.items() if found)), planned, asked, missed)

    async def _write(self, fence: int, verb: Callable[..., T], *args: Any) -> T:
        return await self._store.write(fenced, self._lead, fence, verb, *args)

    async def _write_all(self, fence: int, writes: Sequence[tuple[Any, ...]]) -> list[Any]:
        """What these verbs answer, None for one that failed: it takes no other along.

        Raises:
            Deposed: Another node leads now.
        """
        found: list[Any] = []
        for start in range(0, len(writes), WRITTEN_AT_ONCE):
            part = writes[start : start + WRITTEN_AT_ONCE]
            found += await asyncio.gather(*(self._write(fence, *each) for each in part), return_exceptions=True)
        return [_answer(write, answer) for write, answer in zip(writes, found, strict=True)]

    async def _note_lateness(self, fence: int, settings: Settings) -> None:
        unled_s = await self._store.read(self._lead.unled_s)
        if unled_s > LATE * settings.cycle_s:
            log.warning("no cycle was done for %.0f s", unled_s)
            await self._write(fence, was_late, unled_s, settings.cycle_s)

    async def _heal(self, fence: int, ward: Ward, ill: dict[str, tuple[Ailment, ...]]) -> None:
        writes: list[tuple[Any, ...]] = [(remedies.revived, name) for name in ward.revived]
        writes += [(remedies.timeout_over, row) for row in ward.over]
        for name, ailments in ill.items():
            for ailment in ailments:
                if ailment.kind == "heartbeat_stale":
                    writes.append((remedies.silent, name, ailment))
                elif ailment.kind == "task_timeout":
                    writes.append((remedies.overran, name, ailment))
        bounds = {agent.id: agent.max_context for agent in self._settings().agents}
        writes += [(cleaning.of_full, name) for name in await self._store.read(cleaning.full, bounds)]
        writes += [(overflowing.look_again, name) for name in await self._store.read(overflowing.overflowing)]
        writes += [(remedies.unanswered, row.agent, row.since) for row in ward.unanswered]
        await self._write_all(fence, writes)

    async def _ask(self, settings: Settings) -> int:
        """Ask over HTTP, side by side; how many. Who has missed is remembered, by rounds and not by seconds."""
        rows = await self._store.read(signs.to_ask, self._turn, settings.stale_s)
        self._turn = (self._turn + 1) % max(1, -(-len(settings.agents) // signs.SAMPLE))
        slots = asyncio.Semaphore(ASKED_AT_ONCE)

        async def ask(row: Row) -> bool:
            async with slots:
                return await self._answers(row.host, row.port)

        answered = await asyncio.gather(*(ask(row) for row in rows))
        for row, well in zip(rows, answered, strict=True):
            if well or row.node != self._node:
                self._missed.pop(row.id, None)
            else:
                self._missed[row.id] = self._missed.get(row.id, 0) + 1
        return len(rows)

    async def lend(self, fence: int) -> int:
        """How many open tasks of agents that are not back in time were given to others: a round of its own, more often than the cycle (H4).

        Raises:
            Deposed: Another node leads now.
        """
        settings = self._settings()
        self._unlent = {name: left - 1 for name, left in self._unlent.items() if left > 1}
        names = [name for name in await self._store.read(lending.down, settings.back_s) if name not in self._unlent]
        if not names:
            return 0
        given = await self._write(fence, lending.give_away, names, settings.stale_s)
        self._unlent |= {name: PATIENT for name, count in given.items() if count == 0}
        return sum(given.values())

    async def _restart_the_silent(self, fence: int, settings: Settings) -> None:
        """Whoever's port is silent for too many cycles; who has been started since is asked anew first."""
        for name, missed in list(self._missed.items()):
            if missed >= max(MISSED, MISSED_S / settings.cycle_s):
                del self._missed[name]
                await self._write(fence, remedies.unresponsive, name, missed, settings.cycle_s)

    async def _plan(self, fence: int, ill: dict[str, tuple[Ailment, ...]]) -> tuple[str, ...]:
        """Who was planned for: of those that planning is due for, and of those idle for too long (P2)."""
        stalls = {name: ailment for name, found in ill.items() if (ailment := _of_kind(found, "excessive_idle")) is not None}
        names = dict.fromkeys([*stalls, *await self._store.read(due.due)])
        plans = await self._write_all(fence, [(remedies.idle, name, self._planner, stalls.get(name)) for name in names])
        return tuple(name for name, plan in zip(names, plans, strict=True) if plan is not None and plan.tasks)


def _answer(write: tuple[Any, ...], answer: Any) -> Any:
    if isinstance(answer, Deposed):
        raise answer
    if isinstance(answer, BaseException):
        what = getattr(write[0], "__name__", write[0])
        if isinstance(answer, CoveyError):
            log.warning("%s for %s: %s", what, write[1], answer.message)
        else:
            log.error("%s failed for %s", what, write[1], exc_info=answer)
        return None
    return answer


def _of_kind(ailments: Sequence[Ailment], kind: str) -> Ailment | None:
    return next((each for each in ailments if each.kind == kind), None)


def patience_of(settings: Settings) -> Patience:
    """The times that a fleet's cycle goes by. Pure."""
    return Patience(
        Limits(silence_s=settings.stall_s, idle_s=settings.stall_s),
        alive_s=settings.stale_s,
        answer_s=LATE * settings.cycle_s,
    )


def was_late(tx: Transaction, unled_s: float, cycle_s: float) -> None:
    """The cycle has not been done for too long, and is now: an incident that has ended already, for people (H7b)."""
    cause = f"no controller cycle was done for {span(unled_s)}; there should be one each {span(cycle_s)}."
    ident = incidents.open_incident(tx, "", "cycle_late", cause)
    incidents.end_incident(tx, ident, "cycled", "the cycle is done again.")
