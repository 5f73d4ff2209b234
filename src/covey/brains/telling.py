"""Progress, told to a run's hands: the latest word, once a second at most."""

from __future__ import annotations

import asyncio
import logging

from covey.base.clock import Clock
from covey.base.errors import CoveyError
from covey.brains.model import Hands

log = logging.getLogger("covey.brains")
PROGRESS_S = 1.0


class Teller:
    """Takes any number of words and tells the latest. A lost lease is not judged here: whoever renews it ends the run."""

    def __init__(self, hands: Hands, clock: Clock) -> None:
        self._hands = hands
        self._clock = clock
        self._word = ""
        self._telling: asyncio.Task[None] | None = None

    def say(self, word: str) -> None:
        """Have this told, unless a later one comes before. On the event loop's thread."""
        self._word = word
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell())

    async def _tell(self) -> None:
        while self._word:
            word, self._word = self._word, ""
            try:
                await self._hands.progress(word)
            except CoveyError as error:
                log.info("progress was not kept: %s", error.message)
            await self._clock.sleep(PROGRESS_S)

    def close(self) -> None:
        """Tell no more."""
        self._word = ""
        if self._telling is not None:
            self._telling.cancel()
