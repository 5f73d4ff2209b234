"""The open tasks of an agent that is down, given to able ones, and those not begun returned when it is back (H4).

Order and needs stay: a task keeps its place in line and what it waits for. Giving and returning are one transaction each, and doing
either twice changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from covey.agents import roster
from covey.agents.external import is_away
from covey.agents.model import THE_SYSTEM, Agent
from covey.base.settings import AgentSettings
from covey.healing import incidents
from covey.healing.choosing import Wanted, able_now, choose
from covey.healing.model import Incident
from covey.store import Row, Transaction, relaxed, statement
from covey.store.upkeep import Pruned
from covey.tasks import changing, reading
from covey.tasks.takers import Taker

DOWN = statement(__package__, "down")
AWAY_OUTSIDE = statement(__package__, "away")
WAITING_OF = statement(__package__, "waiting_of")
LEND = statement(__package__, "lend")
LENT_OF = statement(__package__, "lent_of")
FORGET_LENT = statement(__package__, "forget_lent")
FORGET_ENDED = statement(__package__, "forget_ended")

AWAY = ("process_died", "hung", "heartbeat_stale", "crash_loop")
"""The incidents during which an agent does nothing."""
MOST = 1000
"""So many tasks of an agent are given away at once; the rest follows."""


def down(tx: Transaction, back_s: float, limit: int = 50) -> list[str]:
    """The agents that are not back after so long, or external and away for so long, and whose own tasks wait (H4, A5b)."""
    before = tx.now - back_s
    return [row.agent for each in (DOWN, AWAY_OUTSIDE) for row in tx.all(each, before=before, limit=limit)]


def give_away(tx: Transaction, agents: Sequence[str], alive_s: float | None = None) -> dict[str, int]:
    """How many waiting tasks of each of these agents are others' now. Tasks that nobody is able to do wait on."""
    lender = _Lender(tx, alive_s)
    return {name: lender.give(name) for name in sorted(agents)}


def give_barred(tx: Transaction, name: str, alive_s: float | None = None) -> dict[str, int]:
    """How many waiting tasks of an agent whose breaker is open each other agent has now: those that name a capability (H6).

    What is meant for this agent itself waits for it, and so does what nobody else is able to do.
    """
    owner = roster.seek(tx, name)
    if owner is None:
        return {}
    lender = _Lender(tx, alive_s)
    rows = [row for each in tx.all(WAITING_OF, agent=name, limit=MOST) if (row := reading.seek(tx, each.id)) is not None and row.capability]
    for ident in sorted(row.id for row in rows):
        tx.lock("task", ident)
    return dict(Counter(heir for row in rows if (heir := lender.lend(row.id, owner)) is not None))


class _Lender:
    """Gives tasks away, with one look at who is able for each capability."""

    def __init__(self, tx: Transaction, alive_s: float | None) -> None:
        self._tx = tx
        self._alive_s = alive_s
        self._able: dict[str, list[Taker]] = {}
        self._taken: Counter[str] = Counter()

    def give(self, name: str) -> int:
        """How many tasks of this agent are others' now; none if it is back."""
        tx = self._tx
        tx.lock("mailbox", name)
        owner, open_now = roster.seek(tx, name), _away(tx, name)
        if owner is None or not (open_now or _is_away(tx, owner)):
            return 0
        names = [row.id for row in tx.all(WAITING_OF, agent=name, limit=MOST)]
        for ident in sorted(names):
            tx.lock("task", ident)
        heirs = Counter(heir for ident in names if (heir := self.lend(ident, owner)) is not None)
        for incident in open_now:
            _tell(tx, incident, heirs, len(names) - heirs.total())
        return heirs.total()

    def lend(self, ident: str, owner: Agent) -> str | None:
        """Who has a task of this agent now; None if it waits on."""
        row = reading.seek(self._tx, ident)
        if row is None or row.state not in changing.WAITING or row.agent != owner.id:
            return None
        wanted = Wanted(owner.id, owner.brain, row.description, tuple(msgspec.json.decode(row.failed_by)))
        heir = choose(wanted, self._candidates(row.capability), self._taken)
        if heir is None:
            return None
        changing.move(self._tx, row, heir, row.capability, THE_SYSTEM)
        self._tx.run(LEND, task_id=ident, owner=owner.id, heir=heir, attempts=row.attempts, now=self._tx.now)
        self._taken[heir] += 1
        return heir

    def _candidates(self, capability: str | None) -> list[Taker]:
        key = capability or ""
        if key not in self._able:
            self._able[key] = able_now(self._tx, capability, self._alive_s)
        return self._able[key]


def _away(tx: Transaction, name: str) -> list[Incident]:
    """The open incidents that say that it is down, if it has not been heard of since."""
    beat = roster.vitals(tx, name).heartbeat_at or 0.0
    return [each for each in incidents.open_of(tx, name) if each.kind in AWAY and beat <= each.opened_at]


def _is_away(tx: Transaction, owner: Agent) -> bool:
    """Whether it is external and was not seen for its cadence (A5b). One that never called has its cadence from its first day on."""
    if owner.brain != "external":
        return False
    seen = roster.vitals(tx, owner.id).seen_at or owner.created_at
    return is_away(seen, msgspec.convert(owner.settings, AgentSettings).cadence_s, tx.now)


def _tell(tx: Transaction, incident: Incident, heirs: Counter[str], left: int) -> None:
    if heirs:
        to = ", ".join(f"{name} ({count})" if count > 1 else name for name, count in sorted(heirs.items())[:20])
        incidents.step(tx, incident.incident_id, "tasks_given", f"it is not back, so its waiting tasks were given away: to {to}.")
    if left and not any(each.action == "nobody_able" for each in incident.steps):
        incidents.step(tx, incident.incident_id, "nobody_able", f"nobody is able to do {left} of its tasks; they wait for it.")


def has_lent(tx: Transaction, name: str) -> bool:
    """Whether others have tasks of this agent."""
    return bool(tx.all(LENT_OF, owner=name))


def take_back(tx: Transaction, name: str) -> list[str]:
    """The ids of the tasks that are the agent's again since it is back: those that nobody has begun."""
    tx.lock("mailbox", name)
    lent = tx.all(LENT_OF, owner=name)
    for each in lent:
        tx.lock("task", each.task_id)
    back = [each.task_id for each in lent if _returned(tx, name, each)]
    if lent:
        tx.run(FORGET_LENT, owner=name)
    return back


def _returned(tx: Transaction, name: str, lent: Row) -> bool:
    row = reading.seek(tx, lent.task_id)
    if row is None or row.state not in changing.WAITING or row.agent != lent.heir or row.attempts != lent.attempts:
        return False
    changing.move(tx, row, name, row.capability, THE_SYSTEM)
    return True


@relaxed
def prune(tx: Transaction, *, older_s: float, after: int = 0, limit: int = 500) -> Pruned:  # noqa: ARG001 - each retention's
    """Forget whose the lent tasks were that have ended; one step."""
    gone = tx.run(FORGET_ENDED, limit=limit)
    return Pruned(gone, after if gone == limit else None)
