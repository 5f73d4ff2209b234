"""Conversations: a list of them, the latest first; or the messages that have all these words."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote

from covey.agents.model import OPERATOR, THE_OPERATOR
from covey.base.settings import Settings
from covey.console import pieces
from covey.console.bulk import Bulk
from covey.console.console import console_of
from covey.console.listing import operations_of
from covey.console.pieces import pill
from covey.console.rendering import Place
from covey.console.routes import Operations, page
from covey.console.shown import ago
from covey.console.tables import Column, Filter, Query, Slice, Table, cursor_of, table_rows
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.messages import handling, reading, seeing
from covey.messages.model import Message
from covey.reports.phrases import head
from covey.store import Transaction

PLACE = Place("/threads", "Threads")
HEAD = 160


UNREAD = "unread mail to you"


class ThreadsQuery(Query):
    """Threads; or the messages with these words; or what waits in the operator's mailbox."""

    show: str = ""


class Row(NamedTuple):
    """A thread by its last message, or a message that was found."""

    thread_id: str
    messages: int | None
    last: Message


def read_threads(tx: Transaction, query: ThreadsQuery, _settings: Settings, limit: int) -> Slice[Row]:
    """Threads, the latest first; with words the messages that have them, newest first; or the operator's unread mail."""
    if query.show == UNREAD:
        return _unread(tx, query, limit)
    if query.q.strip():
        return Slice([Row(each.thread_id, None, each) for each in seeing.search(tx, query.q, THE_OPERATOR, limit=limit)])
    found = seeing.threads(tx, THE_OPERATOR, before=cursor_of(query) or None, limit=limit)
    rows = [Row(each.thread_id, each.messages, reading.thread_end(tx, each.thread_id, limit=1).items[0]) for each in found]
    return Slice(rows, str(found[-1].last_seq) if len(found) == limit else None)


def _unread(tx: Transaction, query: ThreadsQuery, limit: int) -> Slice[Row]:
    """What waits in the operator's mailbox, of that what has all these words."""
    found = reading.inbox(tx, OPERATOR, unread=True, before=cursor_of(query) or None, limit=limit)
    words = query.q.casefold().split()
    rows = [Row(each.thread_id, None, each) for each in found.items if all(word in words_of(each).casefold() for word in words)]
    return Slice(rows, str(found.cursor) if found.cursor is not None else None)


def address(ident: str) -> str:
    """A thread's page. Pure."""
    return f"/threads/{quote(ident, safe='')}"


def words_of(message: Message) -> str:
    """What a message is about, in a line. Pure."""
    subject = str(message.content["subject"])
    return head(f"{subject}: {message.body}" if subject else message.body, HEAD)


THREADS: Table[ThreadsQuery, Row] = Table(
    name="threads",
    path="/threads",
    caption="Threads",
    query=ThreadsQuery,
    read=read_threads,
    filters=(Filter("q", "Words in subject or text"), Filter("show", "Show", (UNREAD,), "all threads")),
    columns=(
        Column(name="threadId", title="Thread", value=lambda row: row.thread_id),
        Column(name="from", title="From", value=lambda row: row.last.from_, cell=lambda row: pieces.agent(row.last.from_)),
        Column(name="to", title="To", value=lambda row: row.last.receiver, cell=lambda row: pieces.agent(row.last.receiver)),
        Column(name="last", title="Message", value=lambda row: words_of(row.last), words=True),
        Column(name="state", title="State", value=lambda row: row.last.state, cell=lambda row: pill(row.last.state or "")),
        Column(name="messages", title="Messages", value=lambda row: row.messages, number=True, spare=True),
        Column(name="at", title="At", value=lambda row: row.last.timestamp, cell=lambda row: ago(row.last.timestamp)),
    ),
    live="message. thread.",
    empty="Nobody has written anything yet. Write a message, above, begins a thread.",
    open=lambda row: address(row.thread_id),
    acts=(("read", "Mark these as read"),),
)

READ = Bulk(
    table=THREADS,
    name="read",
    title="Mark {} as read",
    noun="message",
    explain="They wait for you no more; who wants an answer of you still does. Only mail to you can be marked, others are refused.",
    past="marked as read",
    verb=lambda tx, row, by: handling.acknowledge(tx, by.name, row.last.message_id),
    grave=False,
)


async def get_threads(call: Call[ThreadsQuery, Nothing]) -> Answer:
    """The page."""
    rows = await table_rows(call, THREADS, call.query)
    return console_of(call).whole(call, "threads/table.html", table=THREADS, query=call.query, rows=rows)


OPERATIONS: Operations = (page("/threads", get_threads, "Threads.", query=ThreadsQuery), *operations_of(THREADS), *READ.operations)
