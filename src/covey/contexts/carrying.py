"""Context entries carried from one store to another (S4): the live and the archived, as they stood."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from covey.agents import roster
from covey.base.errors import Invalid
from covey.base.settings import AgentSettings
from covey.contexts import entries
from covey.contexts.archive import add, unpack
from covey.contexts.model import WARN_AT, Entry, EntryKind, Form
from covey.messages.checking import check_id
from covey.store import Transaction, statement

PAGE = statement(__package__, "page")


class CarriedEntry(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """An entry as one line of an export has it."""

    id: str
    agent: str
    kind: EntryKind
    text: str
    source: str | None = None
    at: float | None = None
    archived_at: float | None = None
    form: Form = "raw"
    shown_in: str | None = None


class Page(NamedTuple):
    """Some entries, and where to read on; the last page is empty."""

    items: list[CarriedEntry]
    cursor: int


def page(tx: Transaction, after: int = 0, limit: int = 200) -> Page:
    """Entries of all agents in the order in which they were made."""
    rows = tx.all(PAGE, after=after, limit=limit)
    found = [
        CarriedEntry(
            id=row.id,
            agent=row.agent,
            kind=row.kind,
            text=unpack(row),
            source=row.source,
            at=row.at,
            archived_at=row.archived_at,
            form=row.form,
            shown_in=row.shown_in,
        )
        for row in rows
    ]
    return Page(found, rows[-1].seq if rows else after)


def put(tx: Transaction, entry: CarriedEntry) -> bool:
    """Whether the entry was new; it is live again if it was and there is room for it, archived otherwise (C3a).

    Raises:
        Invalid, Unknown, Gone: It is of the wrong form, or its agent is not of this fleet.
    """
    check_id("id", entry.id)
    agent = roster.find(tx, entry.agent, field="agent")
    if not entry.text.strip():
        raise Invalid("text is empty.", field="text")
    if tx.one(entries.KNOWN, id=entry.id) is not None:
        return False
    tokens = entries.tokens_of(entry.text)
    bound = msgspec.convert(agent.settings, AgentSettings).max_context
    fits = entry.archived_at is None and entries.size_of(tx, agent.id) + tokens <= bound * WARN_AT
    at = min(entry.at, tx.now) if entry.at is not None else tx.now
    kept = Entry(entry.id, entry.kind, entry.text, entry.source, tokens, at, entry.form)
    archived_at = None if fits else entry.archived_at if entry.archived_at is not None else tx.now
    add(tx, agent.id, kept, archived_at=archived_at, shown_in=entry.shown_in)
    return True
