"""Restarts given up, and tried again: what a person has to look at (H7). The agent's node decides; this records and tells."""

from __future__ import annotations

from typing import Literal

from covey.agents import living
from covey.healing import incidents
from covey.store import Transaction


def gave_up(tx: Transaction, agent: str, why: str, kind: Literal["crash_loop", "no_brain"] = "crash_loop") -> None:
    """The agent is not started again until somebody resumes it: status `error`, an incident, and the operator is told."""
    living.give_up(tx, agent, why)
    ident = incidents.open_incident(tx, agent, kind, f"{agent} is not started again: {why}")
    incidents.step(tx, ident, "given_up", "its node starts it no more until somebody says so.")


def tried_again(tx: Transaction, agent: str) -> None:
    """Somebody has it tried again: that incident is over, and if it fails once more that is a new one."""
    living.try_again(tx, agent)
    for kind in ("crash_loop", "no_brain"):
        for ident in incidents.open_ids(tx, agent, kind):
            incidents.end_incident(tx, ident, "resumed", "somebody has it tried again.")
