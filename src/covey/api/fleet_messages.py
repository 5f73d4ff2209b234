"""The fleet's port: mail. Sent, asked, read, searched; dead letters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from covey.api.shapes import (
    Acknowledge,
    Answered,
    Count,
    Done,
    InboxQuery,
    Messages,
    Paging,
    Replies,
    SearchQuery,
    Threads,
    ThreadShown,
    WaitQuery,
)
from covey.doors.answer import Answer, problem_of, shown
from covey.doors.call import Call
from covey.doors.operations import Nothing, get, post
from covey.doors.waiting import until
from covey.messages import handling, reading, seeing, sending
from covey.messages.model import Draft, Receipt
from covey.messages.reading import Page
from covey.reports import told


def receipt_shown(receipt: Receipt) -> Answer:
    """A receipt; a message that no receiver got is a problem, which holds the receipt (L13)."""
    if receipt.http < 400:
        return shown(receipt, receipt.http)
    waits = [outcome.retry_at for outcome in receipt.outcomes.values() if outcome.retry_at is not None]
    body: dict[str, Any] = {
        "type": f"urn:covey:{receipt.status}",
        "title": receipt.status.replace("-", " "),
        "status": receipt.http,
        "detail": receipt.sentence,
        "code": receipt.status,
        "receipt": msgspec.to_builtins(receipt),
    }
    if waits:
        body["retryAt"] = min(waits)
    return problem_of(body, receipt.timestamp)


async def send_message(call: Call[Nothing, Draft]) -> Answer:
    """Send a message (M3)."""
    return await call.write(receipt_shown, sending.send, call.body, call.by, wait_s=call.door.settings.wait_s)


async def ask(call: Call[WaitQuery, Draft]) -> Answer:
    """Send a message that wants an answer, and wait for the answer for a while."""
    call.body.content.requires_response = True
    sent = await call.write(receipt_shown, sending.send, call.body, call.by, wait_s=call.door.settings.wait_s)
    if sent.status >= 400:
        return sent
    receipt = msgspec.json.decode(sent.body, type=Receipt)
    found = await wait_for_replies(call, receipt.message_id, call.query.wait)
    return Answer(sent.status, shown(Answered(receipt=receipt, replies=found.items, waiting=found.waiting)).body, headers=sent.headers)


async def get_replies(call: Call[WaitQuery, Nothing]) -> Answer:
    """The replies to a message, waited for if there are none yet."""
    found = await wait_for_replies(call, call.named("id"), call.query.wait)
    return shown(Replies(items=found.items, waiting=found.waiting))


async def wait_for_replies(call: Call[Any, Any], ident: str, wait_s: float) -> told.RepliesNow:
    """The replies once there is one, or none is waited for, or the time is over."""
    store = call.door.store
    return await until(call.door, lambda: store.read(told.replies, ident, call.by), told.RepliesNow.is_over, wait_s, call)


async def get_message(call: Call[Nothing, Nothing]) -> Answer:
    """A message, once for each copy."""
    return shown(Messages(items=await call.door.store.read(seeing.show, call.named("id"), call.by)))


async def get_inbox(call: Call[InboxQuery, Nothing]) -> Answer:
    """A mailbox."""
    asked = call.query
    found = await call.door.store.read(
        seeing.inbox, call.named("name"), call.by, unread=asked.unread, before=asked.cursor, limit=asked.limit
    )
    return page_shown(found)


def page_shown(page: Page) -> Answer:
    """A part of a list of messages."""
    return shown(Messages(items=page.items, cursor=str(page.cursor) if page.cursor is not None else None))


async def acknowledge(call: Call[Nothing, Acknowledge]) -> Answer:
    """A message of this mailbox was read and needs no more."""
    return await call.write(lambda _: shown(Done()), handling.acknowledge, call.named("name"), call.body.message_id)


async def get_threads(call: Call[Paging, Nothing]) -> Answer:
    """Threads, the latest first."""
    rows = await call.door.store.read(seeing.threads, call.by, before=call.query.cursor, limit=call.query.limit)
    items = [ThreadShown(thread_id=row.thread_id, messages=row.messages, last_at=row.last_at) for row in rows]
    return shown(Threads(items=items, cursor=str(rows[-1].last_seq) if len(rows) == call.query.limit else None))


async def get_thread(call: Call[Paging, Nothing]) -> Answer:
    """A thread's messages in order (M13)."""
    asked = call.query
    return page_shown(await call.door.store.read(seeing.thread, call.named("id"), call.by, after=asked.cursor or 0, limit=asked.limit))


async def search(call: Call[SearchQuery, Nothing]) -> Answer:
    """Messages with all these words (M13)."""
    return shown(Messages(items=await call.door.store.read(seeing.search, call.query.q, call.by, limit=call.query.limit)))


async def get_dead(call: Call[Paging, Nothing]) -> Answer:
    """Dead letters, newest first (M8)."""
    return page_shown(await call.door.store.read(reading.dead_letters, before=call.query.cursor, limit=call.query.limit))


async def requeue_dead(call: Call[Nothing, Nothing]) -> Answer:
    """Try a dead letter again."""
    return await call.write(_counted(call.named("id")), handling.requeue, call.named("id"))


async def drop_dead(call: Call[Nothing, Nothing]) -> Answer:
    """Drop a dead letter for good."""
    return await call.write(_counted(call.named("id")), handling.drop, call.named("id"))


def _counted(ident: str) -> Callable[[int], Answer]:
    return lambda copies: shown(Count(id=ident, copies=copies))


OPERATIONS = (
    post(
        "/api/v1/messages",
        send_message,
        "caller",
        "Send a message to one, several or all agents.",
        takes=Draft,
        gives=Receipt,
        status=201,
        verb=sending.send,
    ),
    post(
        "/api/v1/ask",
        ask,
        "caller",
        "Send a message that wants an answer, and wait for it.",
        takes=Draft,
        query=WaitQuery,
        gives=Answered,
        status=201,
        verb=sending.send,
    ),
    get(
        "/api/v1/messages/{id}", get_message, "caller", "A message, once for each copy, with its states.", gives=Messages, verb=seeing.show
    ),
    get(
        "/api/v1/messages/{id}/replies",
        get_replies,
        "caller",
        "The replies to a message, waited for.",
        query=WaitQuery,
        gives=Replies,
        verb=told.replies,
    ),
    get("/api/v1/agents/{name}/inbox", get_inbox, "self", "A mailbox, newest first.", query=InboxQuery, gives=Messages, verb=seeing.inbox),
    post(
        "/api/v1/agents/{name}/ack",
        acknowledge,
        "self",
        "Close a message that was read by hand.",
        takes=Acknowledge,
        gives=Done,
        verb=handling.acknowledge,
    ),
    get("/api/v1/threads", get_threads, "caller", "Threads, the latest first.", query=Paging, gives=Threads, verb=seeing.threads),
    get("/api/v1/threads/{id}", get_thread, "caller", "A thread's messages in order.", query=Paging, gives=Messages, verb=seeing.thread),
    get(
        "/api/v1/search",
        search,
        "caller",
        "Messages whose subject or body has all these words.",
        query=SearchQuery,
        gives=Messages,
        verb=seeing.search,
    ),
    get("/api/v1/dead", get_dead, "operator", "Dead letters, newest first.", query=Paging, gives=Messages, verb=reading.dead_letters),
    post("/api/v1/dead/{id}/requeue", requeue_dead, "operator", "Try a dead letter again.", gives=Count, verb=handling.requeue),
    post("/api/v1/dead/{id}/drop", drop_dead, "operator", "Drop a dead letter for good.", gives=Count, verb=handling.drop),
)
