"""A copy's life in its receiver's hands: claimed under a lease, handled, tried again, dead. Fetching is not acknowledging (M4a)."""

from __future__ import annotations

from typing import NamedTuple

from covey.agents import breaking, living, roster
from covey.base.errors import Conflict, LeaseLost, NotFound
from covey.base.rings import mail_of
from covey.base.wire import fit
from covey.messages.model import MAX_ATTEMPTS, Message, backoff_s
from covey.store import Row, Transaction, relaxed, statement

NEXT = statement(__package__, "next")
NEXT_ASKED = statement(__package__, "next_asked")
CLAIM = statement(__package__, "claim")
QUIET = statement(__package__, "quiet")
TAKEN = statement(__package__, "taken")
HANDLED = statement(__package__, "handled")
LEASED = statement(__package__, "leased")
AGAIN = statement(__package__, "again")
DEAD = statement(__package__, "dead")
GIVE_BACK = statement(__package__, "give_back")
RENEW = statement(__package__, "renew")
LAPSED = statement(__package__, "lapsed")
TOKENS_OF = statement(__package__, "tokens_of")
EXPIRED = statement(__package__, "expired")
EXPIRE = statement(__package__, "expire")
REQUEUE = statement(__package__, "requeue")
DROP = statement(__package__, "drop")
SHIFT = statement(__package__, "shift_leases")
COPY = statement(__package__, "copy")

RIDERS = 20
RIDER_BYTES = 128 * 1024
"""So much quiet mail rides along with one turn at most; a larger one goes alone."""
REASON_BYTES = 10_000
_NOT_BY_HAND = {
    "seen": "is claimed and not settled; settle it with the token of that claim, or wait for its lease to end.",
    "dead": "is a dead letter; `covey dead requeue {ident}` tries it again, `covey dead drop {ident}` drops it.",
    "deferred": "is not delivered yet: it waits for credit of its link.",
}
"""Copies that nobody closes by hand, and why."""


class Claimed(NamedTuple):
    """Mail under one lease: the message that made the turn first (None for a digest), then what rides along."""

    token: str
    main: Message | None
    riders: list[Message]
    attempt: int


@relaxed
def claim(tx: Transaction, agent: str, run_id: str, *, lease_s: float, digest_s: float, asked: bool = False) -> Claimed | None:
    """The next mail of an agent, under a lease with a new token, or None if nothing is due (M4, M4b).

    Waking mail comes first, with the quiet mail beside it; quiet mail alone makes one digest turn each `digest_s`. Behind an open
    breaker all of it waits, but for what is let through when it is half-open (H6).
    `asked`: the operator's mail alone makes a turn; the rest waits, since it would cost money that nobody granted (P3).
    """
    row = tx.one(NEXT_ASKED if asked else NEXT, receiver=agent, now=tx.now)
    quiet = _quiet(tx, agent)
    if row is None and not (quiet and not asked and _digest_due(tx, agent, quiet, digest_s)):
        return None
    barred = breaking.open_of(tx, agent) is not None if row is None else row.barred
    if barred and not breaking.lets_through(tx, agent, run_id):
        return None
    token = tx.new_token()
    lease = {"token": token, "run_id": run_id, "lease_ends": tx.now + lease_s, "now": tx.now}
    for each in [row, *quiet] if row is not None else quiet:
        tx.run(CLAIM, seq=each.seq, **lease)
    if row is None:
        living.digested(tx, agent)
    mail = _taken(tx, agent, token)
    main = mail.pop(0) if row is not None else None
    attempt = main.attempts if main is not None else max(message.attempts for message in mail)
    return Claimed(token, main, mail, attempt)


def ride_along(tx: Transaction, agent: str, token: str, run_id: str, *, lease_s: float) -> list[Message]:
    """The quiet mail that goes with a turn of another kind, under that turn's token (M4b)."""
    quiet = _quiet(tx, agent)
    for each in quiet:
        tx.run(CLAIM, seq=each.seq, token=token, run_id=run_id, lease_ends=tx.now + lease_s, now=tx.now)
    return _taken(tx, agent, token) if quiet else []


def _quiet(tx: Transaction, agent: str) -> list[Row]:
    """The quiet mail that can be handed over now, in order, within the bounds of one turn."""
    rows = tx.all(QUIET, receiver=agent, now=tx.now, limit=RIDERS)
    size = 0
    for count, row in enumerate(rows):
        size += row.size
        if size > RIDER_BYTES and count:
            return rows[:count]
    return rows


def _digest_due(tx: Transaction, agent: str, quiet: list[Row], digest_s: float) -> bool:
    """Whether the oldest has waited, and the last digest was, so long ago."""
    since: float = min(row.delivered_at for row in quiet)
    return tx.now >= max(since, roster.vitals(tx, agent).last_digest_at) + digest_s


def _taken(tx: Transaction, agent: str, token: str) -> list[Message]:
    mail = [Message.from_row(row) for row in tx.all(TAKEN, token=token)]
    for message in mail:
        tx.happened("message.seen", agent=agent, subject=message.message_id, attempt=message.attempts, trace=message.traceparent)
    return mail


def handled(tx: Transaction, agent: str, token: str) -> int:
    """How many copies this token's lease has closed, in the transaction that stores the outcome (M4a).

    Raises:
        LeaseLost: The token is not current; nothing changed.
    """
    rows = tx.all(HANDLED, token=token, now=tx.now)
    for row in rows:
        took_s = round(tx.now - row.delivered_at, 3) if row.delivered_at is not None else None
        tx.happened("message.handled", agent=agent, subject=row.message_id, took_s=took_s)
    return len(rows)


def close(tx: Transaction, agent: str, token: str) -> int:
    """As `handled`, for a lease that must stand."""
    count = handled(tx, agent, token)
    if count == 0:
        raise lost(agent)
    return count


def lost(agent: str) -> LeaseLost:
    """The error for a token that is not current."""
    return LeaseLost(
        f"{agent}'s lease on this mail has ended and its token is void; drop the outcome, the mail is handled by whoever holds it now."
    )


def failed(tx: Transaction, agent: str, token: str, reason: str, *, main: str | None = None) -> list[Message]:
    """The brain failed on this mail: tried again after a backoff, or dead after the fifth time; the dead ones are the answer (M8).

    With `main` only that message is blamed; what rode along with it waits again as if it had not been taken.

    Raises:
        LeaseLost: The token is not current.
    """
    rows = tx.all(LEASED, token=token)
    if not rows:
        raise lost(agent)
    reason = fit(reason, REASON_BYTES)
    blamed = [row for row in rows if main in (None, row.id)]
    dead = [message for row in blamed if (message := _failed(tx, row, token, reason)) is not None]
    if len(blamed) < len(rows):
        give_back(tx, token)
    return dead


def _failed(tx: Transaction, row: Row, token: str, reason: str) -> Message | None:
    if row.attempts < MAX_ATTEMPTS:
        wait = backoff_s(row.attempts)
        if tx.run(AGAIN, seq=row.copy_seq, token=token, not_before=tx.now + wait, reason=reason):
            tx.happened("message.retried", agent=row.receiver, subject=row.id, attempt=row.attempts, again_in_s=wait, reason=reason[:500])
        return None
    if tx.run(DEAD, seq=row.copy_seq, token=token, reason=reason, now=tx.now) == 0:
        return None
    tx.happened("message.dead", agent=row.receiver, subject=row.id, reason=reason[:500])
    return Message.from_row(tx.one(COPY, receiver=row.receiver, message_id=row.id))


def give_back(tx: Transaction, token: str) -> int:
    """Mail whose brain never started, or was stopped, waits again; its attempt does not count (K4)."""
    rows = tx.all(GIVE_BACK, token=token)
    for row in rows:
        tx.happened("message.returned", agent=row.receiver, subject=row.message_id)
    return len(rows)


@relaxed
def renew(tx: Transaction, token: str, *, lease_s: float) -> bool:
    """Whether this token still leases mail; if so its lease is longer now."""
    return tx.run(RENEW, token=token, lease_ends=tx.now + lease_s) > 0


def is_leased(tx: Transaction, token: str) -> bool:
    """Whether this token leases mail."""
    return tx.one(LEASED, token=token) is not None


def lapsed(tx: Transaction, limit: int = 100) -> list[Row]:
    """Leases that have ended: rows of token, run_id, receiver. They are suspect, not free (K4)."""
    return tx.all(LAPSED, now=tx.now, limit=limit)


def expire_due(tx: Transaction, limit: int = 100) -> list[Row]:
    """Close what was not handled before its expiresAt (M9); `sweeping.expire_mail` also tells the senders that waited."""
    expired = [row for row in tx.all(EXPIRED, now=tx.now, limit=limit) if tx.run(EXPIRE, seq=row.seq, now=tx.now)]
    for row in expired:
        tx.happened("message.expired", agent=row.receiver, subject=row.message_id)
    return expired


def shift_leases(tx: Transaction, seconds: float) -> None:
    """Store time stepped forward by so much: live leases move with it (T2)."""
    tx.run(SHIFT, seconds=seconds)


def requeue(tx: Transaction, ident: str, receiver: str = "") -> int:
    """Dead copies of a message wait again, with five new tries (M8): one receiver's, or all.

    Raises:
        NotFound: No dead letter has this id.
    """
    rows = tx.all(REQUEUE, message_id=ident, receiver=receiver, now=tx.now)
    if not rows:
        raise _no_dead_letter(ident, receiver)
    for row in rows:
        tx.happened("message.requeued", agent=row.receiver, subject=ident)
        tx.ring(mail_of(row.receiver))
    return len(rows)


def drop(tx: Transaction, ident: str, receiver: str = "") -> int:
    """Dead copies of a message are dropped for good: one receiver's, or all.

    Raises:
        NotFound: No dead letter has this id.
    """
    rows = tx.all(DROP, message_id=ident, receiver=receiver, now=tx.now)
    if not rows:
        raise _no_dead_letter(ident, receiver)
    for row in rows:
        tx.happened("message.dropped", agent=row.receiver, subject=ident)
    return len(rows)


def _no_dead_letter(ident: str, receiver: str) -> NotFound:
    to = f" to {receiver[:60]}" if receiver else ""
    return NotFound(f"no dead letter{to} has the id {ident!r}; `covey dead` lists them.", field="id")


def acknowledge(tx: Transaction, agent: str, ident: str) -> Message:
    """One message handled by hand: by an agent without a brain of ours, or by the operator.

    Raises:
        NotFound: It is not in this mailbox.
        Conflict: It is claimed and not settled, it is a dead letter, or it has not been delivered yet.
    """
    row = tx.one(COPY, receiver=agent, message_id=ident)
    if row is None:
        raise NotFound(f"{agent} has no message {ident!r}; `covey inbox {agent}` lists what is there.", field="messageId")
    if row.state in _NOT_BY_HAND:
        raise Conflict(f"{agent}'s message {ident} {_NOT_BY_HAND[row.state].format(ident=ident)}", field="messageId")
    if row.state == "delivered":
        token = tx.new_token()
        if tx.run(CLAIM, seq=row.copy_seq, token=token, run_id=None, lease_ends=tx.now, now=tx.now) == 0:
            raise Conflict(f"{agent}'s message {ident} {_NOT_BY_HAND['seen']}", field="messageId")
        handled(tx, agent, token)
    return Message.from_row(tx.one(COPY, receiver=agent, message_id=ident))
