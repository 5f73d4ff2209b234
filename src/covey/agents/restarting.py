"""A restart asked for by a person or the lead. The agent's node does it: nobody else restarts (H7a)."""

from __future__ import annotations

from covey.agents import living, roster
from covey.agents.model import Caller
from covey.base.errors import Forbidden
from covey.store import Transaction

ASKED = "agent.restart_asked"
"""The event that a node acts on: its `agent` is to be started again."""


def ask(tx: Transaction, name: str, by: Caller, reason: str = "") -> None:
    """The agent's node is asked to start its process again; flags stay as they are (A7).

    Raises:
        Forbidden: The caller is neither the operator nor the lead.
        Unknown, Gone: There is no such agent.
    """
    check(tx, name, by)
    tx.happened(ASKED, agent=name, by=by.name, reason=reason)
    tx.ring("node")


def check(tx: Transaction, name: str, by: Caller) -> None:
    """Refuse who may not ask for this agent's restart.

    Raises:
        Forbidden: The caller is neither the operator nor the lead.
        Unknown, Gone: There is no such agent.
    """
    if not living.may_command(tx, by):
        raise Forbidden(f"{by.name} may not restart {name}: only the operator and the lead may.")
    roster.find(tx, name)
