"""Who may be handed a task: who has its capability, takes work, and has a brain that can do it (A1a). A refusal names those."""

from __future__ import annotations

from collections.abc import Sequence

from covey.agents import roster
from covey.agents.model import Agent
from covey.base.errors import Conflict, CoveyError, Gone, Unknown
from covey.base.settings import PAID_KINDS
from covey.brains.rules.doable import doers, would_do
from covey.links import directions
from covey.store import Row, Transaction
from covey.tasks import takers
from covey.tasks.takers import Taker, order

NAMED = 10


def able(tx: Transaction, task: Row, giver: str, capability: str | None = None) -> list[Taker]:
    """Who may be handed this task by its owner, the best first: live ones, of the same sort of brain, with the least to do.

    One that does not live may be offered it too, by its name: the offer waits for it.
    """
    found = [each for each in takers.having(tx, capability or task.capability) if each.name != giver and each.bar is None]
    kinds = doers((each.brain for each in found), task.description)
    owner = roster.seek(tx, giver)
    paid = owner is not None and owner.brain in PAID_KINDS
    fit = [each for each in found if each.brain in kinds]
    return sorted(fit, key=lambda each: order(each, ((each.brain in PAID_KINDS) != paid,)))


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
    """Why an agent is not able to do a task now, in words of ours alone; None if it is. Whether its process lives is not asked."""
    wanted = task.capability or "general"
    if wanted not in agent.capabilities and wanted != "general":
        return f"it has not the capability {wanted!r}"
    (found,) = takers.named(tx, [agent.id])
    if found.bar is not None:
        return f"it {found.bar.what}"
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
