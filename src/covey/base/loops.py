"""Rounds that repeat. A loop is `every(interval, one_round)`; a test calls the round itself."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from covey.base.clock import Clock

log = logging.getLogger("covey.loops")


async def every(interval_s: float, one_round: Callable[[], Awaitable[object]], clock: Clock, name: str = "") -> None:
    """Call `one_round` again and again, `interval_s` after each end, until cancelled.

    An error of a round is logged and the next round runs all the same: this is one of the two places of a blanket except.
    """
    while True:
        try:
            await one_round()
        except Exception:
            log.exception("a round of %s failed; the next one runs in %s s", name or one_round, interval_s)
        await clock.sleep(interval_s)
