"""What a running brain may do while it works, bound to its run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from covey.base.clock import Clock
from covey.base.processes import Identity
from covey.runner import holding
from covey.runner.work import Work
from covey.store import Store
from covey.tasks import working


class RunHands:
    """The hands of one run (see `brains.model.Hands`)."""

    def __init__(self, store: Store, work: Work, clock: Clock) -> None:
        self._store = store
        self._work = work
        self._clock = clock
        self.quiet_since = clock.boot()
        """When it last gave a sign of progress, by `Clock.boot()`."""
        self.process: Identity | None = None
        self.pgid = 0

    async def progress(self, text: str) -> None:
        """Say how far the run is (K4a)."""
        self.quiet_since = self._clock.boot()
        if self._work.task is not None:
            await self._store.write(working.progress, self._work.agent, self._work.token, text)

    async def started(self, *, pid: int, pgid: int) -> None:
        """Record the process that thinks, before it gets its input (K4c).

        Raises:
            LeaseLost: The lease ended meanwhile; the process must get no input.
        """
        self.process, self.pgid = Identity.of(pid), pgid
        await self._store.write(holding.started, self._work, self.process, pgid)

    async def read(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Read from the fleet's records."""
        return await self._store.read(verb, *args, **kwargs)

    async def write(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a verb."""
        return await self._store.write(verb, *args, **kwargs)
