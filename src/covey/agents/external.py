"""Agents whose brain joins from outside: they have no process of ours, so each call of theirs is a heartbeat (A5b)."""

from __future__ import annotations

from covey.store import Transaction, relaxed, statement

SEEN = statement(__package__, "seen")


@relaxed
def seen(tx: Transaction, name: str) -> None:
    """The external agent has called just now."""
    tx.run(SEEN, agent=name, now=tx.now)


def is_away(seen_at: float | None, cadence_s: float, now: float) -> bool:
    """Whether an external agent was not seen for its cadence, or never (A5b). Pure."""
    return seen_at is None or now - seen_at > cadence_s
