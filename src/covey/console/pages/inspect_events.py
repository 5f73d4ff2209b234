"""Inspect: the fleet's story, event by event, the latest first."""

from __future__ import annotations

from typing import NamedTuple

from covey.base.settings import Settings
from covey.console import pieces
from covey.console.inspected import Inspected
from covey.console.looking import has_words, picked
from covey.console.sentences import sentence_of
from covey.console.shown import ago
from covey.console.story import subject_of
from covey.console.tables import Column, Filter, Query, Slice, Table
from covey.store import Transaction, events
from covey.store.events import Bookmark, Event


class EventsQuery(Query):
    """Events with these words, of a kind that begins so, of this agent."""

    kind: str = ""
    agent: str = ""


class Part(NamedTuple):
    """Some events, and the bookmark before which the next ones are."""

    items: list[Event]
    cursor: Bookmark | None


def read_events(tx: Transaction, query: EventsQuery, _settings: Settings, limit: int) -> Slice[Event]:
    """The events that a query asks for.

    Raises:
        Invalid: The cursor is none.
    """

    def read(before: Bookmark | None) -> Part:
        found = events.before(tx, before or events.END, limit=limit)
        return Part(found, found[-1].cursor if len(found) == limit else None)

    def fits(event: Event) -> bool:
        return (
            event.kind.startswith(query.kind)
            and query.agent in ("", event.agent)
            and has_words(query.q, event.kind, event.agent or "", event.subject or "", sentence_of(event))
        )

    return picked(read, fits, Bookmark.parse(query.cursor) if query.cursor else None, limit)


EVENTS: Table[EventsQuery, Event] = Table(
    name="events",
    path="/inspect/events",
    caption="Events",
    query=EventsQuery,
    read=read_events,
    filters=(Filter("q", "Words or id"), Filter("kind", "Kind begins with"), Filter("agent", "Agent")),
    columns=(
        Column(name="at", title="When", value=lambda e: e.at, cell=lambda e: ago(e.at)),
        Column(name="kind", title="Kind", value=lambda e: e.kind, cell=lambda e: pieces.pill(e.kind)),
        Column(name="agent", title="Agent", value=lambda e: e.agent, cell=lambda e: pieces.agent(e.agent)),
        Column(name="subject", title="About", value=lambda e: e.subject, cell=lambda e: subject_of(e.subject), spare=True),
        Column(name="data", title="What else", value=lambda e: e.data, cell=sentence_of, words=True),
        Column(name="cursor", title="Cursor", value=lambda e: str(e.cursor), spare=True),
    ),
    empty="Nothing has happened yet: `covey up` starts the fleet, and each thing it does is told here.",
)
INSPECTED = (Inspected(EVENTS, "All that happened, the latest first, as long as it is kept."),)
OPERATIONS = tuple(each for inspected in INSPECTED for each in inspected.operations)
