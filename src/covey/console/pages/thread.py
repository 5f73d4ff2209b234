"""One conversation: its messages with the time of each state of each copy, and why one stands where it stands."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from markupsafe import Markup

from covey.base.errors import Invalid
from covey.console import pieces
from covey.console.asking import tell
from covey.console.console import console_of
from covey.console.rendering import render
from covey.console.routes import Operations, page, shared
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.messages import pausing, reading
from covey.messages.model import Message
from covey.reports import why
from covey.store import Transaction

SHOWN = 100


class Back(msgspec.Struct, forbid_unknown_fields=True):
    """From which copy on to look further back."""

    before: str = ""


class Said(NamedTuple):
    """A message with all its copies that are in sight."""

    message: Message
    copies: list[Message]
    data: str


class Conversation(NamedTuple):
    """A thread as it is shown: what was said, oldest first, the cursor further back, why it is paused if it is."""

    ident: str
    said: list[Said]
    before: int | None
    paused: str | None


def read_thread(tx: Transaction, ident: str, before: int) -> Conversation:
    """The last messages of a thread, or those before a copy.

    Raises:
        NotFound: There is no such thread.
    """
    found = reading.thread_end(tx, ident, before=before, limit=SHOWN)
    copies: dict[str, list[Message]] = {}
    for each in reversed(found.items):
        copies.setdefault(each.message_id, []).append(each)
    said = [Said(each[0], each, _data(each[0])) for each in copies.values()]
    return Conversation(ident, said, found.cursor, pausing.reason_of(tx, ident))


def _data(message: Message) -> str:
    data = message.content["data"]
    return msgspec.json.format(msgspec.json.encode(data)).decode() if data else ""


async def messages_part(call: Call[Back, Any]) -> Markup:
    """What was said, read and rendered."""
    before = call.query.before
    if before and not (before.isascii() and before.isdecimal() and len(before) < 19):
        raise Invalid(f"before is {before[:60]!r}; take it from the page after.", field="before")
    found = await call.door.store.read(read_thread, call.named("id"), int(before or 0))
    return render("threads/messages.html", found=found, agent=pieces.agent, query=call.query)


async def get_thread(call: Call[Back, Nothing]) -> Answer:
    """The page."""
    return console_of(call).whole(call, "threads/thread.html", ident=call.named("id"), query=call.query, messages=await messages_part(call))


async def get_messages(call: Call[Back, Nothing]) -> Answer:
    """The messages alone."""
    return await shared(call, lambda: messages_part(call))


async def get_why(call: Call[Nothing, Nothing]) -> Answer:
    """Why a message stands where it stands, as a dialog."""
    settings = call.door.settings
    found = await call.door.store.read(why.why, call.named("id"), stale_s=settings.stale_s, digest_s=settings.digest_s)
    return tell(call, f"Why: {found.id}", found.sentence)


OPERATIONS: Operations = (
    page("/threads/{id}", get_thread, "One thread.", query=Back),
    page("/threads/{id}/messages", get_messages, "Its messages alone.", query=Back),
    page("/messages/{id}/why", get_why, "Why a message stands where it stands."),
)
