"""A vote as a Python program holds it: opened, followed event by event, its result once it is closed. It ends whoever sweeps (Q4)."""

from __future__ import annotations

from typing import NamedTuple

from covey.agents.model import Caller
from covey.app.following import Progress, tell
from covey.base.clock import Clock
from covey.store import Store, Transaction, events
from covey.store.events import Bookmark, Event
from covey.teams.votes import closing, opening, reading
from covey.teams.votes.model import Result, VoteDraft, VoteShown

LOOK_S = 0.1


class _Look(NamedTuple):
    """A vote as it stands, what happened to it since, and whether it is time for it to move on."""

    vote: VoteShown
    news: list[Event]
    bookmark: Bookmark
    due: bool


async def hold(store: Store, clock: Clock, draft: VoteDraft, by: Caller, progress: Progress | None) -> Result:
    """What the vote comes to, once it is closed. With an id of one's own a program that was killed takes its vote up again.

    `progress` is told each event of the vote, and never what somebody chose.

    Raises:
        CoveyError: As `opening.open_vote`.
    """
    opened = await store.write(opening.open_vote, draft, by)
    look = await store.read(_first, opened.vote_id, by)
    told: set[Bookmark] = set()
    while True:
        for event in look.news:
            if progress is not None and event.cursor not in told:
                await tell(progress, event)
            told.add(event.cursor)
        if look.vote.result is not None:
            return look.vote.result
        if look.due:
            await store.write(closing.close_due)
        else:
            await clock.sleep(LOOK_S)
        look = await store.read(_next, opened.vote_id, by, look.bookmark)


def _first(tx: Transaction, ident: str, by: Caller) -> _Look:
    """All that has happened to it."""
    vote = reading.show(tx, ident, by)
    return _Look(vote, events.of_subject(tx, ident, limit=1000)[::-1], events.last(tx), due=vote.is_open and vote.due_at <= tx.now)


def _next(tx: Transaction, ident: str, by: Caller, since: Bookmark) -> _Look:
    """What has happened to it since."""
    page = events.after(tx, since, kinds=("vote.",), limit=1000)
    vote = reading.show(tx, ident, by)
    news = [event for event in page.events if event.subject == ident]
    return _Look(vote, news, page.bookmark, due=vote.is_open and vote.due_at <= tx.now)
