"""The buddy timer of an agent's own process: it looks after its buddy when the time has come, and covers while nobody leads (B2, B5)."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Callable

from covey.base.clock import Clock
from covey.base.errors import CoveyError
from covey.buddies import checking, covering
from covey.buddies.covering import Coverer
from covey.buddies.model import FOLLOW_S
from covey.healing import buddying
from covey.healing.buddying import Means

log = logging.getLogger("covey.buddies")

LONGEST_S = 300.0
"""It looks whether it is time at least so often: what is due may have changed."""
SHORTEST_S = 1.0
START_S = 30.0
"""The first look comes so long after the start, so that the fleet is up."""
SPREAD_S = 0.1
LONGEST_SPREAD_S = 300.0
"""Looks of a fleet are spread over so long an agent, and so long at most, so that 10,000 do not look at once."""


class BuddyTimer:
    """Looks after an agent's buddy for as long as its process lives. `led` says whether the fleet has a leader."""

    def __init__(self, means: Means, agent: str, clock: Clock, led: Callable[[], bool]) -> None:
        self._means = means
        self._agent = agent
        self._clock = clock
        self._led = led
        self._coverer = Coverer()
        self._spread_s = 0.0

    async def go_on(self) -> None:
        """Rounds until cancelled, each when the one before says. A round that fails is tried again."""
        settings = self._means.settings
        self._spread_s = spread_s(self._agent, len(settings.agents), settings.buddy_check_s)
        await self._clock.sleep(min(START_S, settings.buddy_check_s) + self._spread_s)
        while True:
            wait_s = FOLLOW_S
            try:
                wait_s = await self.one_round()
            except CoveyError as error:
                log.warning("%s: its buddy was not looked after: %s", self._agent, error.message)
            except Exception:
                log.exception("%s: a look after its buddy failed; the next one comes", self._agent)
            await self._clock.sleep(wait_s)

    async def one_round(self) -> float:
        """Look after the buddy if it is time; seconds until the next round."""
        if not self._led():
            await self.cover()
        check_s = self._means.settings.buddy_check_s
        due = await self._means.store.read(checking.due, self._agent, check_s)
        if due is not None and due.is_due:
            await buddying.check(self._means, due)
            due = await self._means.store.read(checking.due, self._agent, check_s)
        left = due.at - due.now if due is not None else LONGEST_S
        return min(max(left, SHORTEST_S) + self._spread_s, LONGEST_S if self._led() else FOLLOW_S)

    async def cover(self) -> None:
        """A round of covering, as the leader does it."""
        await cover(self._means, self._coverer)


async def cover(means: Means, coverer: Coverer) -> None:
    """A round of covering: a look first, and a write only if there is something to change (B5)."""
    stale_s = means.settings.stale_s
    down = await means.store.read(coverer.one_round, stale_s)
    twice = coverer.after(down)
    if await means.store.read(covering.is_to_change, twice, stale_s):
        await means.store.write(covering.cover, stale_s, twice)


def spread_s(agent: str, agents: int, check_s: float) -> float:
    """How much later than it might an agent of so large a fleet looks, the same each time. Pure."""
    share = zlib.crc32(agent.encode()) / 2**32
    return share * min(SPREAD_S * agents, LONGEST_SPREAD_S, check_s)
