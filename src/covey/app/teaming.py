"""A team run as a Python program has it: begun, followed event by event, its result once it has ended. It goes on whoever dies (Q2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from covey.agents.model import Caller
from covey.base.clock import Clock
from covey.store import Store, Transaction, events
from covey.store.events import Bookmark, Event
from covey.teams.runs import driving, reading, starting
from covey.teams.runs.model import TeamDraft, TeamRun

Progress = Callable[[dict[str, Any]], object]
"""Told each event of a run as JSON shows it: kind (team.started, planned, assigned, step, rerouted, done, failed, cancelled), at, agent
(the worker), subject (the run), step, and more."""
LOOK_S = 0.004
SLOWEST_S = 0.1
"""How soon it looks again after news, and how long it waits at most, half as long again each time there is none."""
DRIVE_S = 2.0
"""So often whoever waits has the run looked after, as the leader's sweep does."""


class _Look(NamedTuple):
    """Whether a run is open, what happened to it since, and up to where that was read."""

    is_open: bool
    news: list[Event]
    bookmark: Bookmark


async def supervise(store: Store, clock: Clock, draft: TeamDraft, by: Caller, tell: Progress | None, timeout_s: float) -> TeamRun:
    """The run once it has ended, or as it stands when the time is over; it goes on all the same.

    With an id of its own a program that was killed takes up its run again.

    Raises:
        CoveyError: As `starting.start`.
    """
    run = await store.write(starting.start, draft, by)
    look = await store.read(_first, run.team_id)
    until, drive_at = clock.boot() + timeout_s, clock.boot() + DRIVE_S
    told: set[Bookmark] = set()
    pause = LOOK_S
    while True:
        for event in look.news:
            if tell is not None and event.cursor not in told:
                tell(event.shown())
            told.add(event.cursor)
        if not look.is_open or clock.boot() >= until:
            return await store.read(reading.show, run.team_id)
        if clock.boot() >= drive_at:
            drive_at = clock.boot() + DRIVE_S
            await store.write(driving.advance_due)
        pause = LOOK_S if look.news else min(1.5 * pause, SLOWEST_S)
        await clock.sleep(pause)
        look = await store.read(_next, run.team_id, look.bookmark)


def _first(tx: Transaction, ident: str) -> _Look:
    """All that has happened to it."""
    return _Look(_is_open(tx, ident), events.of_subject(tx, ident, limit=1000)[::-1], events.last(tx))


def _next(tx: Transaction, ident: str, since: Bookmark) -> _Look:
    """What has happened to it since."""
    page = events.after(tx, since, kinds=("team.",), limit=1000)
    return _Look(page.full or _is_open(tx, ident), [event for event in page.events if event.subject == ident], page.bookmark)


def _is_open(tx: Transaction, ident: str) -> bool:
    return reading.found(tx, ident).ended_at is None
