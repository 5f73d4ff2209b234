"""Whom a task is offered to, what a task that was handed over still waits for, and where an offer stands (Q3). All from the store."""

from __future__ import annotations

from typing import Any

from covey.reports.in_line import Told
from covey.reports.phrases import when
from covey.store import Row, Transaction, statement

OFFERS_OF = statement(__package__, "offers_of")
HANDOFF = statement(__package__, "handoff")


def told(tx: Transaction, row: Row, facts: dict[str, Any]) -> list[str]:
    """What is to be said of the offer of an open task; `facts` gets it as values."""
    said = []
    for offer in tx.all(OFFERS_OF, task_id=row.id):
        if offer.state == "offered":
            facts["offer"] = {"handoffId": offer.id, "from": offer.giver, "to": offer.receiver, "until": offer.deadline}
            until = f"the offer ends {when(offer.deadline, tx.now)}"
            meanwhile = "nobody works on it meanwhile" if row.waiting_for == offer.id else "it goes on meanwhile"
            said.append(f"{offer.giver} offers it to {offer.receiver} ({offer.id}); {until}, and {meanwhile}.")
        elif row.waiting_for == offer.id:
            facts["awaitsRun"] = offer.awaits_run
            said.append(
                f"{offer.receiver} has taken it over from {offer.giver}, and begins once {offer.giver}'s run is known to have ended."
            )
    return said


def is_mark(tx: Transaction, row: Row) -> bool:
    """Whether what a blocked task waits for is an offer of it, and no message."""
    return any(offer.id == row.waiting_for for offer in tx.all(OFFERS_OF, task_id=row.id))


def seek(tx: Transaction, ident: str) -> Row | None:
    """The row of a handoff, or None."""
    return tx.one(HANDOFF, id=ident)


def explain(tx: Transaction, row: Row) -> Told:
    """The sentences and the facts of a handoff; what was said with it is not asked for."""
    facts: dict[str, Any] = {"state": row.state, "taskId": row.task_id, "from": row.giver, "to": row.receiver, "until": row.deadline}
    by = "" if row.offered_by == row.giver else f", by {row.offered_by}"
    said = [f"{row.id} is the offer of {row.giver}'s task {row.task_id} to {row.receiver}, made {when(row.offered_at, tx.now)}{by}."]
    if row.state == "offered":
        said.append(f"It waits for {row.receiver} to accept or decline it, and ends {when(row.deadline, tx.now)}.")
        if row.returns:
            said.append(f"The task was {row.receiver}'s before, so it has to consent.")
        if row.paused_at is not None or row.stopped_at is not None:
            said.append(f"{row.receiver} takes no mail now: `covey resume {row.receiver}`.")
        return said, facts
    facts |= {"endedAt": row.ended_at, "endedBy": row.ended_by, "why": row.why}
    why = f": {row.why}" if row.why else ""
    said.append(f"It was {row.state} {when(row.ended_at, tx.now)} by {row.ended_by}{why}.".replace("..", "."))
    if row.awaits_run is not None:
        said.append(f"{row.receiver} begins once {row.giver}'s run is known to have ended.")
    return said, facts
