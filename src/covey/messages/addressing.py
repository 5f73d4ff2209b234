"""Whom a message goes to: one agent, a list, `*`, `@capability`, or back to who asked; and whether each may get its copy (M6, L3)."""

from __future__ import annotations

from covey.agents import breaking, roster
from covey.agents.model import OPERATOR, SYSTEM, Agent
from covey.base.errors import Invalid, Unknown
from covey.messages.checking import BATCH
from covey.messages.model import SendOutcome
from covey.store import Row, Transaction, statement

MAILBOX = statement(__package__, "mailbox")

Receivers = dict[str, Row | None]
"""Each receiver's name with its mailbox (removed_at, paused_at, stopped_at); None: the operator, or a name that is refused by itself."""


def mailbox(tx: Transaction, name: str) -> Row | None:
    """The mailbox of an agent, a removed one too, or None."""
    return tx.one(MAILBOX, id=name)


def receivers(tx: Transaction, to: str | list[str] | None, sender: str) -> Receivers:
    """Who is meant by `to`.

    Raises:
        Unknown, Gone: The only one named is not there (M4c); of a list each is told by itself.
        Invalid: Nobody is named, or only the sender itself.
    """
    if to is None or to == []:
        raise Invalid("to is missing: name an agent, a list of agents, `*` or `@capability`.", field="to")
    if isinstance(to, str):
        return _one(tx, to, sender)
    found: Receivers = {}
    for name in to:
        found |= _group(tx, name, sender) if name == "*" or name.startswith("@") else {name: mailbox(tx, name)}
    return found


def _one(tx: Transaction, to: str, sender: str) -> Receivers:
    if to == "*" or to.startswith("@"):
        return _group(tx, to, sender)
    if to == sender:
        raise Invalid(f"to is {to!r}, the sender itself; nobody sends to itself.", field="to")
    if to == SYSTEM:
        raise Invalid("to is 'system', which only sends; ask the lead or the operator.", field="to")
    if to == OPERATOR:
        return {to: None}
    found = mailbox(tx, to)
    if found is None or found.removed_at is not None:
        roster.find(tx, to, field="to")
    return {to: found}


def _group(tx: Transaction, to: str, sender: str) -> Receivers:
    """All but the sender, or all but the sender who have a capability."""
    able = roster.everyone(tx) if to == "*" else _routed(tx, to[1:])
    found: Receivers = {agent.id: mailbox(tx, agent.id) for agent in able if agent.id != sender}
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


def admit(tx: Transaction, name: str, box: Row | None, sender: str) -> SendOutcome:
    """Whether this receiver gets its copy; links come on top of it."""
    if name == sender:
        return SendOutcome("invalid", f"{name} is the sender itself; nobody sends to itself.")
    if name == OPERATOR:
        return SendOutcome("delivered", "it is on disk in the operator's inbox.")
    if box is None:
        return SendOutcome("unknown", roster.unknown(tx, name).message)
    if box.removed_at is not None:
        return SendOutcome("gone", f"{name} was removed from the fleet.")
    if box.stopped_at is not None or box.paused_at is not None:
        flag = "stopped" if box.stopped_at is not None else "paused"
        return SendOutcome(
            "held", f"it is on disk in {name}'s mailbox and held there, since {name} is {flag}; it is handed over at `covey resume {name}`."
        )
    return SendOutcome("delivered", f"it is on disk in {name}'s mailbox; {name} has not seen it yet.")
