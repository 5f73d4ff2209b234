"""Messages as they are carried from one store to another (S4): their shape, and reading them out page by page with all their copies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from covey.messages.model import CopyState
from covey.store import Row, Transaction, statement

PAGE = statement(__package__, "page")
PAGE_COPIES = statement(__package__, "page_copies")

OPEN: frozenset[str] = frozenset({"delivered", "seen", "held", "deferred"})


class CarriedCopy(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """One receiver's copy, as it stands. An open one whose `wakes` is not said wakes if the rules of M4b say so."""

    receiver: str
    state: CopyState = "delivered"
    wakes: bool | None = None
    attempts: int = 0
    reason: str | None = None
    not_before: float | None = None
    delivered_at: float | None = None
    seen_at: float | None = None
    handled_at: float | None = None
    ended_at: float | None = None
    answer_due: float | None = None
    answered_at: float | None = None
    answered_by: str | None = None
    link_id: str | None = None
    gave_up_at: float | None = None


class CarriedContent(msgspec.Struct, rename="camel", kw_only=True):
    """What is said."""

    body: str
    subject: str = ""
    data: dict[str, Any] = {}
    requires_response: bool = False
    deadline: float | None = None


class CarriedContext(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """What it belongs to."""

    thread_id: str | None = None
    project_id: str | None = None
    related_tasks: list[str] = []
    is_peer_dm: bool | None = None


class CarriedMessage(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """A message with all its copies, as one line of an export has it. Fields that are not named here are passed over."""

    message_id: str
    from_: str = msgspec.field(name="from")
    to: str | list[str]
    content: CarriedContent
    type: str | None = None
    priority: str | int = "medium"
    timestamp: float | None = None
    context: CarriedContext = msgspec.field(default_factory=CarriedContext)
    in_reply_to: str | None = None
    reply_note: str | None = None
    visited: list[str] = []
    expires_at: float | None = None
    traceparent: str | None = None
    sent_at: float | None = None
    digest: str | None = None
    """What its sender's draft came to, so that a known id is told from a taken one (T3)."""
    copies: list[CarriedCopy] = []
    """None: it says nothing of how it stands, so it waits for those it is addressed to, and wakes them only if an answer is due."""


class Page(NamedTuple):
    """Some messages, and where to read on; the last page is empty."""

    items: list[CarriedMessage]
    cursor: int


class Put(NamedTuple):
    """What became of a thing that was put in."""

    taken: bool
    """False: it was there already, and nothing changed."""
    notes: Sequence[str] = ()
    """What could not be kept of it, in sentences."""


def page(tx: Transaction, after: int = 0, limit: int = 100) -> Page:
    """Messages with their copies, in the order in which they were stored."""
    rows = tx.all(PAGE, after=after, limit=limit)
    if not rows:
        return Page([], after)
    last: int = rows[-1].seq
    copies: defaultdict[str, list[CarriedCopy]] = defaultdict(list)
    for row in tx.all(PAGE_COPIES, after=after, last=last):
        copies[row.message_id].append(_carried_copy(row))
    return Page([_carried(row, copies[row.id]) for row in rows], last)


def _carried_copy(row: Row) -> CarriedCopy:
    return CarriedCopy(
        receiver=row.receiver,
        state=row.state,
        wakes=bool(row.wakes),
        attempts=row.attempts,
        reason=row.reason,
        not_before=row.not_before,
        delivered_at=row.delivered_at,
        seen_at=row.seen_at,
        handled_at=row.handled_at,
        ended_at=row.ended_at,
        answer_due=row.answer_due,
        answered_at=row.answered_at,
        answered_by=row.answered_by,
        link_id=row.link_id,
        gave_up_at=row.gave_up_at,
    )


def _carried(row: Row, copies: list[CarriedCopy]) -> CarriedMessage:
    return CarriedMessage(
        message_id=row.id,
        from_=row.sender,
        to=msgspec.json.decode(row.addressed),
        content=CarriedContent(
            body=row.body,
            subject=row.subject,
            data=msgspec.json.decode(row.data),
            requires_response=bool(row.requires_response),
            deadline=row.deadline,
        ),
        type=row.type,
        priority=row.priority,
        timestamp=row.created_at,
        context=CarriedContext(
            thread_id=row.thread_id,
            project_id=row.project_id,
            related_tasks=msgspec.json.decode(row.related_tasks),
            is_peer_dm=bool(row.is_peer_dm),
        ),
        in_reply_to=row.in_reply_to,
        reply_note=row.reply_note,
        visited=msgspec.json.decode(row.visited),
        expires_at=row.expires_at,
        traceparent=row.traceparent,
        sent_at=row.sent_at,
        digest=row.digest,
        copies=copies,
    )
