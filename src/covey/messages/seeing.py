"""What a caller may see of the fleet's mail: the operator all of it, an agent what it sent or got itself. One rule for every door.

Read only. Roster and tasks are everybody's to see; mail is not.
"""

from __future__ import annotations

from covey.agents.model import Caller
from covey.base.errors import Forbidden, NotFound
from covey.messages import reading
from covey.messages.indexing import wanted
from covey.messages.model import Message
from covey.messages.reading import Page
from covey.store import Transaction, statement
from covey.store.events import Event

THREAD_OF = statement(__package__, "thread_of")
SEARCH_OF = statement(__package__, "search_of")


def all_is_seen_by(by: Caller) -> bool:
    """Whether the caller may see everybody's mail. Pure."""
    return by.commands


def inbox(tx: Transaction, agent: str, by: Caller, *, unread: bool = False, before: int | None = None, limit: int = 50) -> Page:
    """As `reading.inbox`, of the caller's own mailbox; the operator may look into each.

    Raises:
        Forbidden: It is another's.
    """
    if not all_is_seen_by(by) and by.name != agent:
        raise Forbidden(f"this is {agent}'s mailbox, and the token is {by.name}'s; an agent may read its own mailbox only.")
    return _seen(reading.inbox(tx, agent, unread=unread, before=before, limit=limit), by)


def show(tx: Transaction, ident: str, by: Caller) -> list[Message]:
    """As `reading.show`: all copies for the sender and the operator, its own copy for a receiver.

    Raises:
        NotFound: There is no such message.
        Forbidden: The caller neither sent nor got it.
    """
    mine = [message for message in reading.show(tx, ident) if concerns(message, by)]
    if not mine:
        raise not_yours(f"the message {ident}", by)
    return mine


def _seen(page: Page, by: Caller) -> Page:
    """The part of a list without what the caller may not see yet."""
    return page._replace(items=[message for message in page.items if concerns(message, by)])


def concerns(message: Message, by: Caller) -> bool:
    """Whether the caller may see this copy; its receiver not before it is delivered (L6). Pure."""
    return all_is_seen_by(by) or by.name == message.from_ or (by.name == message.receiver and message.state != "deferred")


def not_yours(what: str, by: Caller) -> Forbidden:
    """The error for mail between others."""
    return Forbidden(f"{what} is between others, and the token is {by.name}'s; an agent sees only what it sent or got.")


def replies(tx: Transaction, ident: str, by: Caller) -> list[Message]:
    """The replies to a message that the caller may see, in order."""
    show(tx, ident, by)
    return [message for message in reading.answers(tx, ident) if concerns(message, by)]


def thread(tx: Transaction, ident: str, by: Caller, *, after: int = 0, limit: int = 200) -> Page:
    """As `reading.thread`, of what the caller sent or got.

    Raises:
        NotFound: There is no such thread.
        Forbidden: The caller has no part in it.
    """
    if all_is_seen_by(by):
        return reading.thread(tx, ident, after=after, limit=limit)
    rows = tx.all(THREAD_OF, thread_id=ident, name=by.name, limit=limit + 1, **reading.place_after(tx, after))
    if not rows and not after:
        reading.thread(tx, ident, limit=1)
        raise not_yours(f"the thread {ident}", by)
    return _seen(reading.page(tx, rows, limit), by)


def threads(tx: Transaction, by: Caller, *, before: int | None = None, limit: int = 50) -> list[reading.Thread]:
    """As `reading.threads`, of those the caller has a part in."""
    if all_is_seen_by(by):
        return reading.threads(tx, before=before, limit=limit)
    return reading.threads(tx, before=before, limit=limit, part=by.name)


def search(tx: Transaction, text: str, by: Caller, *, limit: int = 50) -> list[Message]:
    """As `reading.search`, in what the caller sent or got."""
    if all_is_seen_by(by):
        return reading.search(tx, text, limit=limit)
    words = wanted(text)
    return _seen(reading.page(tx, tx.all(SEARCH_OF, name=by.name, **words, limit=limit), limit), by).items if words else []


def check_subject(tx: Transaction, ident: str, by: Caller) -> None:
    """Refuse an id that names a message between others.

    Raises:
        Forbidden: It does.
    """
    try:
        show(tx, ident, by)
    except NotFound:
        return


def event(found: Event, by: Caller) -> bool:
    """Whether the caller may see this event: those of messages only if it is its sender or a receiver. Pure."""
    if all_is_seen_by(by) or not found.kind.startswith("message."):
        return True
    return found.agent == by.name or by.name in found.data.get("to", ())
