"""What a node does again and again, each duty a round of its own. Leading ones run on one node at a time (H8, H8a)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from covey.agents import living
from covey.agents.model import THE_SYSTEM
from covey.app.opening import store_path
from covey.base.clock import Clock
from covey.base.settings import Settings
from covey.exchanges import abroad
from covey.exchanges import retention as exchanges
from covey.figures import recording as figures
from covey.healing import cleaning, lending
from covey.healing import retention as incidents
from covey.healing.cycle import LOOK_S, Cycle, Lead
from covey.healing.pressing import Watcher
from covey.healing.unable import Onlooker
from covey.messages import handling
from covey.messages import retention as mail
from covey.nodes import records
from covey.nodes.node import Duty, Node
from covey.nodes.pinging import answers
from covey.planning import planning
from covey.planning.model import Planned
from covey.reports.machine import room
from covey.runner.orphans import free_the_gone
from covey.runner.sweeping import Sweeper
from covey.store import Store, Transaction, events, upkeep
from covey.store import clock as store_clock
from covey.store.events import Bookmark
from covey.store.sqlite import turn_holder
from covey.tasks import retention as tasks
from covey.tasks import working
from covey.teams.handoffs import lapsing as handoffs
from covey.teams.runs import retention as teams
from covey.teams.votes import retention as votes

log = logging.getLogger("covey.node")

SWEEP_S = 0.7
"""As often as the files are looked after, so that both wake the node once (H8a: each second)."""
NEWS_S = 5.0
CLOCK_S = 5.0
FLOOR_S = 1.0
TIDY_S = 60.0
LOCK_S = 2.1
LEND_S = 5.0
ROOM_S = 15.0
UNABLE_S = 15.0
FIGURES_S = 5.0
LOCK_HELD_S = 10.0
"""A process of ours that holds the write lock for so long is stuck, and ended."""
PAGE = 1000
NEWS = ("agent.restart_asked", "agent.resumed", "fleet.configured")
CLOSED: dict[str, upkeep.Prune] = {
    "messages": mail.prune,
    "tasks": tasks.prune,
    "runs": tasks.prune_runs,
    "incidents": incidents.prune,
    "lent tasks": lending.prune,
    "handoffs": handoffs.prune,
    "votes": votes.prune,
    "teams": teams.prune,
    "exchanges": exchanges.prune,
    "abroad": abroad.prune,
    "figures": figures.prune,
}


class News:
    """Tells the node what its store says: an agent is to be restarted, has been resumed, or the fleet was configured anew.

    The bell makes it look at once; the round stands behind it.
    """

    def __init__(self, store: Store, rearrange: Callable[[], None]) -> None:
        self._store = store
        self._rearrange = rearrange
        self._at: Bookmark | None = None
        self._seen: int | None = None
        self._one_at_a_time = asyncio.Lock()
        self._looks: set[asyncio.Task[None]] = set()
        self.node: Node | None = None

    def rung(self) -> None:
        """Somebody rang: look now."""
        look = asyncio.ensure_future(self.look())
        self._looks.add(look)
        look.add_done_callback(self._looks.discard)

    async def look(self) -> None:
        """A round whose failure is the next one's concern."""
        try:
            await self.one_round()
        except Exception:
            log.exception("a look at the news failed; the next one comes")

    async def one_round(self, _fence: int = 0) -> None:
        """Read on and act, if anybody has written. The first round only marks where to begin."""
        async with self._one_at_a_time:
            stamp = self._store.stamp()
            if stamp is not None and stamp.changes == self._seen:
                return
            if self._at is None:
                self._at = await self._store.read(events.last)
            full = True
            while full:
                page = await self._store.read(events.after, self._at, kinds=NEWS, limit=PAGE)
                self._at, full = page.bookmark, page.full
                for event in page.events:
                    self._act(event)
            self._seen = stamp.changes if stamp is not None else None

    def _act(self, event: events.Event) -> None:
        if self.node is None:
            return
        if event.kind == "fleet.configured":
            self._rearrange()
        elif event.kind == "agent.restart_asked" and event.agent:
            self.node.restart(event.agent)
        elif event.agent:
            self.node.prod(event.agent)


class LockWatch:
    """Ends a process of ours that is stuck with the store's write lock (a stopped process keeps its locks). Others it only names."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._path = store_path(settings).with_name("store.db.lock")
        self._clock = clock
        self._named: tuple[int, float] | None = None
        self.node: Node | None = None

    async def one_round(self, _fence: int = 0) -> None:
        """Look who holds it."""
        found = turn_holder(self._path)
        if found is None or self._clock.boot() - found[1] <= LOCK_HELD_S or self.node is None:
            return
        why = f"it has held the store's write lock for more than {LOCK_HELD_S:g} s"
        if not self.node.end_holder(found[0], why) and found != self._named:
            self._named = found
            log.error("process %d is none of this node's agents, and %s: nobody can write until it ends", found[0], why)


def step_clock(tx: Transaction, wall: float) -> float:
    """Store time follows a wall clock that is ahead; leases and heartbeats move with it in the same commit (T2)."""
    seconds = store_clock.step(tx, wall)
    if seconds:
        handling.shift_leases(tx, seconds)
        working.shift_leases(tx, seconds)
        living.shift_beats(tx, seconds)
        records.shift_beats(tx, seconds)
    return seconds


class Timekeeper:
    """Has store time follow the wall clock, and keep a floor where a server tells the time (T2)."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def step(self, _fence: int = 0) -> None:
        """Step if the wall clock is ahead: looked at first, for as a rule there is nothing to write."""
        if self._clock.wall() - await self._store.read(_now) > store_clock.STEP_S:
            seconds = await self._store.write(step_clock, self._clock.wall())
            if seconds:
                log.warning("the wall clock was ahead: store time stepped forward by %.3f s", seconds)

    async def raise_floor(self, _fence: int = 0) -> None:
        """Store time will not be below what it is now."""
        await self._store.write(store_clock.raise_floor)


def _now(tx: Transaction) -> float:
    return tx.now


class Keeping(NamedTuple):
    """What duties work with. `settings` answers with those of now."""

    store: Store
    clock: Clock
    node: str
    settings: Callable[[], Settings]


async def _tidy(keeping: Keeping) -> None:
    gone = await upkeep.retain(keeping.store, keeping.settings().retention, CLOSED)
    if any(gone.values()):
        log.info("past their retention: %s", ", ".join(f"{count} {name}" for name, count in gone.items() if count))


def _cycle(keeping: Keeping) -> Cycle:
    """The controller's cycle, with what it needs of the nodes and of planning."""

    def planner(tx: Transaction, agent: str) -> Planned:
        return planning.plan(tx, agent, keeping.settings(), THE_SYSTEM)

    return Cycle(
        keeping.store,
        node=keeping.node,
        settings=keeping.settings,
        lead=Lead(records.leads, records.cycled, records.cycle_age, records.unled_s),
        answers=answers,
        planner=planner,
    )


def duties(keeping: Keeping, news: News, lock: LockWatch) -> list[Duty]:
    """The duties that need no door."""
    store, clock = keeping.store, keeping.clock
    settings = keeping.settings()

    async def free(_: int) -> None:
        await free_the_gone(store, clock, node=keeping.node, lease_s=settings.lease_s, grace_s=settings.grace_s)

    async def tidy(_: int) -> None:
        await _tidy(keeping)

    async def lend(fence: int) -> None:
        await cycle.lend(fence)

    time = Timekeeper(store, clock)
    cycle = _cycle(keeping)
    found = [
        Duty("cycle", min(settings.cycle_s, LOOK_S), True, cycle.when_due),
        Duty(
            "room", ROOM_S, False, Watcher(store, keeping.node, lambda: room(Path(settings.data_dir)), cleaning.of_short_machine).one_round
        ),
        Duty("tasks of the absent", min(LEND_S, settings.back_s), True, lend),
        Duty("work for nobody", UNABLE_S, True, Onlooker(store, lambda: keeping.settings().stale_s).one_round),
        Duty("sweep", SWEEP_S, True, Sweeper(store, settings.start_s, clock).one_round),
        Duty("lapsed leases", 5.0, True, free),
        Duty("figures", FIGURES_S, True, figures.Recorder(store).one_round),
        Duty("retention", TIDY_S, True, tidy),
        Duty("news", NEWS_S, False, news.one_round),
    ]
    if settings.store:
        return [*found, Duty("store time's floor", FLOOR_S, True, time.raise_floor)]
    return [*found, Duty("store time", CLOCK_S, True, time.step), Duty("write lock", LOCK_S, False, lock.one_round)]
