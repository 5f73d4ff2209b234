"""Contexts that are made smaller by the controller: those above 80 %, and all of a machine that is short of something (C3, H10).

An agent's own turns keep its context within its bound; this is for what they left.
"""

from __future__ import annotations

from collections.abc import Mapping

from covey.contexts import compressing, reading, showing
from covey.contexts.model import WARN_AT, is_due
from covey.store import Transaction, statement

CONTEXT_SIZES = statement(__package__, "context_sizes")
MOST = 1000


def full(tx: Transaction, bounds: Mapping[str, int]) -> list[str]:
    """The agents whose context is above 80 % of its bound, and has grown since it was last compressed. `bounds` are in tokens, by name."""
    least = WARN_AT * min(bounds.values(), default=0)
    names = [row.agent for row in tx.all(CONTEXT_SIZES, least=least, limit=MOST)]
    return [name for name in names if name in bounds and _is_full(tx, name, bounds[name])]


def _is_full(tx: Transaction, name: str, bound: int) -> bool:
    known = reading.state(tx, name)
    return is_due(reading.size_of(tx, name), 0, bound, known.compressed_to if known is not None else 0)


def of_full(tx: Transaction, agent: str) -> None:
    """Its context is brought down to half its bound, since it is above 80 %."""
    compressing.compress(tx, agent, showing.bound_of(tx, agent), "the controller's cycle found it above 80 %")


def of_short_machine(tx: Transaction, agent: str) -> None:
    """Its context is brought down to half its bound, since its machine is short of something."""
    compressing.compress(tx, agent, showing.bound_of(tx, agent), "its machine is short of something")
