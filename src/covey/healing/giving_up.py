"""Restarts given up, and tried again: what a person has to look at (H7). The agent's node decides; this records and tells."""

from __future__ import annotations

from typing import Literal

from covey.agents import living
from covey.healing import incidents
from covey.store import Transaction


def gave_up(tx: Transaction, agent: str, why: str, kind: Literal["crash_loop", "no_brain"] = "crash_loop") -> None:
    """The agent does nothing until somebody resumes it: status `error`, an incident, and the operator is told.

    crash_loop: its process ends again and again, so it is not started any more. no_brain: its process serves, and can't think.
    """
    living.give_up(tx, agent, why)
    cause = f"{agent} is not started again: {why}" if kind == "crash_loop" else f"{agent} has no brain: {why}"
    ident, new = incidents.opened(tx, agent, kind, cause)
    if new:
        held = "its node starts it no more" if kind == "crash_loop" else "it is given neither mail nor work"
        incidents.step(tx, ident, "given_up", f"{held} until somebody says so.")


def has_brain(tx: Transaction, agent: str) -> None:
    """The agent's process came up with a brain: that it had none is over."""
    for ident in incidents.open_ids(tx, agent, "no_brain"):
        incidents.end_incident(tx, ident, "cured", "it came up with a brain.")


def tried_again(tx: Transaction, agent: str) -> None:
    """Somebody has it tried again: that incident is over, and if it fails once more that is a new one."""
    living.try_again(tx, agent)
    for kind in ("crash_loop", "no_brain"):
        for ident in incidents.open_ids(tx, agent, kind):
            incidents.end_incident(tx, ident, "resumed", "somebody has it tried again.")
