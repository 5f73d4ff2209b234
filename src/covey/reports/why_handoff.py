"""Whom a task is offered to, and what a task that was handed over still waits for (Q3). All from the store."""

from __future__ import annotations

from typing import Any

from covey.reports.phrases import when
from covey.store import Row, Transaction, statement

OFFERS_OF = statement(__package__, "offers_of")


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
