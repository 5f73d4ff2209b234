"""Who is in the fleet: look-ups and the names that come near a wrong one (M4c)."""

from __future__ import annotations

from difflib import get_close_matches
from typing import NamedTuple

import msgspec

from covey.agents.model import GLOBAL, STALE_S, Agent, Vitals, capabilities_of
from covey.base.errors import Gone, Unknown
from covey.store import Transaction, statement

ALL = statement(__package__, "all")
DIRECTORY = statement(__package__, "directory")
FIND = statement(__package__, "find")
NAMES = statement(__package__, "names")
PAGE = statement(__package__, "page")
VITALS = statement(__package__, "vitals")
ALL_VITALS = statement(__package__, "all_vitals")
FACT = statement(__package__, "fact")
CAPABILITIES = statement(__package__, "capabilities")
ABLE = statement(__package__, "able")

_ALL = 1_000_000
"""More than any fleet has."""


def find(tx: Transaction, name: str, *, field: str = "agent") -> Agent:
    """The agent of this name.

    Raises:
        Unknown: There never was one; the nearest names are said (M4c).
        Gone: It was removed from the fleet.
    """
    agent = seek(tx, name)
    if agent is None:
        raise unknown(tx, name, field=field)
    if agent.removed_at is not None:
        raise Gone(f"{name} was removed from the fleet; `covey ps` lists who is there.", field=field)
    return agent


def seek(tx: Transaction, name: str) -> Agent | None:
    """The agent of this name, a removed one too, or None."""
    row = tx.one(FIND, id=name)
    return Agent.from_row(row) if row else None


def unknown(tx: Transaction, name: str, *, field: str = "agent") -> Unknown:
    """The error for a name that nobody bears, with the nearest names."""
    names = all_names(tx)
    near = get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"The fleet has: {', '.join(names[:20])}{' …' if len(names) > 20 else ''}."
    return Unknown(f"there is no agent {name!r}; nothing was stored. {hint}", field=field, nearest=near or names[:20])


def all_names(tx: Transaction) -> list[str]:
    """The names of all agents, in the fleet's order."""
    return [row.id for row in tx.all(NAMES)]


def everyone(tx: Transaction) -> list[Agent]:
    """All agents in the fleet's order."""
    return [Agent.from_row(row) for row in tx.all(ALL)]


class Page(NamedTuple):
    """Some agents in the fleet's order, and the place after which the next ones stand; None at the end."""

    agents: list[Agent]
    cursor: int | None


def page(tx: Transaction, *, after: int | None = None, limit: int | None = None) -> Page:
    """As many agents as `limit` says, or all, from behind the place `after`, or from the first one."""
    rows = tx.all(PAGE, after=-1 if after is None else after, limit=(limit or _ALL) + 1)
    found = rows[:limit]
    return Page([Agent.from_row(row) for row in found], found[-1].place if len(rows) > len(found) else None)


class Known(NamedTuple):
    """What agents know of each other."""

    id: str
    role: str
    capabilities: tuple[str, ...]


def directory(tx: Transaction) -> list[Known]:
    """All agents in the fleet's order, with no more than others need to know of them: read for each turn."""
    return [Known(row.id, row.role, capabilities_of(row.capabilities)) for row in tx.all(DIRECTORY)]


def vitals(tx: Transaction, name: str) -> Vitals:
    """What is recorded of this agent's life."""
    row = tx.one(VITALS, agent=name)
    if row is None:
        raise unknown(tx, name)
    return Vitals(*row)


def all_vitals(tx: Transaction) -> dict[str, Vitals]:
    """What is recorded of every agent's life."""
    return {row.agent: Vitals(*row) for row in tx.all(ALL_VITALS)}


def capabilities(tx: Transaction) -> list[str]:
    """Every capability that somebody has, in order."""
    return [row.capability for row in tx.all(CAPABILITIES)]


def with_capability(tx: Transaction, capability: str) -> list[Agent]:
    """The agents that have it, in the fleet's order (A1a); whether they can work now is not asked."""
    return [Agent.from_row(row) for row in tx.all(ABLE, queue=f"{GLOBAL}:{capability}")]


def lead(tx: Transaction) -> tuple[str, str]:
    """Who plays chief and who plays ops (A2a); the operator where nobody does."""
    row = tx.one(FACT, name="lead")
    found: tuple[str, str] = tuple(msgspec.json.decode(row.value)) if row else ("operator", "operator")
    return found


def stale_s(tx: Transaction) -> float:
    """After so many seconds without a heartbeat an agent counts as silent, by the fleet's settings (A3)."""
    row = tx.one(FACT, name="stale_s")
    return float(msgspec.json.decode(row.value)) if row else STALE_S
