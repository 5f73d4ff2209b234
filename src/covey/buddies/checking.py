"""Checks of buddies, as verbs: which are due, and what came of one. One verb stores a result, whoever made the check (B2)."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from covey.agents import checking as vitals
from covey.agents import roster
from covey.agents.model import OPERATOR, as_agent
from covey.buddies.asking import Place
from covey.buddies.model import CHECK_S, CONTROLLER, FOLLOW_S, OVERDUE_S, Answer, Last, Silence, Verdict, due_at
from covey.store import Row, Transaction, statement

LAST = statement(__package__, "last")
LAST_OF_ALL = statement(__package__, "last_of_all")
NOTE = statement(__package__, "note")
DUE = statement(__package__, "due")
DUES = statement(__package__, "dues")
OVERDUE = statement(__package__, "overdue")
UNWATCHED = statement(__package__, "unwatched")
WITNESSES = statement(__package__, "witnesses")
DROP_CHECKS = statement(__package__, "drop_checks")

EXTERNAL = "external"


class Due(NamedTuple):
    """One look of an agent after its buddy: where, when, and what came of the last one."""

    checker: str
    place: Place
    external: bool
    """Whether the buddy has no process of ours: its calls are its heartbeat, and nobody calls it (A5b)."""
    at: float
    now: float
    hourly: bool
    """Whether it is a check, or but a look between two checks at one that does not answer."""
    last: Last | None

    @property
    def by_controller(self) -> bool:
        """Whether nobody watches the agent, so that the controller does."""
        return self.checker.startswith(f"{CONTROLLER}:")

    @property
    def who(self) -> str:
        """Who looks, in words."""
        return CONTROLLER if self.by_controller else self.checker

    @property
    def is_due(self) -> bool:
        """Whether its time has come."""
        return self.now >= self.at

    @property
    def is_overdue(self) -> bool:
        """Whether the controller is to do it (B2)."""
        return self.now > self.at + OVERDUE_S


def due(tx: Transaction, checker: str, check_s: float = CHECK_S) -> Due | None:
    """The next look of this agent after its buddy, whether due or not; None if it watches nobody."""
    row = tx.one(DUE, checker=checker)
    return _due(tx.now, row, last(tx, checker), check_s) if row is not None else None


def dues(tx: Transaction, check_s: float = CHECK_S) -> list[Due]:
    """The next look of every agent, in the fleet's order."""
    known = last_of_all(tx)
    return [_due(tx.now, row, known.get(row.checker), check_s) for row in tx.all(DUES)]


def overdue(tx: Transaction, check_s: float = CHECK_S) -> list[Due]:
    """The looks that are more than ten minutes late, whoever's they are: the controller does them (B2)."""
    before = tx.now - OVERDUE_S
    rows = tx.all(OVERDUE, checked_before=before - check_s, look_before=before)
    found = [_due(tx.now, row, last(tx, row.checker), check_s) for row in rows]
    unwatched = tx.all(UNWATCHED, checked_before=before - check_s, look_before=before)
    return [each for each in found if each.is_overdue] + [
        _controllers(tx.now, row, last(tx, f"{CONTROLLER}:{row.checked}"), check_s) for row in unwatched
    ]


def _controllers(now: float, row: Row, before: Last | None, check_s: float) -> Due:
    """A look of the controller at an agent that nobody watches: it stands for the buddy that there is not (B1, B2)."""
    at = due_at(check_s, row.created_at, row.at, row.checked, before)
    hourly = row.at is None or now >= row.at + check_s
    return Due(f"{CONTROLLER}:{row.checked}", Place(row.checked, row.host, row.port), row.brain == EXTERNAL, at, now, hourly, before)


def _due(now: float, row: Row, before: Last | None, check_s: float) -> Due:
    at = due_at(check_s, row.created_at, row.last_buddy_check, row.checked, before)
    hourly = row.last_buddy_check is None or now >= row.last_buddy_check + check_s
    return Due(row.checker, Place(row.checked, row.host, row.port), row.brain == EXTERNAL, at, now, hourly, before)


def place_of(tx: Transaction, agent: str) -> tuple[Place, bool]:
    """Where an agent serves, and whether it is an external one.

    Raises:
        Unknown, Gone: There is no such agent.
    """
    found = roster.find(tx, agent)
    return Place(found.id, found.host, found.port), found.brain == EXTERNAL


def witnesses(tx: Transaction, checker: str, checked: str, stale_s: float, limit: int = 3) -> list[Place]:
    """Some others that beat: whoever reaches none of them either is cut off itself."""
    lead, deputy = roster.lead(tx)
    since = tx.now - stale_s
    rows = tx.all(WITNESSES, checker=checker, checked=checked, lead=lead, deputy=deputy, since=since, limit=limit)
    return [Place(row.name, row.host, row.port) for row in rows]


def last(tx: Transaction, checker: str) -> Last | None:
    """The check that this agent last made."""
    row = tx.one(LAST, checker=checker)
    return Last.from_row(row) if row is not None else None


def last_of_all(tx: Transaction, low: str = "", high: str = "~") -> dict[str, Last]:
    """The check that each agent last made, by who made it; of those between two names."""
    return {row.checker: Last.from_row(row) for row in tx.all(LAST_OF_ALL, low=low, high=high)}


class Found(NamedTuple):
    """What one look came to. `unreachable`: its health ping was not answered either, or it says that it is cut off."""

    verdict: Verdict
    check_id: str
    done_by: str
    unreachable: bool = False


def record(tx: Transaction, due: Due, found: Found, again_s: float = FOLLOW_S) -> bool:
    """Store what a look came to; whether it was still this agent's buddy. A check is an event, a look between two only if it says news.

    `again_s`: how soon one that did not answer is looked after again.
    """
    checker, checked = due.checker, due.place.name
    if not due.by_controller and roster.find(tx, checker).buddy != checked:
        return False
    before, missed = last(tx, checker), isinstance(found.verdict, Silence)
    outcome: Literal["answered", "missed"] = "missed" if missed else "answered"
    reason = found.verdict.sentence if isinstance(found.verdict, Silence) else ""
    tx.run(
        NOTE,
        checker=checker,
        checked=checked,
        now=tx.now,
        done_by=found.done_by,
        outcome=outcome,
        reason=reason[:500],
        unreachable=int(found.unreachable),
        look_at=tx.now + again_s,
        hourly=int(due.hourly),
        answered=int(due.hourly and not missed),
        missed=int(missed),
    )
    if due.hourly and not due.by_controller:
        vitals.checked(tx, checked, as_agent(checker))
    news = before is None or (before.checked, before.outcome, before.reason) != (checked, outcome, reason[:500])
    if due.hourly or news:
        say(tx, due.who, checked, found, between=not due.hourly)
    return True


def say(tx: Transaction, checker: str, checked: str, found: Found, *, between: bool) -> None:
    """Tell of a look: `buddy.checked` or `buddy.missed`, its agent the one that was looked after; `between` marks one that is no check."""
    told: dict[str, Any] = {"by": checker, "checkId": found.check_id, "doneBy": found.done_by}
    if between:
        told["between"] = True
    if isinstance(found.verdict, Answer):
        answer = found.verdict
        figures: dict[str, Any] = {"status": answer.status, "queueLength": answer.queue_length, "contextShare": round(answer.share, 3)}
        tx.happened("buddy.checked", agent=checked, subject=checker, **told, **figures, covering=answer.covering[:20])
        return
    silence = found.verdict
    tx.happened("buddy.missed", agent=checked, subject=checker, **told, reason=silence.fault, why=silence.sentence[:500])


def forget_the_gone(tx: Transaction) -> int:
    """How many records of agents that are no longer of the fleet were dropped."""
    return tx.run(DROP_CHECKS)


def buddy_shown(buddy: str) -> str:
    """Whom an agent watches, as it is shown: in a fleet of one, the operator (B1). Pure."""
    return buddy or OPERATOR
