"""The search index over subject and body, filled from the events; at most 2 s behind (M13)."""

from __future__ import annotations

from covey.store import Transaction, events, relaxed, statement

TEXT = statement(__package__, "text")
INDEX = statement(__package__, "index")
BOOKMARK = "message_words"


@relaxed
def index_new(tx: Transaction, limit: int = 200) -> int:
    """How many messages were put into the index; call again while it is `limit`."""
    page = events.after(tx, events.bookmark(tx, BOOKMARK), kinds=("message.sent",), limit=limit)
    for event in page.events:
        row = tx.one(TEXT, id=event.subject)
        if row is not None:
            tx.run(INDEX, seq=row.seq, subject=row.subject, body=row.body)
    if page.bookmark != page.start:
        events.set_bookmark(tx, BOOKMARK, page.bookmark)
    return len(page.events)
