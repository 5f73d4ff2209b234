"""One direction of a pair as it stands, and what is kept of it: its bucket, and what was accepted last. No rule of its own."""

from __future__ import annotations

import msgspec

from covey.links.model import PROTOCOL, Direction, Link, Recent, link_of
from covey.links.quota import Bucket
from covey.store import Transaction, statement

DIRECTION = statement(__package__, "direction")
IMPLY = statement(__package__, "imply")
KEEP = statement(__package__, "keep")
SET_BUCKET = statement(__package__, "set_bucket")
COUNT_PROTOCOL = statement(__package__, "count_protocol")

PROTOCOL_A_MINUTE = 60
"""So much mail of the protocol itself a pair may have in a minute (L12)."""


def find(tx: Transaction, sender: str, receiver: str) -> Direction | None:
    """The direction between two agents, removed ones too; None if one of them never was one."""
    row = tx.one(DIRECTION, sender=sender, receiver=receiver, link_id=link_of(sender, receiver))
    return Direction.from_row(row) if row is not None else None


def lock(tx: Transaction, *agents: str) -> None:
    """Nobody sends from these agents before the commit: whatever is decided about a direction is decided under its sender's lock."""
    for agent in sorted(agents):
        tx.lock("agent", agent)


def imply(tx: Transaction, link: Link) -> None:
    """The row of a link that the mesh implies, made at its first use (L1). Nothing changed for anybody, so it is no event."""
    limits = {"messages": link.messages, "hours": link.hours, "debounce_s": link.debounce_s}
    tx.run(IMPLY, id=link.id, one=link.one, other=link.other, **limits, now=tx.now)


def keep(tx: Transaction, link_id: str, sender: str, bucket: Bucket, *, run: str | None, recent: Recent) -> None:
    """What is left after a message was accepted just now, and what it was."""
    words = msgspec.json.encode(recent).decode()
    tx.run(KEEP, link_id=link_id, sender=sender, **bucket._asdict(), last_at=tx.now, last_run=run, recent=words)


def set_bucket(tx: Transaction, link_id: str, sender: str, bucket: Bucket) -> None:
    """What is left, where nothing new was accepted."""
    tx.run(SET_BUCKET, link_id=link_id, sender=sender, **bucket._asdict())


def count_protocol(tx: Transaction, one: str, other: str) -> float | None:
    """Count a message of the protocol itself; when the pair may have the next one if this one is over its cap, else None (L12)."""
    row = tx.one(COUNT_PROTOCOL, link_id=link_of(one, other), most=PROTOCOL_A_MINUTE, now=tx.now)
    assert row is not None, PROTOCOL
    over: float = row.reset_at
    return over if row.credits < 0 else None
