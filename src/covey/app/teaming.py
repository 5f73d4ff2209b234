"""A team run as a Python program has it: begun, followed event by event, its result once it has ended. It goes on whoever dies (Q2)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from covey.agents.model import Caller
from covey.app.following import Progress, tell
from covey.base.clock import Clock
from covey.base.rings import rung_within
from covey.store import Store, Transaction, events
from covey.store.events import Bookmark, Event
from covey.teams.runs import driving, reading, starting
from covey.teams.runs.model import TeamDraft, TeamRun, bell_of

log = logging.getLogger("covey.teams")

LOOK_S = 1.0
"""So often it looks without being rung: rings may be lost, and of several that wait for one run only the latest is sure to hear them."""
SOON_S = 0.02
"""And once so soon, for what ended before anybody listened."""


class _Look(NamedTuple):
    """Whether a run is open, what happened to it since, and up to where that was read."""

    is_open: bool
    news: list[Event]
    bookmark: Bookmark
    more: bool
    """Whether more may have happened by now."""


async def supervise(store: Store, clock: Clock, draft: TeamDraft, by: Caller, progress: Progress | None, timeout_s: float) -> TeamRun:
    """The run once it has ended, or as it stands when the time is over; it goes on all the same.

    With an id of its own a program that was killed takes up its run again. `progress` is told each event of the run: team.started,
    planned, assigned, step, rerouted, done, failed, cancelled.

    Raises:
        CoveyError: As `starting.begin`.
    """
    until = clock.boot() + timeout_s
    begun = await store.write(starting.begin, draft, by)
    ident = begun.team_id
    with _heard(store, bell_of(ident, "end" if progress is None else "news")) as rung:
        if progress is None:
            found = await _end_of(store, clock, ident, rung, until)
        else:
            await _followed(store, clock, ident, rung, until, progress)
            found = await store.read(reading.show, ident)
    found.known, found.differs = begun.known, begun.differs
    return found


@contextmanager
def _heard(store: Store, name: str) -> Iterator[asyncio.Event]:
    """What is set whenever somebody rings; never, where the bell can't be heard."""
    rung = asyncio.Event()
    try:
        stop_listening = store.bell.listen(name, rung.set, far_after_s=SOON_S / 2)
    except OSError:
        log.warning("the bell can't be heard; the team run is looked at each %s s", LOOK_S, exc_info=True)
        yield rung
        return
    try:
        yield rung
    finally:
        stop_listening()


async def _end_of(store: Store, clock: Clock, ident: str, rung: asyncio.Event, until: float) -> TeamRun:
    """The run once it has ended, or as it stands when the time is over."""
    look_s = SOON_S
    while clock.boot() < until:
        await _next_ring(store, clock, rung, until, look_s)
        look_s = LOOK_S
        run = await store.read(reading.show, ident, results=False)
        if not run.is_open:
            return run
    return await store.read(reading.show, ident)


async def _followed(store: Store, clock: Clock, ident: str, rung: asyncio.Event, until: float, progress: Progress) -> None:
    """Tell all that happens to the run, until it has ended or the time is over."""
    look = await store.read(_first, ident)
    told: set[Bookmark] = set()
    while True:
        for event in look.news:
            if event.cursor not in told:
                await tell(progress, event)
            told.add(event.cursor)
        if not look.is_open or clock.boot() >= until:
            return
        if not look.more:
            await _next_ring(store, clock, rung, until, LOOK_S)
        look = await store.read(_next, ident, look.bookmark)


async def _next_ring(store: Store, clock: Clock, rung: asyncio.Event, until: float, look_s: float) -> None:
    """Wait until something happened to a run, or it is time to look all the same, and to see to it that runs go on."""
    left = max(0.0, until - clock.boot())
    if not await rung_within(rung, min(left, look_s), clock) and look_s >= LOOK_S:
        await store.write(driving.advance_due)


def _first(tx: Transaction, ident: str) -> _Look:
    """All that has happened to it."""
    return _Look(_is_open(tx, ident), events.of_subject(tx, ident, limit=1000)[::-1], events.last(tx), False)


def _next(tx: Transaction, ident: str, since: Bookmark) -> _Look:
    """What has happened to it since."""
    page = events.after(tx, since, kinds=("team.",), limit=1000)
    return _Look(page.full or _is_open(tx, ident), [event for event in page.events if event.subject == ident], page.bookmark, page.full)


def _is_open(tx: Transaction, ident: str) -> bool:
    return reading.found(tx, ident).ended_at is None
