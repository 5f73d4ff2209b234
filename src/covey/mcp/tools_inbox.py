"""Tools about mail that came: look at it, read it whole, close it."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from covey.agents.model import Caller
from covey.base.errors import Invalid
from covey.mcp import task_views
from covey.mcp.letters import Letter, heads, letter
from covey.mcp.task_views import TaskView
from covey.mcp.tooling import Asking, Call, Given, Ident, Tool
from covey.messages import handling, reading, seeing
from covey.store import Transaction


class InboxAsked(Asking):
    """Which part of the mailbox."""

    unread: Annotated[bool, Meta(description="leave out what was handled already")] = True
    limit: Annotated[int, Meta(ge=1, le=50)] = 10
    cursor: Annotated[str, Meta(pattern=r"^[0-9]{1,19}$", description="the cursor of the part before")] | None = None


class Inbox(Given):
    """Mail, newest first, each with the beginning of its text; `unread` counts all that waits."""

    items: list[Letter]
    unread: int
    cursor: str | None = None


class ReadAsked(Asking):
    """One message, one thread, or one task."""

    message_id: Ident | None = None
    task_id: Annotated[Ident, Meta(description="instead of a message: a task as it stands, with its result")] | None = None
    thread_id: Annotated[Ident, Meta(description="instead of a message: its whole conversation, in order")] | None = None
    from_: Annotated[int, Meta(ge=0, le=2**53, description="where in a long text, or after which cursor of a thread, to begin")] = (
        msgspec.field(default=0, name="from")
    )


class Shown(Given):
    """One letter for each copy of the message, or the letters of the thread; then the replies to the message. Or the task."""

    items: list[Letter] = []
    task: TaskView | None = None
    replies: list[Letter] = []
    cursor: str | None = None


class AckAsked(Asking):
    """What is closed."""

    message_ids: Annotated[list[Ident], Meta(min_length=1, max_length=50)]


class Acked(Given):
    """The messages that are closed now."""

    closed: list[str]


async def inbox(call: Call[InboxAsked]) -> Inbox:
    """Your unread mail, newest first, each with its sender and the beginning of its text.

    Looking changes nothing. Read a long one whole with `read`, answer with `reply`, close what needs no answer with `acknowledge`.
    """
    return await call.door.store.read(_inbox, call.by, call.args)


def _inbox(tx: Transaction, by: Caller, asked: InboxAsked) -> Inbox:
    before = int(asked.cursor) if asked.cursor else None
    page = seeing.inbox(tx, by.name, by, unread=asked.unread, before=before, limit=asked.limit)
    cursor = str(page.cursor) if page.cursor is not None else None
    return Inbox(items=heads(page.items), unread=reading.unread_count(tx, by.name), cursor=cursor)


async def read(call: Call[ReadAsked]) -> Shown:
    """A message whole, with the replies to it, and what became of each copy if you sent it; or a thread in order; or a task.

    Reading changes nothing: the message still waits until you `reply` or `acknowledge`.
    """
    asked = call.args
    if sum(ident is not None for ident in (asked.message_id, asked.thread_id, asked.task_id)) != 1:
        raise Invalid("give one of messageId, threadId and taskId.", field="messageId")
    if asked.task_id is not None:
        return Shown(task=await call.door.store.read(task_views.show, asked.task_id))
    if asked.message_id is not None:
        return await call.door.store.read(_shown, asked.message_id, call.by, asked.from_)
    assert asked.thread_id is not None
    page = await call.door.store.read(seeing.thread, asked.thread_id, call.by, after=asked.from_, limit=50)
    return Shown(items=heads(page.items), cursor=str(page.cursor) if page.cursor is not None else None)


def _shown(tx: Transaction, ident: str, by: Caller, start: int) -> Shown:
    copies = seeing.show(tx, ident, by)
    return Shown(items=[letter(each, start=start) for each in copies[:20]], replies=heads(seeing.replies(tx, ident, by)[:20]))


async def acknowledge(call: Call[AckAsked]) -> Acked:
    """Close mail of yours that needs no answer, so that it is no longer unread."""
    return Acked(closed=await call.door.store.write(_close, call.by.name, call.args.message_ids))


def _close(tx: Transaction, name: str, idents: list[str]) -> list[str]:
    return [handling.acknowledge(tx, name, ident).message_id for ident in idents]


TOOLS: tuple[Tool[Any], ...] = (
    Tool(handler=inbox, takes=InboxAsked, gives=Inbox, title="Unread mail", profile="reader", effect="reads"),
    Tool(handler=read, takes=ReadAsked, gives=Shown, title="Read a message", profile="reader", effect="reads"),
    Tool(handler=acknowledge, takes=AckAsked, gives=Acked, title="Close mail", profile="worker", effect="adds", again=True),
)
