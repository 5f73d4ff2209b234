"""Who takes work that its own agent can't do now: a live, able agent with the fewest open tasks (H3, H4).

A paid brain takes over from a paid one only: nothing may cost money because something else broke. The choice is pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from heapq import nsmallest
from typing import NamedTuple

from covey.agents.model import GLOBAL, STALE_S
from covey.base.settings import PAID_KINDS
from covey.brains.rules.doable import would_do
from covey.store import Transaction, statement

ABLE_NOW = statement(__package__, "able_now")

MOST = 64


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


def able_now(tx: Transaction, capability: str | None, alive_s: float = STALE_S) -> list[Candidate]:
    """Who has the capability and takes work right now (A1a): alive, neither flagged, given up nor behind an open breaker.

    Of each kind of brain those with the fewest open tasks, some dozens at most.
    """
    rows = tx.all(ABLE_NOW, queue=f"{GLOBAL}:{capability or 'general'}", alive_after=tx.now - alive_s)
    kinds: defaultdict[str, list[Candidate]] = defaultdict(list)
    for row in rows:
        kinds[row.brain].append(Candidate(row.id, row.brain, row.place, row.tasks))
    return [each for found in kinds.values() for each in nsmallest(MOST, found, key=lambda each: (each.tasks, each.place))]


def choose(wanted: Wanted, candidates: Sequence[Candidate], taken: Mapping[str, int] | None = None) -> str | None:
    """The name of who is best for it, never its owner; None if nobody is able. `taken` is what each has been given since. Pure.

    Whoever failed it comes last.
    """
    more = taken or {}
    kinds = _kinds_for(wanted, {each.brain for each in candidates})
    best = min(
        (each for each in candidates if each.name != wanted.owner and each.brain in kinds),
        key=lambda each: (
            wanted.failed_by.count(each.name),
            each.tasks + more.get(each.name, 0),
            each.brain != wanted.brain,
            each.place,
        ),
        default=None,
    )
    return best.name if best is not None else None


def _kinds_for(wanted: Wanted, there: set[str]) -> set[str]:
    """The kinds of brains that may do it."""
    found = there if wanted.brain in PAID_KINDS else there - PAID_KINDS
    return {brain for brain in found if would_do(brain, wanted.description)}
