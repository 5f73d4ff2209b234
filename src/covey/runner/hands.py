"""What a running brain may do while it works, bound to its run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from covey.base.processes import Identity
from covey.runner import turns
from covey.runner.turns import Work
from covey.store import Store
from covey.tasks import working


class RunHands:
    """The hands of one run (see `brains.model.Hands`). `quiet_since` is when it last gave a sign of progress, by the loop's clock."""

    def __init__(self, store: Store, work: Work, now: Callable[[], float]) -> None:
        self._store = store
        self._work = work
        self._now = now
        self.quiet_since = now()

    async def progress(self, text: str) -> None:
        """Say how far the run is (K4a)."""
        self.quiet_since = self._now()
        if self._work.task is not None:
            await self._store.write(working.progress, self._work.agent, self._work.token, text)

    async def started(self, *, pid: int, pgid: int) -> None:
        """Record the process that thinks, before it gets its input (K4c)."""
        await self._store.write(turns.started, self._work, Identity.of(pid), pgid)

    async def read(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Read from the fleet's records."""
        return await self._store.read(verb, *args, **kwargs)

    async def write(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a verb."""
        return await self._store.write(verb, *args, **kwargs)
