"""The fleet's append-only story, as its readers see it: each reads on from its own bookmark (DESIGN, Store)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from covey.base.errors import Invalid
from covey.store.statements import statement
from covey.store.transaction import Row, Transaction, relaxed

AFTER = statement(__package__, "events_after")
BEFORE = statement(__package__, "events_before")
LAST = statement(__package__, "events_last")
OF_SUBJECT = statement(__package__, "events_of_subject")
OF_SUBJECT_AFTER = statement(__package__, "events_of_subject_after")
FIRST_OF_SUBJECT = statement(__package__, "events_first_of_subject")
OF_AGENT = statement(__package__, "events_of_agent")
BOOKMARK = statement(__package__, "bookmark")
SET_BOOKMARK = statement(__package__, "set_bookmark", is_quiet=True)
MOVE_BOOKMARK = statement(__package__, "move_bookmark", is_quiet=True)
PRUNE = statement(__package__, "events_prune")
SIZE = statement(__package__, "events_size")

PRUNED = "pruned"
"""The bookmark of the last event that was deleted."""
ROW_BYTES = 160
"""What an event takes beside its data, with its places in the indexes; about."""


class Bookmark(NamedTuple):
    """Up to where somebody has read. On SQLite `xid` is 0; on PostgreSQL commits are ordered by it."""

    xid: int
    seq: int

    def __str__(self) -> str:
        return f"{self.xid}.{self.seq}" if self.xid else str(self.seq)

    @classmethod
    def parse(cls, text: str) -> Bookmark:
        """The bookmark of a text like `17` or `802.17`.

        Raises:
            Invalid: It is no bookmark.
        """
        xid, _, seq = text.rpartition(".")
        try:
            return cls(int(xid or 0), int(seq))
        except ValueError as error:
            raise Invalid(f"since is {text[:60]!r}; give the `cursor` of an event, like 17.", field="since") from error


START = Bookmark(0, 0)
END = Bookmark(2**62, 2**62)
"""After every event that there will be."""


class Event(NamedTuple):
    """One line of the story: when, what, which agent, about which id, and the rest."""

    cursor: Bookmark
    at: float
    kind: str
    agent: str | None
    subject: str | None
    data: dict[str, Any]

    @classmethod
    def from_row(cls, row: Row) -> Event:
        """The event of a row."""
        return cls(Bookmark(row.xid, row.seq), row.at, row.kind, row.agent, row.subject, msgspec.json.decode(row.data))

    def shown(self) -> dict[str, Any]:
        """The event as JSON shows it."""
        return {"cursor": str(self.cursor), "at": self.at, "kind": self.kind, "agent": self.agent, "subject": self.subject, **self.data}


class Pages(NamedTuple):
    """Some events and where to read on."""

    events: list[Event]
    bookmark: Bookmark
    start: Bookmark
    full: bool
    """Whether there may be more right now."""


def after(tx: Transaction, start: Bookmark, *, kinds: Sequence[str] = (), limit: int = 200) -> Pages:
    """The events after a bookmark in order, of these kinds (or kind prefixes ending in `.`), or of all."""
    rows = tx.all(AFTER, xid=start.xid, seq=start.seq, limit=limit)
    bookmark = Bookmark(rows[-1].xid, rows[-1].seq) if rows else start
    found = [Event.from_row(row) for row in rows if is_of(row.kind, kinds)]
    return Pages(found, bookmark, start, len(rows) == limit)


def is_of(kind: str, kinds: Sequence[str]) -> bool:
    """Whether a kind is one of these (or begins with one that ends in `.`); any is, of none. Pure."""
    return not kinds or any(kind == each or (each.endswith(".") and kind.startswith(each)) for each in kinds)


def before(tx: Transaction, end: Bookmark = END, *, limit: int = 200) -> list[Event]:
    """The events before a bookmark, the latest first."""
    return [Event.from_row(row) for row in tx.all(BEFORE, xid=end.xid, seq=end.seq, limit=limit)]


def last(tx: Transaction) -> Bookmark:
    """The bookmark after the last event."""
    row = tx.one(LAST)
    return Bookmark(row.xid, row.seq) if row else START


def is_kept(tx: Transaction, since: Bookmark) -> bool:
    """Whether nothing after this bookmark has been deleted since; if not, its reader must start anew (`resync`)."""
    return since == START or since >= bookmark(tx, PRUNED)


def of_subject(tx: Transaction, subject: str, *, limit: int = 100) -> list[Event]:
    """What happened to a message, task …, the latest first."""
    return [Event.from_row(row) for row in tx.all(OF_SUBJECT, subject=subject, limit=limit)]


def of_subject_after(tx: Transaction, subject: str, start: Bookmark, *, limit: int = 100) -> list[Event]:
    """What happened to a message, task … after a bookmark, in the order in which every reader gets it."""
    return [Event.from_row(row) for row in tx.all(OF_SUBJECT_AFTER, subject=subject, xid=start.xid, seq=start.seq, limit=limit)]


def first_of_subject(tx: Transaction, subject: str) -> Event | None:
    """The first thing that happened to a message, task …, if it is still kept."""
    row = tx.one(FIRST_OF_SUBJECT, subject=subject)
    return Event.from_row(row) if row is not None else None


def of_agent(tx: Transaction, agent: str, *, limit: int = 100) -> list[Event]:
    """What happened to or by an agent, the latest first."""
    return [Event.from_row(row) for row in tx.all(OF_AGENT, agent=agent, limit=limit)]


def bookmark(tx: Transaction, name: str) -> Bookmark:
    """How far a reader of this name has got; the start for a new one."""
    row = tx.one(BOOKMARK, name=name)
    return Bookmark(row.xid, row.seq) if row else START


def set_bookmark(tx: Transaction, name: str, to: Bookmark) -> None:
    """Remember how far a reader has got."""
    tx.run(SET_BOOKMARK, name=name, xid=to.xid, seq=to.seq)


def move_bookmark(tx: Transaction, name: str, start: Bookmark, to: Bookmark) -> bool:
    """Remember how far a reader has got since `start`; False, and nothing changed, if another one of its name has moved it since."""
    return tx.run(MOVE_BOOKMARK, name=name, xid=to.xid, seq=to.seq, from_xid=start.xid, from_seq=start.seq) > 0


@relaxed
def prune(tx: Transaction, *, older_s: float, most_bytes: int, limit: int = 500) -> int:
    """Delete the oldest events that are older than this, or more than so many bytes in all; how many went, `limit` at most."""
    before = tx.now - older_s if size_bytes(tx) <= most_bytes else tx.now
    gone = [Bookmark(row.xid, row.seq) for row in tx.all(PRUNE, before=before, limit=limit)]
    if gone:
        set_bookmark(tx, PRUNED, max(*gone, bookmark(tx, PRUNED)))
    return len(gone)


def size_bytes(tx: Transaction) -> int:
    """How much room the events take, about: counting them would take longer than all else."""
    row = tx.one(SIZE)
    return int(row.n * (row.data_bytes + ROW_BYTES)) if row and row.n else 0
