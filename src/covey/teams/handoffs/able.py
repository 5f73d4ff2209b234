"""Who may be handed a task: who has its capability, takes work, and has a brain that can do it (A1a). A refusal names those."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from covey.agents import breaking, roster
from covey.agents.external import is_away
from covey.agents.model import GLOBAL, STALE_S, Agent
from covey.base.errors import Conflict, CoveyError, Gone, Unknown
from covey.base.settings import PAID_KINDS, AgentSettings
from covey.brains.rules.doable import would_do
from covey.links import directions
from covey.store import Row, Transaction, statement

ABLE = statement(__package__, "able")
NAMED = 10


class Able(NamedTuple):
    """An agent that may be handed a task, with how many open ones it has."""

    name: str
    brain: str
    place: int
    tasks: int
    lives: bool


def able(tx: Transaction, task: Row, giver: str, capability: str | None = None) -> list[Able]:
    """Who may be handed this task by its owner, the best first: live ones, of the same sort of brain, with the least to do."""
    rows = tx.all(ABLE, queue=f"{GLOBAL}:{capability or task.capability or 'general'}", alive_after=tx.now - STALE_S)
    found = [Able(row.id, row.brain, row.place, row.tasks, bool(row.lives)) for row in rows if row.id != giver]
    paid = _brain(tx, giver) in PAID_KINDS
    fit = [each for each in found if would_do(each.brain, task.description) and not _is_away(tx, each.name, each.brain)]
    return sorted(fit, key=lambda each: _order(each, paid))


def _order(each: Able, paid: bool) -> tuple[bool, bool, int, int]:
    return not each.lives, (each.brain in PAID_KINDS) != paid, each.tasks, each.place


def _brain(tx: Transaction, name: str) -> str:
    found = roster.seek(tx, name)
    return found.brain if found is not None else ""


def _is_away(tx: Transaction, name: str, brain: str) -> bool:
    """Whether an external agent was not seen for its cadence (A5b)."""
    if brain != "external":
        return False
    settings = msgspec.convert(roster.find(tx, name).settings, AgentSettings)
    return is_away(roster.vitals(tx, name).seen_at, settings.cadence_s, tx.now)


def receiver_of(tx: Transaction, task: Row, giver: str, to: str, passed_over: Sequence[str] = ()) -> str:
    """Who is meant by `to`: that agent, if it is able to do the task, or of a `@capability` the best who is.

    Raises:
        Unknown, Gone, Conflict: There is no such agent, or it can't be handed this; `details["candidates"]` names who can.
    """
    if to.startswith("@"):
        found = [each.name for each in able(tx, task, giver, to[1:]) if each.lives and each.name not in passed_over]
        if not found:
            raise _refused(tx, task, giver, f"nobody else with the capability {to[1:]!r} is able to do {task.id} now")
        return found[0]
    try:
        agent = roster.find(tx, to, field="to")
    except (Unknown, Gone) as error:
        raise _naming(error, tx, task, giver) from error
    why = why_unable(tx, task, agent)
    if why is not None:
        raise _refused(tx, task, giver, f"{to} can't be handed {task.id}: {why}")
    return to


def why_unable(tx: Transaction, task: Row, agent: Agent) -> str | None:
    """Why an agent is not able to do a task now; None if it is. Whether its process lives is not asked."""
    wanted = task.capability or "general"
    if wanted not in agent.capabilities and wanted != "general":
        return f"it has not the capability {wanted!r}"
    if agent.removed_at is not None:
        return "it was removed from the fleet"
    if agent.failed_at is not None:
        return f"it was given up: {agent.failed_reason}"
    if not agent.takes_work:
        return "it is stopped" if agent.stopped_at is not None else "it is paused"
    if _is_away(tx, agent.id, agent.brain):
        return "it is away"
    if breaking.open_of(tx, agent.id) is not None:
        return "its breaker is open"
    return None if would_do(agent.brain, task.description) else "its rules brain can't do this"


def check_linked(tx: Transaction, giver: str, receiver: str) -> None:
    """Refuse an agent's offer where its mail may not go either (L1, L14).

    Raises:
        Conflict: The two are not linked, or their link is disabled.
    """
    way = directions.find(tx, giver, receiver)
    refusal = way.refusal if way is not None else None
    if refusal is not None:
        raise Conflict(f"{giver} can't offer a task to {receiver}: {refusal.sentence}", field="to", link=refusal.status)


def _refused(tx: Transaction, task: Row, giver: str, what: str) -> Conflict:
    names = [each.name for each in able(tx, task, giver)][:NAMED]
    return Conflict(f"{what}. {_hint(names)}", field="to", candidates=names, nearest=names)


def _naming(error: CoveyError, tx: Transaction, task: Row, giver: str) -> CoveyError:
    """The same error, with those who are able."""
    names = [each.name for each in able(tx, task, giver)][:NAMED]
    details = {"nearest": names, **error.details, "candidates": names}
    return type(error)(f"{error.message} {_hint(names)}", field="to", **details)


def _hint(names: list[str]) -> str:
    return f"Able to do it: {', '.join(names)}." if names else "Nobody else is able to do it now."
