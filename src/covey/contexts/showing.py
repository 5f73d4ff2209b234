"""A context as people and programs look at it, and its compression asked for by one of them."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from covey.agents import roster
from covey.base.settings import AgentSettings
from covey.contexts import checkpoints, compressing
from covey.contexts.checkpoints import Checkpoint
from covey.contexts.model import Compressed, Entry
from covey.contexts.reading import State, live, state
from covey.store import Transaction


class Shown(NamedTuple):
    """A context: its live entries, oldest first, its bound in tokens, its checkpoint, and what is known of it as a whole."""

    entries: list[Entry]
    max_tokens: int
    state: State | None
    checkpoint: Checkpoint | None

    @property
    def size(self) -> int:
        """Its size in tokens."""
        return sum(entry.tokens for entry in self.entries)


def show(tx: Transaction, agent: str) -> Shown:
    """An agent's context.

    Raises:
        Unknown, Gone: There is no such agent.
    """
    return Shown(live(tx, agent), bound_of(tx, agent), state(tx, agent), checkpoints.load(tx, agent))


def compress_now(tx: Transaction, agent: str, by: str) -> Compressed:
    """What came of compressing an agent's context down to half its bound now, full or not (C3).

    Raises:
        Unknown, Gone: There is no such agent.
    """
    return compressing.compress(tx, agent, bound_of(tx, agent), f"{by} asked for it")


def bound_of(tx: Transaction, agent: str) -> int:
    """How many tokens an agent's context may have.

    Raises:
        Unknown, Gone: There is no such agent.
    """
    return msgspec.convert(roster.find(tx, agent, field="agent").settings, AgentSettings).max_context
