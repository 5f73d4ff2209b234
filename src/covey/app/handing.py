"""A handoff as a Python program holds it: offered, followed to its end, which comes by itself whoever sweeps (Q3)."""

from __future__ import annotations

from covey.agents.model import Caller
from covey.base.clock import Clock
from covey.store import Store, Transaction
from covey.teams.handoffs import lapsing, offering, reading
from covey.teams.handoffs.model import Handoff, HandoffDraft

LOOK_S = 0.1


async def hold(store: Store, clock: Clock, draft: HandoffDraft, by: Caller) -> Handoff:
    """The handoff once it is answered or its time is over. A program that was killed takes its offer up again by making it again.

    Raises:
        CoveyError: As `offering.offer`.
    """
    found = await store.write(offering.offer, draft, by)
    while found.is_open:
        found, due = await store.read(_look, found.handoff_id)
        if due:
            await store.write(lapsing.expire_due)
        elif found.is_open:
            await clock.sleep(LOOK_S)
    return found


def _look(tx: Transaction, ident: str) -> tuple[Handoff, bool]:
    """The handoff, and whether it is time for it to end."""
    found = reading.show(tx, ident)
    return found, found.is_open and found.deadline <= tx.now
