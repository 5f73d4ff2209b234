"""Who watches whom, who watches an agent, and who covers for it: pure, over the fleet's pairs (B1, B5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from covey.agents.model import OPERATOR
from covey.base import pairing


def pairs(names: Sequence[str], named: Mapping[str, str] | None = None) -> dict[str, str]:
    """Each agent with the one it watches: as named, the rest by themselves; in a fleet of one, the operator (B1). Pure."""
    found = pairing.complete(names, named or {})
    return {name: found.get(name, OPERATOR) for name in names}


def watchers(pairs_of: Mapping[str, str], agent: str) -> list[str]:
    """Who watches this agent, in the fleet's order; as a rule one. Pure."""
    return [name for name, buddy in pairs_of.items() if buddy == agent]


def unwatched(pairs_of: Mapping[str, str]) -> list[str]:
    """The agents that nobody watches, since all others were written to watch somebody else: the controller looks after them. Pure."""
    watched = set(pairs_of.values())
    return [name for name in pairs_of if name not in watched]


def coverer(agent: str, pairs_of: Mapping[str, str], up: Collection[str], chain: Sequence[str]) -> str:
    """Who covers for an agent that is down (B5): who watches it, then whom it watches, then the lead and the deputy (`chain`).

    The first of them that is up; the operator if none is. Pure.
    """
    wanted = [*watchers(pairs_of, agent), pairs_of.get(agent, OPERATOR), *chain]
    return next((name for name in wanted if name in up and name != agent), OPERATOR)
