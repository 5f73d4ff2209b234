"""Mail that waits for credit: delivered oldest first from the new window's, or closed (L6). It tells nobody; `releasing` does."""

from __future__ import annotations

from typing import Any

from covey.base.rings import mail_of
from covey.links import directions, quota
from covey.links.model import MOST_MESSAGES, Direction
from covey.links.quota import Bucket
from covey.store import Row, Transaction, statement

WAITING = statement(__package__, "waiting_copies")
DELIVER = statement(__package__, "deliver")
POSTPONE = statement(__package__, "postpone")
BETWEEN = statement(__package__, "deferred_between")
EXPIRED = statement(__package__, "deferred_expired")
END = statement(__package__, "end_deferred")


def deliver(tx: Transaction, way: Direction, limit: int = MOST_MESSAGES) -> tuple[int, Bucket]:
    """How much waiting mail of a direction was delivered, oldest first, and what is left; what does not fit waits for the next window.

    The sender's lock must be held, and mail may go this way.
    """
    bucket = quota.effective(way.bucket, way.link.limits, tx.now)
    room = min(bucket.credits, limit) if way.is_limited else limit
    rows = tx.all(WAITING, sender=way.sender.id, receiver=way.receiver.id, now=tx.now, limit=room) if room else []
    for row in rows:
        put(tx, row, way.sender.id, way.receiver.id)
        if way.is_limited:
            bucket = quota.spend(bucket, way.link.limits, tx.now) or bucket
    if rows and way.is_limited:
        directions.set_bucket(tx, way.link.id, way.sender.id, bucket)
    if way.is_limited and bucket.credits == 0 and bucket.reset_at is not None:
        postpone(tx, way, bucket.reset_at)
    return len(rows), bucket


def postpone(tx: Transaction, way: Direction, at: float) -> None:
    """What waits in a direction waits until then."""
    tx.run(POSTPONE, sender=way.sender.id, receiver=way.receiver.id, at=at)


def put(tx: Transaction, row: Row, sender: str, receiver: str, **more: Any) -> bool:
    """Whether a deferred copy was put into its receiver's mailbox just now."""
    if tx.run(DELIVER, seq=row.seq, now=tx.now) == 0:
        return False
    tx.happened("message.delivered", agent=sender, subject=row.message_id, to={receiver: "delivered"}, **more)
    tx.ring(mail_of(receiver))
    return True


def end(tx: Transaction, row: Row, reason: str, kind: str, **more: Any) -> bool:
    """Whether a deferred copy was closed undelivered just now."""
    if tx.run(END, seq=row.seq, reason=reason, now=tx.now) == 0:
        return False
    tx.happened(kind, agent=row.sender, subject=row.message_id, to={row.receiver: "expired"}, why=reason, **more)
    return True


def end_all(tx: Transaction, sender: str, receiver: str, reason: str) -> list[Row]:
    """What waited in a direction that carries no mail any more, closed."""
    return [row for row in tx.all(BETWEEN, sender=sender, receiver=receiver) if end(tx, row, reason, "message.expired")]


def waiting(tx: Transaction, sender: str, receiver: str) -> int:
    """How much mail of a direction waits."""
    return len(tx.all(BETWEEN, sender=sender, receiver=receiver))


def expire_due(tx: Transaction, limit: int = 100) -> list[Row]:
    """What waited for credit until its expiresAt passed, closed (M9)."""
    return [row for row in tx.all(EXPIRED, now=tx.now, limit=limit) if end(tx, row, "not delivered before expiresAt", "message.expired")]
