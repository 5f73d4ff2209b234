"""Agents whose brain joins from outside: they have no process of ours, so each call of theirs is a heartbeat (A5b)."""

from __future__ import annotations

from covey.store import Transaction, relaxed, statement

SEEN = statement(__package__, "seen")


@relaxed
def seen(tx: Transaction, name: str) -> None:
    """The external agent has called just now."""
    tx.run(SEEN, agent=name, now=tx.now)
