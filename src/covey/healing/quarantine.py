"""Tasks that brains die of: after the second death one is set apart, not tried again, until somebody says so (H7a)."""

from __future__ import annotations

from collections.abc import Iterable

from covey.agents.model import Caller
from covey.healing import incidents
from covey.store import Row, Transaction, locking, statement
from covey.tasks import changing, runs
from covey.tasks.model import Task

LAST_ABOUT = statement(__package__, "last_about")

KIND = "quarantined"
DEADLY = 2
"""A task that so many brains died of is not tried again."""
DIED = "died"
"""The outcome of a run whose process ended under it."""


def deaths(tries: Iterable[Row], since: float) -> int:
    """How many of these runs, begun after a time, ended with their process, or with a brain that a signal killed. Pure."""
    return sum(run.claimed_at > since and (run.outcome == DIED or (run.exit_code or 0) < 0) for run in tries)


def verdict(tx: Transaction, ident: str, dying: int = 0) -> str | None:
    """Why a task is not to be tried again; None if it may be. `dying`: so many deaths that are not recorded yet.

    What lies before its last quarantine counts no more.
    """
    last = tx.one(LAST_ABOUT, subject=ident, kind=KIND)
    died = deaths(runs.of_item(tx, ident), last.opened_at if last is not None else 0.0) + dying
    if died < DEADLY:
        return None
    return f"quarantined: {died} processes ended while at work on it; `covey task retry {ident}` tries it again"


def set_apart(tx: Transaction, agent: str, ident: str, why: str) -> None:
    """The task is in quarantine: an incident, which the operator and the lead hear of."""
    found = incidents.open_incident(tx, agent, KIND, f"{ident} is {why}", subject=ident)
    incidents.step(tx, found, "failed", f"{ident} has failed and is not tried again by itself.")


@locking(lambda ident, *_, **__: changing.locks_of_retry(ident))
def retry(tx: Transaction, ident: str, by: Caller) -> Task:
    """As `changing.retry`; a task that was in quarantine is let out of it, and its deaths so far count no more."""
    task = changing.retry(tx, ident, by)
    for found in incidents.open_about(tx, ident, KIND):
        incidents.end_incident(tx, found, "released", f"{by.name} has it tried again.")
    return task
