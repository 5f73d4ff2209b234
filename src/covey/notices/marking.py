"""How far each channel has told the operator: what is next, told, in vain. At least once: a mark moves only after the telling."""

from __future__ import annotations

from covey.agents.model import OPERATOR
from covey.notices.model import AT_ONCE, TRIES, Batch, Notice, pause_s
from covey.store import Transaction, events, statement
from covey.store.events import START, Bookmark, Event

TRIED = statement(__package__, "tried")
TOLD = statement(__package__, "told")
TRIES_OF = statement(__package__, "tries")
NOTICES = statement(__package__, "notices")

PAGE = 1000
SAID_BYTES = 300


def begin(tx: Transaction, channel: str) -> None:
    """A channel that was never used tells what comes from now on; so does one whose place in the story is no longer kept."""
    mark = events.bookmark(tx, _name(channel))
    if mark == START or not events.is_kept(tx, mark):
        events.set_bookmark(tx, _name(channel), events.last(tx))


def is_begun(tx: Transaction, channel: str) -> bool:
    """Whether the channel has a place in the story to read on from."""
    mark = events.bookmark(tx, _name(channel))
    return mark != START and events.is_kept(tx, mark)


def batch(tx: Transaction, channel: str, read_to: Bookmark = START) -> Batch | None:
    """What the channel is to tell now; None while it waits after a try in vain, or if nothing happened at all.

    `read_to`: up to here the caller has read already and found nothing.
    """
    row = tx.one(TRIES_OF, channel=channel)
    if row is not None and row.retry_at > tx.now:
        return None
    start = max(events.bookmark(tx, _name(channel)), read_to)
    page = events.after(tx, start, kinds=("message.sent",), limit=PAGE)
    if page.bookmark == start:
        return None
    found: list[Notice] = []
    for event in page.events:
        notice = _notice(tx, event)
        if notice is None:
            continue
        found.append(notice)
        if len(found) == AT_ONCE:
            return Batch(tuple(found), event.cursor, row.tries if row else 0, full=True)
    return Batch(tuple(found), page.bookmark, row.tries if row else 0, page.full)


def _notice(tx: Transaction, event: Event) -> Notice | None:
    """The alert that the operator was sent by this event, if it was one."""
    loud = event.data.get("type") == "alert" or event.data.get("priority") == "urgent"
    if not loud or OPERATOR not in (event.data.get("to") or ()):
        return None
    row = tx.one(NOTICES, id=event.subject)
    return Notice(*row) if row is not None else None


def told(tx: Transaction, channel: str, done: Batch) -> None:
    """All of it was told, or there was nothing to tell."""
    events.set_bookmark(tx, _name(channel), done.bookmark)
    tx.run(TOLD, channel=channel)
    if done.notices:
        tx.happened("notice.told", subject=channel, notices=len(done.notices))


def in_vain(tx: Transaction, channel: str, done: Batch, said: str) -> bool:
    """It could not be told: tried again later, or given up after so many tries; whether it is given up. `said` holds no address."""
    tries = done.tries + 1
    if tries >= TRIES:
        events.set_bookmark(tx, _name(channel), done.bookmark)
        tx.run(TOLD, channel=channel)
        tx.happened("notice.given_up", subject=channel, notices=len(done.notices), tries=tries, why=said[:SAID_BYTES])
        return True
    tx.run(TRIED, channel=channel, tries=tries, retry_at=tx.now + pause_s(tries), said=said[:SAID_BYTES])
    if tries == 1:
        tx.happened("notice.failed", subject=channel, notices=len(done.notices), why=said[:SAID_BYTES])
    return False


def _name(channel: str) -> str:
    return f"notices {channel}"
