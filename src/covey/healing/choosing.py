"""Who takes work that its own agent can't do now: an able agent with the fewest open tasks (H3, H4, H6).

A paid brain takes over from a paid one only: nothing may cost money because something else broke. The choice is pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from heapq import nsmallest
from typing import NamedTuple

from covey.base.settings import PAID_KINDS
from covey.brains.rules.doable import doers
from covey.store import Transaction
from covey.tasks import takers
from covey.tasks.takers import NOBODY, Taker, order

MOST = 64


class Wanted(NamedTuple):
    """The work to be done: whose it is, with which brain, and who has failed at it, each time."""

    owner: str
    brain: str
    description: str
    failed_by: tuple[str, ...] = ()


def able_now(tx: Transaction, capability: str | None, alive_s: float | None = None) -> list[Taker]:
    """Who has the capability and takes work right now (A1a): of each kind of brain the best, some dozens at most."""
    kinds: defaultdict[str, list[Taker]] = defaultdict(list)
    for each in takers.having(tx, capability, alive_s):
        if each.ready:
            kinds[each.brain].append(each)
    return [each for found in kinds.values() for each in nsmallest(MOST, found, key=order)]


def choose(wanted: Wanted, candidates: Sequence[Taker], taken: Mapping[str, int] = NOBODY) -> str | None:
    """The name of who is best for it, never its owner; None if nobody is able. `taken` is what each has been given since. Pure.

    Whoever has no process of ours comes after those who begin at once.
    """
    kinds = doers({each.brain for each in candidates}, wanted.description)
    if wanted.brain not in PAID_KINDS:
        kinds -= PAID_KINDS
    best = min(
        (each for each in candidates if each.name != wanted.owner and each.brain in kinds),
        key=lambda each: order(
            each, (each.brain == "external",), yields=each.brain != wanted.brain, more=taken, failed_by=wanted.failed_by
        ),
        default=None,
    )
    return best.name if best is not None else None
