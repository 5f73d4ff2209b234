"""Mailboxes, threads, dead letters and search, read only (M13). Lists go by `seq`, which is their cursor."""

from __future__ import annotations

import re
from typing import NamedTuple

from covey.agents import roster
from covey.agents.model import OPERATOR
from covey.base.errors import NotFound
from covey.messages.model import Message
from covey.store import Row, Transaction, statement

COPIES_OF = statement(__package__, "copies_of")
INBOX = statement(__package__, "inbox")
THREAD = statement(__package__, "thread")
THREADS = statement(__package__, "threads")
DEAD_LETTERS = statement(__package__, "dead_letters")
SEARCH = statement(__package__, "search")
UNREAD = statement(__package__, "unread")
COUNTS = statement(__package__, "counts")
LATEST = statement(__package__, "latest")
ANSWERS = statement(__package__, "answers")


class Page(NamedTuple):
    """A part of a list, and the cursor of the next part (None at the end)."""

    items: list[Message]
    cursor: int | None


def show(tx: Transaction, ident: str) -> list[Message]:
    """A message, once for each of its copies, with each copy's state and times (M4a).

    Raises:
        NotFound: There is no such message.
    """
    rows = tx.all(COPIES_OF, id=ident)
    if not rows:
        raise NotFound(f"there is no message {ident!r}; it may be past its retention.", field="id")
    return _messages(tx, rows)


def inbox(tx: Transaction, agent: str, *, unread: bool = False, before: int | None = None, limit: int = 50) -> Page:
    """An agent's mail or the operator's, newest first. Looking does not acknowledge.

    Raises:
        Unknown: There is no such agent.
    """
    if agent != OPERATOR:
        roster.find(tx, agent, field="agent")
    rows = tx.all(INBOX, receiver=agent, unread=int(unread), before=before or 1 << 62, limit=limit + 1)
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
    rows = tx.all(THREAD, thread_id=ident, after=after, limit=limit + 1)
    if not rows and not after:
        raise NotFound(f"there is no thread {ident!r}; `covey inbox AGENT --json` shows threadIds.", field="thread")
    return page(tx, rows, limit)


def threads(tx: Transaction, *, before: int | None = None, limit: int = 50) -> list[Row]:
    """Threads, the latest first: rows of thread_id, messages, last_at, last_seq."""
    return tx.all(THREADS, before=before or 1 << 62, limit=limit)


def counts(tx: Transaction) -> dict[str, int]:
    """How many copies are in each state."""
    return {row.state: row.n for row in tx.all(COUNTS)}


def latest(tx: Transaction, limit: int = 1000) -> list[Message]:
    """The last messages of the whole fleet, oldest first (S1)."""
    return _messages(tx, tx.all(LATEST, limit=limit))[::-1]


def dead_letters(tx: Transaction, *, before: int | None = None, limit: int = 50) -> Page:
    """Copies that were given up, newest first (M8)."""
    return page(tx, tx.all(DEAD_LETTERS, before=before or 1 << 62, limit=limit + 1), limit)


def search(tx: Transaction, text: str, *, limit: int = 50) -> list[Message]:
    """Messages whose subject or body has all these words, newest first; at most 2 s behind (M13)."""
    words = re.findall(r"\w+", text)
    if not words:
        return []
    return _messages(tx, tx.all(SEARCH, match=" ".join(f'"{word}"' for word in words), words=" ".join(words), limit=limit))


def answers(tx: Transaction, ident: str) -> list[Message]:
    """The replies to a message, in order."""
    return _messages(tx, tx.all(ANSWERS, id=ident))


def page(tx: Transaction, rows: list[Row], limit: int) -> Page:
    """The page of so many rows, of which one more was asked for than it shows."""
    return Page(_messages(tx, rows[:limit]), rows[limit - 1].copy_seq if len(rows) > limit else None)


def _messages(tx: Transaction, rows: list[Row]) -> list[Message]:
    held = {agent.id for agent in roster.everyone(tx) if not agent.takes_work} if rows else set()
    return [Message.from_row(row, held=row.receiver in held) for row in rows]
