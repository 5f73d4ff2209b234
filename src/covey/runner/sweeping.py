"""The sweep of due things: deadlines, expiry, claims that did not start, schedules, the search index. Two sweepers do no harm (H8a).

Each part is a verb of its own: one that fails takes no other along.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from covey.base.clock import Clock
from covey.base.errors import StoreBusy, StoreUnavailable
from covey.contexts.indexing import index_archived
from covey.messages import indexing, releasing, sweeping
from covey.store import Store, Transaction, statement
from covey.tasks import changing, scheduling, working
from covey.teams.handoffs import lapsing
from covey.teams.runs import driving
from covey.teams.votes import closing

log = logging.getLogger("covey.sweep")

DUE = statement(__package__, "due")

Part = Callable[[Transaction], int]


AHEAD_S = 15.0
"""If nothing falls due within so long, nobody needs to look meanwhile, unless somebody writes."""


def due(tx: Transaction, start_s: float, ahead_s: float = 0.0) -> bool:
    """Whether the sweep has work, or will have so far ahead: one query over indexes."""
    at = tx.now + ahead_s
    row = tx.one(DUE, now=at, not_started=at - start_s, left_lying=at - working.LEFT_LYING_S)
    return bool(row and row.anything)


class Due(NamedTuple):
    """Whether anything is due, and whether anything will be soon."""

    now: bool
    soon: bool


def look(tx: Transaction, start_s: float) -> Due:
    """What the sweep has to do."""
    now = due(tx, start_s)
    return Due(now, now or due(tx, start_s, AHEAD_S))


def return_not_started(tx: Transaction, start_s: float) -> int:
    """How many claims whose brain did not start in time are given back (K4a)."""
    return len(working.return_not_started(tx, start_s=start_s))


def fail_overdue(tx: Transaction) -> int:
    """How many tasks failed of their deadline."""
    return len(changing.fail_overdue(tx))


def resume_answered(tx: Transaction) -> int:
    """How many tasks go on whose answer nobody fetched for them."""
    return len(working.resume_answered(tx))


def make_scheduled(tx: Transaction) -> int:
    """How many tasks were made for slots that have come (K6a)."""
    return len(scheduling.make_due(tx))


def give_up_waits(tx: Transaction) -> int:
    """How many waits were given up, their askers woken (M7)."""
    return len(sweeping.give_up_waits(tx))


def expire_mail(tx: Transaction) -> int:
    """How much mail was closed as expired (M9)."""
    return sweeping.expire_mail(tx)


def deliver_deferred(tx: Transaction) -> int:
    """How much mail that waited for credit was delivered, or closed (L6)."""
    return releasing.deliver_due(tx) + releasing.expire_due(tx)


def index_new(tx: Transaction) -> int:
    """How much was added to the search index (M13)."""
    return indexing.index_new(tx)


def close_votes(tx: Transaction) -> int:
    """How many votes moved on whose time had come, or whose last voter left (Q4)."""
    return closing.close_due(tx)


def end_offers(tx: Transaction) -> int:
    """How many offers of tasks ended by themselves, and how many tasks that were handed over may begin (Q3)."""
    return len(lapsing.withdraw_void(tx)) + len(lapsing.expire_due(tx)) + len(lapsing.begin(tx))


def go_on_with_teams(tx: Transaction) -> int:
    """How many team runs were looked at (Q2)."""
    return driving.advance_due(tx)


PARTS: tuple[Part, ...] = (
    fail_overdue,
    resume_answered,
    make_scheduled,
    give_up_waits,
    expire_mail,
    deliver_deferred,
    end_offers,
    close_votes,
    go_on_with_teams,
    index_new,
    index_archived,
)
"""All parts but `return_not_started`, which needs to know the time allowed."""


class Sweeper:
    """The sweep, for whoever leads, or for each agent while nobody does. `start_s`: how long a claim may be without a started brain.

    While nobody writes and nothing falls due a round reads the store's stamp alone.
    """

    def __init__(self, store: Store, start_s: float, clock: Clock) -> None:
        self._store = store
        self._start_s = start_s
        self._clock = clock
        self._seen: int | None = None
        self._rests_until = 0.0
        self._parts: tuple[Part, ...] = (*PARTS, partial(return_not_started, start_s=start_s))

    async def one_round(self, _fence: int = 0) -> int:
        """How many due things were done, 100 of a kind at a time, until nothing is due.

        Raises:
            StoreBusy, StoreUnavailable: The store can't be had; the next round comes.
        """
        done = 0
        while not self._rests() and await self._is_due():
            found = await asyncio.gather(*(self._store.write(part) for part in self._parts), return_exceptions=True)
            count = sum(self._count(*each) for each in zip(self._parts, found, strict=True))
            if count == 0:
                break
            done += count
        return done

    def _rests(self) -> bool:
        """Whether nothing can be due: nobody has written since it was so for some time to come."""
        stamp = self._store.stamp()
        return stamp is not None and stamp.changes == self._seen and self._clock.boot() < self._rests_until

    async def _is_due(self) -> bool:
        stamp, began = self._store.stamp(), self._clock.boot()
        found = await self._store.read(look, self._start_s)
        if stamp is not None and not found.soon:
            self._seen, self._rests_until = stamp.changes, began + AHEAD_S
        return found.now

    def _count(self, part: Part, answer: int | BaseException) -> int:
        if isinstance(answer, StoreBusy | StoreUnavailable):
            raise answer
        if isinstance(answer, BaseException):
            log.error("a part of the sweep failed: %s", getattr(part, "__name__", part), exc_info=answer)
            return 0
        return answer
