"""What a node does again and again, each duty a round of its own. Leading ones run on one node at a time (H8, H8a)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NamedTuple

from covey.agents import living
from covey.app.opening import store_path
from covey.base.clock import Clock
from covey.base.settings import Settings
from covey.messages import handling
from covey.nodes import records
from covey.nodes.node import Duty, Node
from covey.runner import sweeping
from covey.runner.orphans import free_the_gone
from covey.store import Store, Transaction, events
from covey.store.events import Bookmark
from covey.store.sqlite import turn_holder
from covey.tasks import working

log = logging.getLogger("covey.node")

SWEEP_S = 1.0
NEWS_S = 1.0
LOCK_HELD_S = 10.0
"""A process of ours that holds the write lock for so long is stuck, and ended."""
NEWS = ("agent.restart_asked", "agent.resumed", "fleet.configured")


class Sweeper:
    """The sweep of due things, for whoever leads, or for each agent while nobody does."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._start_s = settings.start_s

    async def one_round(self, fence: int = 0) -> None:
        """Do what is due, 100 of a kind at a time."""
        while (await self._store.read(sweeping.due, self._start_s)).anything:
            if await self._store.write(sweeping.sweep, self._start_s) == 0:
                return


class News:
    """Tells the node what its store says: an agent is to be restarted, has been resumed, or the fleet was configured anew."""

    def __init__(self, store: Store, rearrange: Callable[[], None]) -> None:
        self._store = store
        self._rearrange = rearrange
        self._at: Bookmark | None = None
        self.node: Node | None = None

    async def one_round(self, fence: int = 0) -> None:
        """Read on and act."""
        if self._at is None:
            self._at = await self._store.read(events.last)
            return
        page = await self._store.read(events.after, self._at, kinds=NEWS)
        self._at = page.bookmark
        for event in page.events:
            self._act(event)

    def _act(self, event: events.Event) -> None:
        if self.node is None:
            return
        if event.kind == "fleet.configured":
            self._rearrange()
        elif event.kind == "agent.restart_asked" and event.agent:
            self.node.restart(event.agent)
        elif event.agent:
            self.node.prod(event.agent)


class Held(NamedTuple):
    """Who held the write lock at the last look."""

    pid: int
    since: float


class LockWatch:
    """Ends a process of ours that is stuck with the store's write lock (a stopped process keeps its locks)."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._path = store_path(settings).with_name("store.db.lock")
        self._clock = clock
        self.node: Node | None = None

    async def one_round(self, fence: int = 0) -> None:
        """Look who holds it."""
        found = turn_holder(self._path)
        if found is not None and self._clock.boot() - found[1] > LOCK_HELD_S and self.node is not None:
            self.node.end_holder(found[0], "it held the store's write lock for more than 10 s")


def step_clock(tx: Transaction, step: Callable[[Transaction], float]) -> float:
    """Store time follows a wall clock that is ahead; leases and heartbeats move with it in the same commit (T2)."""
    seconds = step(tx)
    if seconds:
        handling.shift_leases(tx, seconds)
        working.shift_leases(tx, seconds)
        living.shift_beats(tx, seconds)
        records.shift_beats(tx, seconds)
    return seconds


def duties(store: Store, settings: Settings, clock: Clock, news: News, lock: LockWatch) -> list[Duty]:
    """The duties that need no door."""

    async def free(fence: int) -> None:
        await free_the_gone(store, clock, settings.grace_s)

    found = [
        Duty("sweep", SWEEP_S, True, Sweeper(store, settings).one_round),
        Duty("lapsed leases", 5.0, True, free),
        Duty("news", NEWS_S, False, news.one_round),
    ]
    return found if settings.store else [*found, Duty("write lock", 2.0, False, lock.one_round)]
