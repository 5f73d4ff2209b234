"""What a brain that costs money may start on: the claim asks, before it takes (P3).

What the operator asked for itself always goes: its tasks, those of its schedules, what it approved, their parts, its mail. What follows
from that between agents is not asked for, nor is what an agent put on a schedule: it waits while the fleet's budget is spent. What planning
made never starts a brain for which planning is off.
"""

from __future__ import annotations

from covey.agents import roster
from covey.planning import budgets
from covey.reports import spending
from covey.reports.spending import is_planned
from covey.store import Transaction
from covey.tasks.model import Only


def gate(tx: Transaction, agent: str) -> Only:
    """What the next turn of an agent may be whose brain costs money.

    No other paid brain starts until this is committed, so that the count of turns is never gone over.
    """
    tx.lock("budget", "")
    spent = spending.spent_of_fleet(tx)
    if spent is not None:
        budgets.tell(tx, spent)
        return "asked"
    found = roster.seek(tx, agent)
    return "all" if found is not None and is_planned(found) else "ungenerated"
