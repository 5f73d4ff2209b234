"""Whom a message goes to: one agent, a list, `*`, `@capability`, or back to who asked; and whether each may get its copy (M6, L3)."""

from __future__ import annotations

from covey.agents import breaking, roster
from covey.agents.model import OPERATOR, SYSTEM, Agent
from covey.base.errors import Invalid, Unknown
from covey.messages.checking import BATCH
from covey.messages.model import SendOutcome
from covey.store import Row, Transaction, statement

MAILBOX = statement(__package__, "mailbox")


def mailbox(tx: Transaction, name: str) -> Row | None:
    """The mailbox of an agent, a removed one too, or None."""
    return tx.one(MAILBOX, id=name)


def receivers(tx: Transaction, to: str | list[str] | None, sender: str) -> list[str]:
    """The names of who is meant by `to`, each once; whether they are there is seen when each is admitted.

    Raises:
        Invalid: Nobody is named, or only the sender itself.
        Unknown: Nobody has the capability.
    """
    if to is None or to == []:
        raise Invalid("to is missing: name an agent, a list of agents, `*` or `@capability`.", field="to")
    if isinstance(to, str):
        return _one(tx, to, sender)
    found: dict[str, None] = {}
    for name in to:
        found |= dict.fromkeys(_group(tx, name, sender) if name == "*" or name.startswith("@") else [name])
    return list(found)


def _one(tx: Transaction, to: str, sender: str) -> list[str]:
    if to == "*" or to.startswith("@"):
        return _group(tx, to, sender)
    if to == sender:
        raise Invalid(f"to is {to!r}, the sender itself; nobody sends to itself.", field="to")
    if to == SYSTEM:
        raise Invalid("to is 'system', which only sends; ask the lead or the operator.", field="to")
    return [to]


def _group(tx: Transaction, to: str, sender: str) -> list[str]:
    """All but the sender, or all but the sender who have a capability."""
    able = roster.everyone(tx) if to == "*" else _routed(tx, to[1:])
    found = [agent.id for agent in able if agent.id != sender]
    if found:
        return found
    if to == "*" or able:
        raise Invalid(f"to is {to!r}, and that is nobody but {sender} itself.", field="to")
    known = roster.capabilities(tx)
    raise Unknown(
        f"nobody has the capability {to[1:]!r}; nothing was stored. The fleet has: {', '.join(known)}.", field="to", nearest=known[:BATCH]
    )


def _routed(tx: Transaction, capability: str) -> list[Agent]:
    """The agents that have a capability: not those behind an open breaker, unless there is nobody else (H6)."""
    found = roster.with_capability(tx, capability)
    barred = breaking.opened(tx) if found else {}
    return [agent for agent in found if agent.id not in barred] or found


def admit(tx: Transaction, name: str) -> SendOutcome:
    """Whether this receiver gets its copy of what the operator or the protocol sends; nobody's link is asked."""
    if name == OPERATOR:
        return SendOutcome("delivered", "it is on disk in the operator's inbox.")
    box = mailbox(tx, name)
    return accepted(name, box.removed_at, box.paused_at, box.stopped_at) if box is not None else unknown(tx, name)


def unknown(tx: Transaction, name: str) -> SendOutcome:
    """There is no such agent."""
    return SendOutcome("unknown", roster.unknown(tx, name).message)


def accepted(name: str, removed_at: float | None, paused_at: float | None, stopped_at: float | None) -> SendOutcome:
    """What becomes of a copy in this mailbox, by its agent's flags. Pure."""
    if removed_at is not None:
        return SendOutcome("gone", f"{name} was removed from the fleet.")
    if stopped_at is not None or paused_at is not None:
        flag = "stopped" if stopped_at is not None else "paused"
        return SendOutcome(
            "held", f"it is on disk in {name}'s mailbox and held there, since {name} is {flag}; it is handed over at `covey resume {name}`."
        )
    return SendOutcome("delivered", f"it is on disk in {name}'s mailbox; {name} has not seen it yet.")
