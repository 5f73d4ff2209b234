"""Deferred mail, released: by the sweep at its time, by hand, or taken back; and everybody told who has to hear of it (L6)."""

from __future__ import annotations

from collections import Counter

from covey.agents import roster
from covey.agents.model import Caller
from covey.base.errors import Forbidden, NotFound
from covey.links import directions
from covey.messages import deferring
from covey.messages.model import Message
from covey.messages.reading import Page
from covey.messages.sending import notify
from covey.store import Row, Transaction, statement

DUE = statement(__package__, "deferred_due")
OF = statement(__package__, "deferred_of")
DIRECTIONS = statement(__package__, "deferred_directions")
DEFERRED = statement(__package__, "deferred")

NOBODY = "\x01"
"""No agent and no owner is called so."""
LOOK_AGAIN_S = 60.0
"""Mail over a link that is disabled is looked at again so much later; enabling it releases it at once."""


def deliver_due(tx: Transaction, limit: int = 100) -> int:
    """How much mail whose time has come was delivered, closed or put off; whichever process calls it (L6, H8a)."""
    found = Counter((row.sender, row.receiver) for row in tx.all(DUE, now=tx.now, limit=limit))
    directions.lock(tx, *{sender for sender, _ in found})
    return sum(_due(tx, sender, receiver, count) for (sender, receiver), count in found.items())


def expire_due(tx: Transaction, limit: int = 100) -> int:
    """How much mail waited for credit until its expiresAt passed, closed (M9)."""
    return _tell(tx, deferring.expire_due(tx, limit), "its expiresAt passed before there was credit for it")


def settle(tx: Transaction, sender: str, receiver: str) -> int:
    """After a change to a link: how much of what waits in this direction was delivered, or closed if no mail may go there any more (L7)."""
    directions.lock(tx, sender)
    return _due(tx, sender, receiver, None)


def settle_all(tx: Transaction) -> int:
    """As `settle`, for whatever waits: after the configuration lifted the limits, or a flag."""
    return sum(settle(tx, row.sender, row.receiver) for row in tx.all(DIRECTIONS))


def _due(tx: Transaction, sender: str, receiver: str, count: int | None) -> int:
    way = directions.find(tx, sender, receiver)
    if way is None:
        return 0
    refusal = way.refusal
    if refusal is None:
        sent, bucket = deferring.deliver(tx, way, count) if count is not None else deferring.deliver(tx, way)
        if way.is_limited and bucket.reset_at is not None and (count is None or not sent):
            deferring.postpone(tx, way, bucket.reset_at)
        return sent or (count or 0)
    if refusal.status == "disabled":
        deferring.postpone(tx, way, tx.now + LOOK_AGAIN_S)
        return count or 0
    return _tell(tx, deferring.end_all(tx, sender, receiver, refusal.sentence), refusal.sentence)


def _tell(tx: Transaction, closed: list[Row], why: str) -> int:
    """Tell each sender of what was closed undelivered; who waited for an answer is woken."""
    for row in closed:
        text = f"{row.message_id} to {row.receiver}, which waited for credit, was closed undelivered: {why}"
        waits = row.answer_due is not None
        notify(tx, row.sender, f"Not delivered: {row.subject or row.body[:80]}", text, in_reply_to=row.message_id, prompts=waits)
    return len(closed)


def cancel(tx: Transaction, ident: str, by: Caller, receiver: str = "") -> int:
    """How many deferred copies of a message, one receiver's or all, were taken back; no credit was spent for them.

    Raises:
        NotFound: No deferred message has this id.
        Forbidden: It is another's.
    """
    rows = _deferred(tx, ident, receiver)
    if by.kind == "agent" and by.name != rows[0].sender:
        raise Forbidden(
            f"{ident} is {rows[0].sender}'s message, and the token is {by.name}'s; only its sender or the operator takes it back."
        )
    if by.owner is not None and not _owns(tx, by.owner, rows[0].sender):
        raise Forbidden(f"{ident} is the message of an agent that is not {by.owner}'s.")
    closed = [row for row in rows if deferring.end(tx, row, f"cancelled by {by.name}", "message.cancelled", by=by.name)]
    if by.name != rows[0].sender:
        _tell(tx, [row for row in closed if row.answer_due is not None], f"it was cancelled by {by.name}")
    return len(closed)


def release(tx: Transaction, ident: str, by: Caller, receiver: str = "") -> int:
    """How many deferred copies of a message, one receiver's or all, were delivered at once, by the operator and outside the quota.

    Raises:
        NotFound: No deferred message has this id.
        Forbidden: The caller is not the operator.
    """
    if not by.commands:
        raise Forbidden(f"only the operator releases deferred mail, and the token is {by.name}'s.")
    return sum(deferring.put(tx, row, row.sender, row.receiver, releasedBy=by.name) for row in _deferred(tx, ident, receiver))


def _deferred(tx: Transaction, ident: str, receiver: str) -> list[Row]:
    """The deferred copies of a message, one receiver's or all, under its sender's lock."""
    rows = tx.all(OF, id=ident)
    if rows:
        directions.lock(tx, rows[0].sender)
        rows = [row for row in tx.all(OF, id=ident) if receiver in ("", row.receiver)]
    if not rows:
        to = f" to {receiver[:60]}" if receiver else ""
        raise NotFound(f"no deferred message{to} has the id {ident!r}; `covey deferred list` lists them.", field="id")
    return rows


def _owns(tx: Transaction, owner: str, agent: str) -> bool:
    found = roster.seek(tx, agent)
    return found is not None and found.owner == owner


def deferred(tx: Transaction, by: Caller, *, after: int = 0, limit: int = 50) -> Page:
    """The deferred mail that the caller may see, in the order in which it was stored: an agent its own, an owner its agents'."""
    agent, owner = (by.name if by.kind == "agent" else NOBODY), by.owner or NOBODY
    rows = tx.all(DEFERRED, all=int(by.commands), agent=agent, owner=owner, after=after, limit=limit + 1)
    items = [Message.from_row(row) for row in rows[:limit]]
    return Page(items, rows[limit - 1].copy_seq if len(rows) > limit else None)
