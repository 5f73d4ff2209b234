"""What is made once for all who look: while nothing has happened, and for a second at most, everybody is given the same.

It holds nothing of a single sign-in. Whoever comes while it is being made waits for that one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from covey.base.clock import Clock

T = TypeVar("T")
KEPT_S = 1.0
KEPT = 256
"""So many things are kept at most."""


class Shared:
    """What was made of late."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._made: dict[str, tuple[float, asyncio.Future[Any]]] = {}
        self.made = 0
        """How often something had to be made."""

    async def get(self, key: str, make: Callable[[], Awaitable[T]]) -> T:
        """What belongs to this key, made anew if it is older than a second or something has happened since."""
        now = self._clock.boot()
        until, making = self._made.get(key, (0.0, None))
        if making is None or until <= now:
            if len(self._made) >= KEPT:
                self._made.clear()
            self.made += 1
            making = asyncio.ensure_future(make())
            self._made[key] = (now + KEPT_S, making)
            making.add_done_callback(lambda done: self._drop(key, done))
        found: T = await asyncio.shield(making)
        return found

    def _drop(self, key: str, done: asyncio.Future[Any]) -> None:
        """An error is given to those alone who waited for it."""
        if (done.cancelled() or done.exception() is not None) and self._made.get(key, (0.0, None))[1] is done:
            del self._made[key]

    def forget(self) -> None:
        """Something has happened: whoever asks from now on is given nothing from before."""
        self._made.clear()
