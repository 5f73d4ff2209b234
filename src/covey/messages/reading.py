"""Mailboxes, threads, dead letters and search, read only (M13). Lists go by `seq`, which is their cursor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from covey.agents import roster
from covey.agents.model import OPERATOR
from covey.base.errors import NotFound
from covey.messages.indexing import wanted
from covey.messages.model import Message
from covey.store import Row, Transaction, statement

COPIES_OF = statement(__package__, "copies_of")
COPY = statement(__package__, "copy")
INBOX = statement(__package__, "inbox")
INBOX_UNREAD = statement(__package__, "inbox_unread")
THREAD = statement(__package__, "thread")
THREAD_BACK = statement(__package__, "thread_back")
PLACE = statement(__package__, "place")
THREADS = statement(__package__, "threads")
THREADS_LATELY = statement(__package__, "threads_lately")
THREAD_HEAD = statement(__package__, "thread_head")
TAKES_PART = statement(__package__, "takes_part")
FLAGGED = statement(__package__, "flagged")
DEAD_LETTERS = statement(__package__, "dead_letters")
SEARCH = statement(__package__, "search")
UNREAD = statement(__package__, "unread")
COUNTS = statement(__package__, "counts")
LATEST = statement(__package__, "latest")
ANSWERS = statement(__package__, "answers")
END = 1 << 62
FEW = 500
WINDOW = 2000
LAST = 20
"""With more threads than `FEW` they are looked for among the latest messages, so many at a time."""


class Page(NamedTuple):
    """A part of a list, and the cursor of the next part (None at the end)."""

    items: list[Message]
    cursor: int | None


def show(tx: Transaction, ident: str) -> list[Message]:
    """A message, once for each of its copies, with each copy's state and times (M4a).

    Raises:
        NotFound: There is no such message.
    """
    found = copies(tx, ident)
    if not found:
        raise NotFound(f"there is no message {ident!r}; it may be past its retention.", field="id")
    return found


def copies(tx: Transaction, ident: str) -> list[Message]:
    """As `show`; empty if there is no such message."""
    return _messages(tx, tx.all(COPIES_OF, id=ident))


def copy(tx: Transaction, ident: str, receiver: str) -> Message:
    """One receiver's copy of a message.

    Raises:
        NotFound: There is no such copy.
    """
    rows = tx.all(COPY, message_id=ident, receiver=receiver)
    if not rows:
        raise NotFound(f"there is no message {ident[:200]!r} to {receiver[:60]!r}; it may be past its retention.", field="id")
    return _messages(tx, rows)[0]


def inbox(tx: Transaction, agent: str, *, unread: bool = False, before: int | None = None, limit: int = 50) -> Page:
    """An agent's mail or the operator's, newest first. Looking does not acknowledge.

    Raises:
        Unknown: There is no such agent.
    """
    if agent != OPERATOR:
        roster.find(tx, agent, field="agent")
    rows = tx.all(INBOX_UNREAD if unread else INBOX, receiver=agent, before=before or END, limit=limit + 1)
    return page(tx, rows, limit)


def unread_count(tx: Transaction, agent: str) -> int:
    """How many messages wait in a mailbox."""
    row = tx.one(UNREAD, receiver=agent)
    return row.n if row else 0


def thread(tx: Transaction, ident: str, *, after: int = 0, limit: int = 200) -> Page:
    """A thread's messages in order, one for each copy (M13).

    Raises:
        NotFound: There is no such thread.
    """
    rows = tx.all(THREAD, thread_id=ident, limit=limit + 1, **place_after(tx, after))
    if not rows and not after:
        raise NotFound(f"there is no thread {ident!r}; `covey inbox AGENT --json` shows threadIds.", field="thread")
    return page(tx, rows, limit)


def thread_end(tx: Transaction, ident: str, *, before: int = 0, limit: int = 50) -> Page:
    """The last messages of a thread, or those before a copy, the latest first and one for each copy; the cursor leads further back.

    Raises:
        NotFound: There is no such thread.
    """
    row = tx.one(PLACE, copy=before) if before else None
    rows = tx.all(THREAD_BACK, thread_id=ident, before=before or END, high=row.seq if row else END, limit=limit + 1)
    if not rows and not before:
        raise NotFound(f"there is no thread {ident!r}; `covey inbox AGENT --json` shows threadIds.", field="thread")
    return page(tx, rows, limit)


def place_after(tx: Transaction, after: int) -> dict[str, int]:
    """Where a thread is read on after a copy; one that is no more has its place by its number alone."""
    row = tx.one(PLACE, copy=after) if after else None
    return {"after": after, "low": row.seq if row else 0, "high": row.seq if row else END}


class Thread(NamedTuple):
    """A conversation: how many messages it has, when the last one was sent, and its cursor."""

    thread_id: str
    messages: int
    last_at: float
    last_seq: int


def threads(tx: Transaction, *, before: int | None = None, limit: int = 50, part: str | None = None) -> list[Thread]:
    """Threads, the latest first; with `part` those in which this agent sent or got something."""
    end = before or END
    found: list[Thread] = []
    for ident in _idents(tx, end):
        head = tx.one(THREAD_HEAD, thread_id=ident)
        if head is not None and head.last_seq < end and (part is None or _takes_part(tx, ident, part)):
            found.append(Thread(ident, head.messages, head.last_at, head.last_seq))
            if len(found) == limit:
                break
    return found


def _takes_part(tx: Transaction, ident: str, name: str) -> bool:
    """Whether somebody sent or got something in a thread: its last messages tell, or all of them."""
    return any(tx.one(TAKES_PART, thread_id=ident, name=name, last=last) is not None for last in (LAST, END))


def _idents(tx: Transaction, end: int) -> Iterator[str]:
    """The ids of threads with messages before `end`, the latest first: from all if they are few, else from the latest messages on."""
    few = tx.all(THREADS, limit=FEW + 1)
    if len(few) <= FEW:
        yield from (row.thread_id for row in sorted(few, key=lambda row: -row.last_seq))
        return
    seen: set[str] = set()
    while rows := tx.all(THREADS_LATELY, before=end, limit=WINDOW):
        for row in rows:
            if row.thread_id not in seen:
                seen.add(row.thread_id)
                yield row.thread_id
        end = rows[-1].seq


def counts(tx: Transaction) -> dict[str, int]:
    """How many copies are in each state."""
    row = tx.one(COUNTS)
    if row is None:
        return {}
    handled = row.total - row.delivered - row.seen - row.deferred - row.dead - row.expired
    states = row._asdict() | {"delivered": row.delivered - row.held, "handled": handled}
    return {state: count for state, count in states.items() if count and state != "total"}


def latest(tx: Transaction, limit: int = 1000) -> list[Message]:
    """The last messages of the whole fleet, oldest first (S1)."""
    return _messages(tx, tx.all(LATEST, limit=limit))[::-1]


def dead_letters(tx: Transaction, *, before: int | None = None, limit: int = 50) -> Page:
    """Copies that were given up, newest first (M8)."""
    return page(tx, tx.all(DEAD_LETTERS, before=before or END, limit=limit + 1), limit)


def search(tx: Transaction, text: str, *, limit: int = 50) -> list[Message]:
    """Messages whose subject or body has all these words, newest first; at most 2 s behind (M13)."""
    words = wanted(text)
    return _messages(tx, tx.all(SEARCH, **words, limit=limit)) if words else []


def answers(tx: Transaction, ident: str) -> list[Message]:
    """The replies to a message, in order."""
    return _messages(tx, tx.all(ANSWERS, id=ident))


def page(tx: Transaction, rows: list[Row], limit: int) -> Page:
    """The page of so many rows, of which one more was asked for than it shows."""
    return Page(_messages(tx, rows[:limit]), rows[limit - 1].copy_seq if len(rows) > limit else None)


def _messages(tx: Transaction, rows: list[Row]) -> list[Message]:
    flagged = {row.id: row.at for row in tx.all(FLAGGED)} if rows else {}
    return [Message.from_row(row, flagged_at=flagged.get(row.receiver)) for row in rows]
