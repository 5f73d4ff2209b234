"""Who takes work that its own agent can't do now: a live, able agent with the fewest open tasks, of two the one with the same sort of brain (H3, H4).

A paid brain takes over from a paid one only: nothing may cost money because something else broke. The choice is pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from covey.agents.model import GLOBAL
from covey.base.settings import PAID_KINDS
from covey.brains.rules.doable import recognised
from covey.store import Transaction, statement

ABLE_NOW = statement(__package__, "able_now")

ALIVE_S = 60.0
"""Who has not beaten for so long is not asked (A3)."""


class Candidate(NamedTuple):
    """An agent that can take work of a capability now, with how many open tasks it has."""

    name: str
    brain: str
    place: int
    tasks: int


class Wanted(NamedTuple):
    """The work to be done: whose it is, with which brain, and who has failed at it, each time."""

    owner: str
    brain: str
    description: str
    failed_by: tuple[str, ...] = ()


def able_now(tx: Transaction, capability: str | None, alive_s: float = ALIVE_S) -> list[Candidate]:
    """Who has the capability and takes work right now (A1a): alive, neither flagged, given up nor behind an open breaker."""
    rows = tx.all(ABLE_NOW, queue=f"{GLOBAL}:{capability or 'general'}", alive_after=tx.now - alive_s)
    return [Candidate(row.id, row.brain, row.place, row.tasks) for row in rows]


def choose(wanted: Wanted, candidates: Iterable[Candidate], taken: Mapping[str, int] | None = None) -> str | None:
    """The name of who is best for it, never its owner; None if nobody is able. `taken` is what each has been given since. Pure.

    Whoever failed it comes last.
    """
    more = taken or {}
    able = [each for each in candidates if each.name != wanted.owner and _may(wanted, each)]
    best = min(
        able,
        key=lambda each: (
            wanted.failed_by.count(each.name),
            each.tasks + more.get(each.name, 0),
            each.brain != wanted.brain,
            each.place,
        ),
        default=None,
    )
    return best.name if best is not None else None


def _may(wanted: Wanted, candidate: Candidate) -> bool:
    if candidate.brain in PAID_KINDS and wanted.brain not in PAID_KINDS:
        return False
    return candidate.brain != "rules" or recognised(wanted.description) is not None
