"""Inspect: links, and what is left in each of their directions."""

from __future__ import annotations

from covey.agents.model import THE_OPERATOR
from covey.base.settings import Settings
from covey.console import pieces
from covey.console.inspected import Inspected
from covey.console.looking import has_words, picked
from covey.console.shown import ago, span
from covey.console.tables import Column, Filter, Query, Slice, Table
from covey.links import reading
from covey.links.reading import LinkShown, PeerState
from covey.store import Transaction

WORDS = Filter("q", "Agent or id")


def read_links(tx: Transaction, query: Query, _settings: Settings, limit: int) -> Slice[LinkShown]:
    """The links that have a row, by id."""
    return picked(
        lambda after: reading.page(tx, THE_OPERATOR, after=after or "", limit=limit),
        lambda link: has_words(query.q, link.id, link.status),
        query.cursor or None,
        limit,
    )


def read_states(tx: Transaction, query: Query, _settings: Settings, limit: int) -> Slice[PeerState]:
    """The peer states, by link, channel and sender."""
    return picked(
        lambda after: reading.states(tx, after=after or "", limit=limit),
        lambda state: has_words(query.q, state.link_id, state.channel, state.sender),
        query.cursor or None,
        limit,
    )


LINKS: Table[Query, LinkShown] = Table(
    name="links",
    path="/inspect/links",
    caption="Links",
    query=Query,
    read=read_links,
    filters=(WORDS,),
    columns=(
        Column(name="id", title="Id", value=lambda k: k.id),
        Column(name="status", title="Status", value=lambda k: k.status, cell=lambda k: pieces.pill(k.status, title=k.why or "")),
        Column(name="limits", title="Limits", value=lambda k: k.limits),
        Column(name="messages", title="Messages", value=lambda k: k.messages_per_window, number=True),
        Column(name="hours", title="Hours", value=lambda k: k.window_hours, number=True),
        Column(
            name="debounceS", title="Debounce", value=lambda k: k.debounce_s, cell=lambda k: span(k.debounce_s), number=True, spare=True
        ),
        Column(name="enabled", title="Enabled", value=lambda k: k.enabled, spare=True),
        Column(name="featureFlag", title="Feature", value=lambda k: k.feature_flag, spare=True),
        Column(name="implied", title="Of the mesh", value=lambda k: k.implied, spare=True),
        Column(name="version", title="Version", value=lambda k: k.version, number=True, spare=True),
        Column(name="createdAt", title="Made", value=lambda k: k.created_at, cell=lambda k: ago(k.created_at), spare=True),
        Column(name="createdBy", title="By", value=lambda k: k.created_by, spare=True),
        Column(name="removedAt", title="Removed", value=lambda k: k.removed_at, cell=lambda k: ago(k.removed_at, "–"), spare=True),
    ),
    live="link.",
    empty="No link has a row yet: `covey link add coder intel` makes one, or two agents of a mesh write to each other.",
)
STATES: Table[Query, PeerState] = Table(
    name="peer-states",
    path="/inspect/peer-states",
    caption="Peer states",
    query=Query,
    read=read_states,
    filters=(WORDS,),
    columns=(
        Column(name="linkId", title="Link", value=lambda s: s.link_id),
        Column(name="channel", title="Channel", value=lambda s: s.channel),
        Column(name="sender", title="Sender", value=lambda s: s.sender, cell=lambda s: pieces.agent(s.sender)),
        Column(name="creditsStored", title="Stored", value=lambda s: s.credits_stored, number=True),
        Column(
            name="creditsRemaining",
            title="Left now",
            value=lambda s: s.credits_remaining,
            cell=lambda s: "–" if s.credits_remaining is None else s.credits_remaining,
            number=True,
        ),
        Column(name="windowResetAt", title="Next window", value=lambda s: s.window_reset_at, cell=lambda s: ago(s.window_reset_at, "–")),
        Column(name="lastMessageAt", title="Last message", value=lambda s: s.last_message_at, cell=lambda s: ago(s.last_message_at)),
        Column(name="lastRun", title="Last run", value=lambda s: s.last_run, spare=True),
        Column(name="recent", title="Of late", value=lambda s: len(s.recent), number=True, spare=True),
    ),
    live="message. quota. link.",
    empty="No message has used a link yet; the first one that does leaves its direction's state here.",
)
INSPECTED = (
    Inspected(LINKS, "Links that have a row, removed ones too."),
    Inspected(STATES, "What is left in each direction of a link: as stored, and as it counts now."),
)
OPERATIONS = tuple(each for inspected in INSPECTED for each in inspected.operations)
