"""One verb that waits to be run, its answer and where that goes. Knows no thread, feature or driver."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from covey.base import tracing
from covey.store.transaction import Event


class Job:
    """One verb that waits to be run, and where its answer goes."""

    __slots__ = (
        *("args", "error", "future", "kwargs", "locks", "loop", "news", "relaxed", "result", "seen"),
        *("since", "taken", "then", "trace", "verb"),
    )

    def __init__(
        self,
        verb: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        loop: asyncio.AbstractEventLoop | None,
        then: Callable[..., Any] | None = None,
    ) -> None:
        self.verb = verb
        self.args = args
        self.kwargs = kwargs
        self.loop = loop
        self.then = then
        """What is to be read of its result, unless that is None, right after the commit."""
        self.seen: Any = None
        """What was read; None if it could not be."""
        self.future: asyncio.Future[Any] | None = loop.create_future() if loop else None
        self.result: Any = None
        self.error: Exception | None = None
        self.since = time.monotonic()
        self.relaxed: bool = getattr(verb, "relaxed", False)
        keys = getattr(verb, "locks", None)
        self.locks: Sequence[tuple[str, str]] = keys(*args, **kwargs) if keys else ()
        self.trace = tracing.current()
        self.news: Sequence[Event] = ()
        """What it said happened; kept only where spans are recorded."""
        self.taken = threading.Lock()
        """Whoever gets it answers the caller: the writer that runs the verb, or the one that gives up."""

    @property
    def is_to_look(self) -> bool:
        """Whether something is to be read for it."""
        return self.then is not None and self.error is None and self.result is not None

    def answer(self) -> None:
        """Give the caller its result or error. On the caller's loop."""
        future = self.future
        if future is None or future.done():
            return
        if self.error is not None:
            future.set_exception(self.error)
        else:
            future.set_result(self.result)
