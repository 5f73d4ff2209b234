"""A restart that somebody asks for from outside: refused where nobody is there to do it, so that nothing is promised in vain (H7a)."""

from __future__ import annotations

from covey.agents import restarting, roster
from covey.agents.model import Caller
from covey.base.errors import Conflict, NotRunning
from covey.nodes import records
from covey.store import Transaction


def ask(tx: Transaction, name: str, by: Caller, reason: str = "") -> None:
    """The agent's node is asked to start its process again; without a node that lives nothing is stored.

    Raises:
        Forbidden: The caller is neither the operator nor the lead.
        Unknown, Gone: There is no such agent.
        Conflict: It is external, so nobody here has a process of it.
        NotRunning: No node runs.
    """
    restarting.check(tx, name, by)
    if roster.find(tx, name).brain == "external":
        raise Conflict(f"{name} is external: it has no process here that could start anew. Its own session is started where it runs.")
    if not records.any_lives(tx):
        raise NotRunning(f"the fleet is down, so {name} has no process and no node would start it. `covey up` starts the whole fleet.")
    restarting.ask(tx, name, by, reason)


def ask_if_any_would(tx: Transaction, name: str, by: Caller, reason: str = "") -> str:
    """As `ask`, beside something that is done whoever runs: why it was not asked, with nothing stored of it; empty if it was.

    Raises:
        Forbidden, Unknown, Gone: As `ask`.
    """
    try:
        ask(tx, name, by, reason)
    except (Conflict, NotRunning) as error:
        return error.message
    return ""
