"""Agent Contacts of the whole fleet: which links there are, how they stand, how much of each one's quota is used (L1, L2, L9)."""

from __future__ import annotations

from urllib.parse import quote

from markupsafe import Markup

from covey.agents import roster
from covey.agents.model import THE_OPERATOR
from covey.base.settings import Settings
from covey.console import pieces
from covey.console.console import console_of
from covey.console.listing import operations_of
from covey.console.looking import has_words, picked
from covey.console.pieces import pill
from covey.console.rendering import Place
from covey.console.routes import Operations, page
from covey.console.shown import when
from covey.console.tables import Column, Filter, Query, Slice, Table, table_rows
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.links import reading
from covey.links.reading import LinkShown
from covey.store import Transaction

PLACE = Place("/contacts", "Contacts")
STATES = ("linked", "unlinked", "disabled", "gone")
STANDING = ("linked", "disabled")
"""Of these there is something to change."""
NAMED = 200
"""So many agents are named above the table."""


class ContactsQuery(Query):
    """Links: those with these words, in this state, of this agent."""

    state: str = ""
    agent: str = ""


def read_contacts(tx: Transaction, query: ContactsQuery, _settings: Settings, limit: int) -> Slice[LinkShown]:
    """The links that a query asks for: of one agent those that the mesh implies too, else those that were used or made."""

    def fits(link: LinkShown) -> bool:
        return query.state in ("", link.status) and has_words(query.q, *link.agents, link.why or "", link.feature_flag or "")

    def part(after: str | None) -> reading.Page:
        return reading.page(tx, THE_OPERATOR, agent=query.agent or None, after=after or "", limit=limit)

    return picked(part, fits, query.cursor or None, limit)


def address(one: str, other: str) -> str:
    """The page of a link. Pure."""
    return f"/contacts/{quote(one, safe='')}/{quote(other, safe='')}"


def limit_of(link: LinkShown) -> str:
    """How much each end may send to the other. Pure."""
    if link.limits == "off":
        return "off"
    return f"{link.messages_per_window} in {link.window_hours} h"


def reset_of(link: LinkShown) -> float | None:
    """When the first of both ends' quotas is full again; None if both are. Pure."""
    return min((way.window_reset_at for way in link.directions.values() if way.window_reset_at is not None), default=None)


def _quotas(link: LinkShown) -> Markup:
    one, other = link.agents
    lines = [Markup('<span class="meter">{} by {}</span>').format(pieces.quota(link, sender), sender) for sender in (one, other)]
    return Markup("<br>").join(lines) if link.limits == "on" else Markup("no limit")


CONTACTS: Table[ContactsQuery, LinkShown] = Table(
    name="contacts",
    path="/contacts",
    caption="Links",
    query=ContactsQuery,
    read=read_contacts,
    filters=(Filter("q", "Name or words"), Filter("agent", "Agent"), Filter("state", "State", STATES, "any state")),
    columns=(
        Column(name="agents", title="Link", value=lambda k: k.agents, cell=lambda k: " – ".join(k.agents)),
        Column(name="state", title="State", value=lambda k: k.status, cell=lambda k: pill(k.status, title=k.why or "")),
        Column(
            name="creditsRemaining",
            title="Quota used",
            value=lambda k: {name: way.credits_remaining for name, way in k.directions.items()},
            cell=_quotas,
        ),
        Column(name="windowResetAt", title="Next reset", value=reset_of, cell=lambda k: when(reset_of(k), "–")),
        Column(name="limit", title="Limit", value=limit_of),
        Column(
            name="debounceS", title="Apart", value=lambda k: k.debounce_s, cell=lambda k: f"{k.debounce_s:g} s", number=True, spare=True
        ),
        Column(name="featureFlag", title="Flag", value=lambda k: k.feature_flag, cell=lambda k: k.feature_flag or "–", spare=True),
    ),
    live="link. message. fleet.",
    empty="No link was used or made yet. Choose an agent, above: its page shows whom it may write to, and links it with others.",
    open=lambda k: address(*k.agents),
)


async def get_contacts(call: Call[ContactsQuery, Nothing]) -> Answer:
    """The page."""
    names = await call.door.store.read(roster.all_names)
    policy = await call.door.store.read(reading.policy)
    rows = await table_rows(call, CONTACTS, call.query)
    return console_of(call).whole(
        call,
        "contacts/contacts.html",
        table=CONTACTS,
        query=call.query,
        rows=rows,
        names=names[:NAMED],
        more=len(names) - NAMED,
        policy=policy,
    )


OPERATIONS: Operations = (page("/contacts", get_contacts, "Links.", query=ContactsQuery), *operations_of(CONTACTS))
