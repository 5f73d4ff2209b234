"""How far each webhook has told the story, and how it fares. At least once: a place moves only after the telling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from covey.agents.model import OPERATOR
from covey.messages import sending
from covey.store import Transaction, events, statement
from covey.store.events import START, Bookmark, Event
from covey.webhooks.model import OWN, TRIES, Health, Verdict, pause_s

FIND = statement(__package__, "find")
PUT = statement(__package__, "put")

PAGE = 200


class Batch(NamedTuple):
    """What is to be told next, and up to where the story was read for it."""

    events: list[Event]
    bookmark: Bookmark
    full: bool


def health(tx: Transaction, name: str) -> Health:
    """How a webhook fares; one that is new is well."""
    row = tx.one(FIND, name=name)
    return Health(*row) if row is not None else Health(name)


def begin(tx: Transaction, name: str) -> None:
    """A webhook tells what comes from now on, if it is new or its place in the story is no longer kept."""
    mark = events.bookmark(tx, _place(name))
    if mark != START and events.is_kept(tx, mark):
        return
    if mark != START:
        tx.happened("webhook.missed", subject=name)
        _alert(tx, name, "missed events", "events that it should have told are no longer kept; it goes on from now")
    events.set_bookmark(tx, _place(name), events.last(tx))


def is_begun(tx: Transaction, name: str) -> bool:
    """Whether it has a place in the story to read on from."""
    mark = events.bookmark(tx, _place(name))
    return mark != START and events.is_kept(tx, mark)


def batch(tx: Transaction, name: str, kinds: Sequence[str], read_to: Bookmark = START) -> Batch | None:
    """What it is to tell now; None while it waits for its next try, or if nothing happened at all.

    `read_to`: up to here the caller has read already and found nothing.
    """
    retry_at = health(tx, name).retry_at
    if retry_at is not None and retry_at > tx.now:
        return None
    start = max(events.bookmark(tx, _place(name)), read_to)
    page = events.after(tx, start, kinds=kinds, limit=PAGE)
    if page.bookmark == start:
        return None
    return Batch([event for event in page.events if not event.kind.startswith(OWN)], page.bookmark, page.full)


def told(tx: Transaction, name: str, to: Bookmark, count: int) -> None:
    """So many events were taken, up to this place."""
    events.set_bookmark(tx, _place(name), to)
    now = health(tx, name)
    if now.down_since is not None:
        tx.happened("webhook.back", subject=name)
    if count or now.tries:
        sent_at = tx.now if count else now.sent_at
        _put(tx, now._replace(tries=0, retry_at=None, down_since=None, said="", sent=now.sent + count, sent_at=sent_at))


def in_vain(tx: Transaction, name: str, event: Event, verdict: Verdict) -> None:
    """This event was not taken: it is tried again; in the end it is given up, or its receiver is down."""
    now = health(tx, name)
    tries = now.tries + 1
    if tries == 1:
        tx.happened("webhook.failed", subject=name, why=verdict.said)
    if tries >= TRIES and verdict.refused:
        _give_up(tx, now, event, verdict)
        return
    down_since = now.down_since
    if tries >= TRIES and down_since is None:
        down_since = tx.now
        tx.happened("webhook.down", subject=name, why=verdict.said)
        said = f"after {tries} tries {verdict.said}. Nothing is lost as long as events are kept: it is tried each hour"
        _alert(tx, name, "down", f"{said}; `covey webhook retry {name}` does so at once")
    retry_at = tx.now + max(pause_s(tries), verdict.after_s)
    _put(tx, now._replace(tries=tries, retry_at=retry_at, down_since=down_since, said=verdict.said))


def _give_up(tx: Transaction, now: Health, event: Event, verdict: Verdict) -> None:
    """The receiver won't take this event; those after it are not held up for it."""
    events.set_bookmark(tx, _place(now.name), event.cursor)
    tx.happened("webhook.given_up", subject=now.name, event=str(event.cursor), kind_of_event=event.kind, why=verdict.said)
    _alert(tx, now.name, "won't take an event", f"of the event {event.cursor} ({event.kind}) {verdict.said}, {TRIES} times. It is given up")
    _put(tx, now._replace(tries=0, retry_at=None, said=verdict.said, given_up=now.given_up + 1))


def retry(tx: Transaction, name: str) -> Health:
    """How it fares, once its next try is due at once."""
    now = health(tx, name)._replace(retry_at=None)
    _put(tx, now)
    return now


def _put(tx: Transaction, health: Health) -> None:
    tx.run(PUT, **health._asdict())


def _alert(tx: Transaction, name: str, what: str, why: str) -> None:
    sending.notify(tx, OPERATOR, f"Webhook {name}: {what}", f"Of the webhook {name}: {why}.", type="alert", priority="high")


def _place(name: str) -> str:
    return f"webhook {name}"
