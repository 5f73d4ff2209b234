"""Verbs for what a door shows of several features at once. They read, put together and call other verbs; they hold no SQL and no rule."""

from __future__ import annotations

from typing import NamedTuple

from covey.agents import checking, living, roster
from covey.agents.model import Caller
from covey.api.shapes import BuddyCheck
from covey.buddies.model import Answer as Buddy
from covey.messages import seeing
from covey.nodes import restarting
from covey.reports import status
from covey.store import Transaction, events
from covey.store.events import Bookmark, Event


def buddy_check(tx: Transaction, agent: str, check: BuddyCheck, by: Caller, stale_s: float) -> Buddy:
    """How an agent is, told to whoever checks it, and the check noted (A5a). No brain is asked."""
    checking.checked(tx, agent, by, check.from_)
    state = status.agent_state(tx, agent, stale_s)
    return Buddy.of(agent, state, tx.now, check.check_id)


class StoppedAll(NamedTuple):
    """Who was stopped, and why a new process was not asked for, by name."""

    names: list[str]
    not_restarted: dict[str, str]


def stop_all(tx: Transaction, by: Caller, reason: str, *, restart: bool = False) -> StoppedAll:
    """All agents, each stopped, in one commit (A7); with a new process each if that is wanted and a node runs."""
    names = roster.all_names(tx)
    for name in names:
        living.stop(tx, name, by, reason)
    refused = {name: restarting.ask_if_any_would(tx, name, by, reason) for name in names} if restart else {}
    return StoppedAll(names, {name: why for name, why in refused.items() if why})


def resume_all(tx: Transaction, by: Caller) -> list[str]:
    """All agents, each resumed, in one commit."""
    names = roster.all_names(tx)
    for name in names:
        living.resume(tx, name, by)
    return names


class Story(NamedTuple):
    """Some events that the caller may see, where to read on, and whether there may be more now."""

    events: list[Event]
    bookmark: Bookmark
    more: bool
    resync: bool


class Wanted(NamedTuple):
    """Which events: of these kinds, of one agent, about one id; all if empty."""

    kinds: tuple[str, ...] = ()
    agent: str | None = None
    subject: str | None = None


def story(tx: Transaction, since: Bookmark, by: Caller, wanted: Wanted, limit: int) -> Story:
    """The events after a bookmark; none but `resync` if events after it are no longer kept."""
    if not events.is_kept(tx, since):
        return Story([], events.last(tx), more=False, resync=True)
    page = events.after(tx, since, kinds=wanted.kinds, limit=limit)
    found = [each for each in page.events if seeing.event(each, by) and _wanted(each, wanted)]
    return Story(found, page.bookmark, page.full, resync=False)


LOOKED_AT = 20_000
"""Among so many of the latest events are those that are looked for from the end."""


def latest(tx: Transaction, by: Caller, wanted: Wanted, limit: int) -> Story:
    """The last events that the caller may see, in order; `more` if there were others before them, as far as was looked."""
    found: list[Event] = []
    end, looked = events.END, 0
    while looked < LOOKED_AT and len(found) <= limit:
        page = events.before(tx, end, limit=1000)
        found += [each for each in page if seeing.event(each, by) and _wanted(each, wanted) and events.is_of(each.kind, wanted.kinds)]
        looked += 1000
        if len(page) < 1000:
            break
        end = page[-1].cursor
    return Story(found[:limit][::-1], events.last(tx), more=len(found) > limit, resync=False)


def _wanted(event: Event, wanted: Wanted) -> bool:
    return wanted.agent in (None, event.agent) and wanted.subject in (None, event.subject)
