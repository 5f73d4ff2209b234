"""Mail that waits for credit: from whom, to whom, until when; delivered at once or taken back, one by one or all that match (L6)."""

from __future__ import annotations

from covey.agents.model import THE_OPERATOR
from covey.base.settings import Settings
from covey.console.console import console_of
from covey.console.listing import operations_of
from covey.console.looking import picked
from covey.console.pages.copy_acts import CANCEL, RELEASE, bulk_of, buttons
from covey.console.pages.copy_lists import SAID, CopyQuery, is_wanted
from covey.console.pages.threads import address
from covey.console.rendering import Place
from covey.console.routes import Operations, page
from covey.console.shown import ago
from covey.console.tables import Column, Filter, Slice, Table, cursor_of, table_rows
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.messages import releasing
from covey.messages.model import Message
from covey.store import Transaction

PLACE = Place("/deferred", "Deferred")


def read_deferred(tx: Transaction, query: CopyQuery, _settings: Settings, limit: int) -> Slice[Message]:
    """The mail that a query asks for, in the order in which it was stored."""
    return picked(
        lambda after: releasing.deferred(tx, THE_OPERATOR, after=after or 0, limit=limit),
        lambda copy: is_wanted(query, copy),
        cursor_of(query),
        limit,
    )


DEFERRED: Table[CopyQuery, Message] = Table(
    name="deferred",
    path="/deferred",
    caption="Deferred mail",
    query=CopyQuery,
    read=read_deferred,
    filters=(Filter("q", "Words or id"), Filter("sender", "From"), Filter("receiver", "To")),
    columns=(
        *SAID,
        Column(name="deliverAt", title="To be delivered", value=lambda m: m.deliver_at, cell=lambda m: ago(m.deliver_at)),
        Column(name="sentAt", title="Sent", value=lambda m: m.timestamp, cell=lambda m: ago(m.timestamp), spare=True),
        Column(name="messageId", title="Act", value=lambda m: m.message_id, cell=lambda m: buttons("/deferred", m)),
    ),
    live="message. link. fleet.",
    empty="No mail waits for credit. When an agent has used up its quota to another, what it sends waits here for the next window.",
    open=lambda m: address(m.thread_id),
    acts=(("release", "Deliver these"), ("cancel", "Cancel these")),
)
BULKS = (bulk_of(DEFERRED, RELEASE, "Deliver {}"), bulk_of(DEFERRED, CANCEL, "Cancel {}"))


async def get_deferred(call: Call[CopyQuery, Nothing]) -> Answer:
    """The page."""
    rows = await table_rows(call, DEFERRED, call.query)
    return console_of(call).whole(call, "deferred.html", table=DEFERRED, query=call.query, rows=rows)


OPERATIONS: Operations = (
    page("/deferred", get_deferred, "Mail that waits for credit.", query=CopyQuery),
    *operations_of(DEFERRED),
    *(each for bulk in BULKS for each in bulk.operations),
)
