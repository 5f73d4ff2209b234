"""Mail that was given up: why, after how many attempts; tried again or dropped, one by one or all that match (M8)."""

from __future__ import annotations

from covey.base.settings import Settings
from covey.console.console import console_of
from covey.console.listing import operations_of
from covey.console.looking import picked
from covey.console.pages.copy_acts import DROP, REQUEUE, bulk_of, buttons
from covey.console.pages.copy_lists import SAID, CopyQuery, is_wanted
from covey.console.pages.threads import address
from covey.console.rendering import Place
from covey.console.routes import Operations, page
from covey.console.shown import ago
from covey.console.tables import Column, Filter, Slice, Table, cursor_of, table_rows
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.messages import reading
from covey.messages.model import Message
from covey.store import Transaction

PLACE = Place("/dead-letters", "Dead letters")


def read_dead(tx: Transaction, query: CopyQuery, _settings: Settings, limit: int) -> Slice[Message]:
    """The dead letters that a query asks for, newest first."""
    return picked(
        lambda before: reading.dead_letters(tx, before=before, limit=limit),
        lambda copy: is_wanted(query, copy, copy.reason or ""),
        cursor_of(query) or None,
        limit,
    )


DEAD: Table[CopyQuery, Message] = Table(
    name="dead-letters",
    path="/dead-letters",
    caption="Dead letters",
    query=CopyQuery,
    read=read_dead,
    filters=(Filter("q", "Words, id or reason"), Filter("sender", "From"), Filter("receiver", "To")),
    columns=(
        *SAID,
        Column(name="reason", title="Reason", value=lambda m: m.reason, words=True),
        Column(name="attempts", title="Attempts", value=lambda m: m.attempts, number=True, spare=True),
        Column(name="givenUpAt", title="Given up", value=lambda m: m.ended_at, cell=lambda m: ago(m.ended_at), spare=True),
        Column(name="messageId", title="Act", value=lambda m: m.message_id, cell=lambda m: buttons("/dead-letters", m)),
    ),
    live="message.",
    empty="No mail was given up. A message that its receiver's brain fails on five times comes here, to be tried again or dropped.",
    open=lambda m: address(m.thread_id),
    acts=(("requeue", "Try these again"), ("drop", "Drop these")),
)
BULKS = (bulk_of(DEAD, REQUEUE, "Try {} again"), bulk_of(DEAD, DROP, "Drop {}"))


async def get_dead(call: Call[CopyQuery, Nothing]) -> Answer:
    """The page."""
    rows = await table_rows(call, DEAD, call.query)
    return console_of(call).whole(call, "dead_letters.html", table=DEAD, query=call.query, rows=rows)


OPERATIONS: Operations = (
    page("/dead-letters", get_dead, "Mail that was given up.", query=CopyQuery),
    *operations_of(DEAD),
    *(each for bulk in BULKS for each in bulk.operations),
)
