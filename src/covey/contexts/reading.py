"""A context as it stands, read only: its live entries, its size, what is known of it as a whole."""

from __future__ import annotations

from typing import Any, NamedTuple

from covey.contexts.model import Entry
from covey.store import Transaction, statement

LIVE = statement(__package__, "live")
TOLD = statement(__package__, "told")
SIZE = statement(__package__, "size")
STATE = statement(__package__, "state")


class State(NamedTuple):
    """What is known of an agent's context as a whole. Times are store time."""

    version: int
    """Higher after each compression."""
    compressed_to: int
    compressed_at: float | None
    tidied_at: float
    cold_entries: int
    cold_since: float | None
    emergencies: int
    told_at: float | None
    too_large_at: float | None
    too_large: str | None
    session: int
    """The number of the session that its brain is to work in (C5a)."""
    session_fresh: int
    session_tokens: int | None
    session_limit: int | None


def live(tx: Transaction, agent: str) -> list[Entry]:
    """The live context, oldest first."""
    return [Entry(*row) for row in tx.all(LIVE, agent=agent)]


def told(tx: Transaction, agent: str) -> list[dict[str, Any]]:
    """The live context as a turn has it, oldest first: kind, text and time of each entry."""
    return [{"kind": kind, "text": text, "at": at} for kind, text, at in tx.all(TOLD, agent=agent)]


def size_of(tx: Transaction, agent: str) -> int:
    """The live context's size in tokens."""
    row = tx.one(SIZE, agent=agent)
    return int(row.tokens) if row else 0


size = size_of


def state(tx: Transaction, agent: str) -> State | None:
    """What is known of the context; None if it has never been compressed and its brain has no session of its own."""
    row = tx.one(STATE, agent=agent)
    return State(*row) if row is not None else None


def too_large(tx: Transaction, agent: str) -> str | None:
    """Why the agent is in error for its context (A3); None if it is not."""
    row = tx.one(STATE, agent=agent)
    return row.too_large if row is not None else None
