"""Who is due for a look: one query, so that a cycle touches only those (H8)."""

from __future__ import annotations

from covey.store import Transaction, statement

DUE = statement(__package__, "due")


def due(tx: Transaction, limit: int = 500) -> list[str]:
    """The agents that have nothing to do and whose cool-downs or budgets may give them something now; the longest due first.

    `planning.plan` looks closer at each: whether it lives, what its mail says.
    """
    return [row.id for row in tx.all(DUE, now=tx.now, limit=limit)]
