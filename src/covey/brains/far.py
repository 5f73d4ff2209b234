"""The hands of a run for code that does not run on the agent's event loop: each call is carried over there and back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from covey.brains.model import Hands

T = TypeVar("T")


class FarHands:
    """The hands of a run, for an `async def` on another loop than the agent's. A cancelled run has none."""

    def __init__(self, hands: Hands, home: asyncio.AbstractEventLoop) -> None:
        self._hands = hands
        self._home = home

    async def _there(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._home))

    async def progress(self, text: str) -> None:
        """Say how far it is."""
        await self._there(self._hands.progress(text))

    async def started(self, *, pid: int, pgid: int) -> None:
        """Record a process that does the thinking."""
        await self._there(self._hands.started(pid=pid, pgid=pgid))

    async def read(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Read from the fleet's records."""
        return await self._there(self._hands.read(verb, *args, **kwargs))

    async def write(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a verb."""
        return await self._there(self._hands.write(verb, *args, **kwargs))


class ThreadHands:
    """The hands of a run, for a `def` in a thread: each call blocks until it is done, and raises CancelledError once the run is to end."""

    def __init__(self, hands: Hands, home: asyncio.AbstractEventLoop, is_cancelled: Callable[[], bool]) -> None:
        self._hands = hands
        self._home = home
        self._is_cancelled = is_cancelled

    @property
    def cancelled(self) -> bool:
        """Whether the run is to end: a long function looks here now and then, and returns."""
        return self._is_cancelled()

    def _there(self, begin: Callable[..., Coroutine[Any, Any, T]], *args: Any, **kwargs: Any) -> T:
        if self._is_cancelled():
            raise asyncio.CancelledError("the run was ended")
        return asyncio.run_coroutine_threadsafe(begin(*args, **kwargs), self._home).result()

    def progress(self, text: str) -> None:
        """Say how far it is."""
        self._there(self._hands.progress, text)

    def read(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Read from the fleet's records."""
        return self._there(self._hands.read, verb, *args, **kwargs)

    def write(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a verb."""
        return self._there(self._hands.write, verb, *args, **kwargs)
