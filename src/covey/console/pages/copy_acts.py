"""What a person does with one copy of a message: release or cancel what waits for credit, requeue or drop what was given up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from covey.agents.model import Caller
from covey.console import pieces
from covey.console.asking import confirm, tell
from covey.console.bulk import Bulk
from covey.console.routes import Form, Operations, act, done, page
from covey.console.shown import plain
from covey.console.tables import Q, Table
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.messages import handling, reading, releasing
from covey.messages.model import Message
from covey.store import Transaction


class Deed(NamedTuple):
    """Something that can be done with a copy. `verb` does it to the copy of a message that a receiver has."""

    place: str
    state: str
    """It is done to copies in this state alone."""
    name: str
    title: str
    explain: str
    past: str
    verb: Callable[[Transaction, str, str, Caller], Any]
    grave: bool = False


RELEASE = Deed(
    "/deferred",
    "deferred",
    "release",
    "Deliver",
    "It goes to its receiver at once, outside the quota: no credit is taken for it.",
    "delivered at once",
    lambda tx, ident, receiver, by: releasing.release(tx, ident, by, receiver),
)
CANCEL = Deed(
    "/deferred",
    "deferred",
    "cancel",
    "Cancel",
    "It is taken back and never delivered. No credit was spent for it; a sender that waits for an answer is told.",
    "taken back",
    lambda tx, ident, receiver, by: releasing.cancel(tx, ident, by, receiver),
    grave=True,
)
REQUEUE = Deed(
    "/dead-letters",
    "dead",
    "requeue",
    "Try again",
    "It waits in its receiver's mailbox again, with five new attempts. What made it fail may do so again.",
    "in the mailbox again",
    lambda tx, ident, receiver, _by: handling.requeue(tx, ident, receiver),
)
DROP = Deed(
    "/dead-letters",
    "dead",
    "drop",
    "Drop",
    "It is closed for good without having been handled. Its text stays in its thread.",
    "dropped",
    lambda tx, ident, receiver, _by: handling.drop(tx, ident, receiver),
    grave=True,
)
DEEDS = (RELEASE, CANCEL, REQUEUE, DROP)


def address(place: str, copy: Message, name: str) -> str:
    """Where something is asked and done about a copy. Pure."""
    return f"{place}/{quote(copy.message_id, safe='')}/{quote(copy.receiver or '', safe='')}/{name}"


def buttons(place: str, copy: Message) -> Markup:
    """What can be done about a copy, and why it stands where it stands. Pure."""
    found = [pieces.ask(address(deed.place, copy, deed.name), deed.title) for deed in DEEDS if deed.place == place]
    why = pieces.ask(f"/messages/{quote(copy.message_id, safe='')}/why", "Why")
    return Markup('<span class="deeds">{}</span>').format(Markup(" ").join([*found, why]))


def bulk_of(table: Table[Q, Message], deed: Deed, title: str) -> Bulk[Q, Message]:
    """A deed on all rows of a table that match."""
    return Bulk(
        table=table,
        name=deed.name,
        title=title,
        noun="message",
        explain=deed.explain.replace("It ", "Each ").replace("its receiver", "its own receiver"),
        past=deed.past,
        verb=lambda tx, copy, by: deed.verb(tx, copy.message_id, copy.receiver or "", by),
        grave=deed.grave,
    )


def _operations(deed: Deed) -> Operations:
    async def ask(call: Call[Nothing, Nothing]) -> Answer:
        copy = await call.door.store.read(reading.copy, call.named("id"), call.named("receiver"))
        if copy.state != deed.state:
            return tell(call, "Nothing to do", f"The message to {copy.receiver} is {copy.state} by now, not {deed.state} any more.")
        words = plain(copy.content["subject"] or copy.body, 200)
        return confirm(
            call,
            title=f"{deed.title}?",
            lines=[f"“{words}” from {copy.from_} to {copy.receiver}.", deed.explain],
            action=address(deed.place, copy, deed.name),
            go=deed.title,
            grave=deed.grave,
        )

    async def do(call: Call[Nothing, Form]) -> Answer:
        ident, receiver = call.named("id"), call.named("receiver")
        await call.door.store.write(deed.verb, ident, receiver, call.by)
        return done(call, f"The message to {receiver} is {deed.past}.")

    path = f"{deed.place}/{{id}}/{{receiver}}/{deed.name}"
    return (page(path, ask, f"Ask before: {deed.title.lower()}."), act(path, do, f"{deed.title}.", takes=Form))


OPERATIONS: Operations = tuple(each for deed in DEEDS for each in _operations(deed))
