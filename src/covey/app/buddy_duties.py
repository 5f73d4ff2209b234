"""What the leading node does for buddies: checks that are overdue, covering, and telling the operator elsewhere (B2, B5).

After a start, and after a pause, it waits a little: agents that are still coming up are neither down nor late.
"""

from __future__ import annotations

import asyncio

from covey.app.buddy_means import buddy_means
from covey.app.duties import Keeping
from covey.base.errors import CoveyError
from covey.buddies import checking, covering
from covey.buddies.covering import Coverer
from covey.buddies.model import CONTROLLER
from covey.healing import buddying
from covey.healing.buddy_timer import cover
from covey.healing.buddying import Means
from covey.nodes.node import Duty
from covey.notices.telling import Telling
from covey.webhooks.sending import Sending

OVERDUE_S = 60.0
COVER_S = 10.0
NOTICES_S = 5.0
WEBHOOKS_S = 1.0
SETTLE_S = 120.0
"""So long after a start all checks may look overdue, and everybody down."""
PAUSES = 3.0
"""Rounds that lie further apart than so many intervals are a pause: the machine slept, or another one led."""
AT_ONCE = 64


class Buddies:
    """The leader's rounds."""

    def __init__(self, keeping: Keeping) -> None:
        self._keeping = keeping
        self._coverer = Coverer()
        self._since: dict[str, float] = {}
        self._last: dict[str, float] = {}

    def _means(self) -> Means:
        return buddy_means(self._keeping.store, self._keeping.settings())

    def _settled(self, what: str, interval_s: float, settle_s: float) -> bool:
        """Whether rounds of this kind have gone on without a pause for long enough."""
        now = self._keeping.clock.boot()
        if now - self._last.get(what, float("-inf")) > PAUSES * interval_s:
            self._since[what] = now
        self._last[what] = now
        return now - self._since[what] >= settle_s

    async def check_overdue(self, _fence: int = 0) -> None:
        """Do the checks that are more than ten minutes late, some at a time. One that fails holds up no other."""
        means = self._means()
        if not self._settled("check", OVERDUE_S, min(SETTLE_S, means.settings.buddy_check_s)):
            return
        late = await means.store.read(buddying.overdue, means.settings.buddy_check_s)
        for start in range(0, len(late), AT_ONCE):
            found = await asyncio.gather(
                *(buddying.check(means, due, CONTROLLER) for due in late[start : start + AT_ONCE]), return_exceptions=True
            )
            raise_first(found)

    async def cover(self, _fence: int = 0) -> None:
        """See who is down, and that somebody covers for it."""
        means = self._means()
        if not self._settled("cover", COVER_S, min(SETTLE_S, means.settings.stale_s)):
            self._coverer.forget()
            return
        await cover(means, self._coverer)

    async def forget(self, _fence: int = 0) -> None:
        """Drop the records of agents and mail that are gone."""
        await self._keeping.store.write(checking.forget_the_gone)
        await self._keeping.store.write(covering.forget_taken)
        await self._keeping.store.write(buddying.end_of_the_gone)


def raise_first(found: list[buddying.Looked | BaseException]) -> None:
    """Raise what went wrong first, a fault of ours before others.

    Raises:
        CoveyError: The store could not be had.
    """
    errors = [each for each in found if isinstance(each, BaseException)]
    for error in sorted(errors, key=lambda each: isinstance(each, CoveyError)):
        raise error


def buddy_duties(keeping: Keeping) -> list[Duty]:
    """The duties of the leader for buddies, the operator, and whoever is told of events elsewhere."""
    buddies = Buddies(keeping)
    telling = Telling(keeping.store, lambda: keeping.settings().notify)
    webhooks = Sending(keeping.store, keeping.clock, lambda: keeping.settings().webhooks)
    return [
        Duty("overdue buddy checks", OVERDUE_S, True, buddies.check_overdue),
        Duty("covering", COVER_S, True, buddies.cover),
        Duty("notices", NOTICES_S, True, telling.one_round),
        Duty("webhooks", WEBHOOKS_S, True, webhooks.one_round),
        Duty("buddy records", 3600.0, True, buddies.forget),
    ]
