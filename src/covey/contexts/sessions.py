"""Sessions of brains that have a context of their own: numbered, and begun afresh when one is nearly full (C5a)."""

from __future__ import annotations

from typing import Literal, NamedTuple

from covey.contexts.model import WARN_AT
from covey.store import Transaction, statement

BEGIN = statement(__package__, "begin")
SESSION = statement(__package__, "session")
NEXT = statement(__package__, "next_session")
USED = statement(__package__, "session_used")
OWN = statement(__package__, "own_session")
KEEP_OWN = statement(__package__, "keep_own_session")

Lane = Literal["mail", "task"]


class Session(NamedTuple):
    """Which session a turn is to work in. `fresh`: nothing has been done in it yet."""

    number: int
    fresh: bool


def current(tx: Transaction, agent: str) -> Session:
    """The session that the agent's next turn works in."""
    row = tx.one(SESSION, agent=agent)
    return Session(row.session, bool(row.session_fresh)) if row is not None else Session(1, True)


class Own(NamedTuple):
    """The id by which a brain itself knows a session, and since when that session knows nothing of what happened elsewhere."""

    id: str
    since: float


def own(tx: Transaction, agent: str, lane: Lane, number: int) -> Own | None:
    """What the brain calls the agent's session of this number, in this lane; None if it never said."""
    row = tx.one(OWN, agent=agent, lane=lane, session=number)
    return Own(row.own, row.at) if row is not None else None


def keep_own(tx: Transaction, agent: str, lane: Lane, number: int, ident: str, since: float) -> None:
    """The brain said by which id it knows that session; a turn that began at `since` was the last one in it."""
    tx.run(KEEP_OWN, agent=agent, lane=lane, session=number, own=ident, at=since)


def begin_afresh(tx: Transaction, agent: str) -> None:
    """The next turn starts a session of its own."""
    tx.run(BEGIN, agent=agent)
    tx.run(NEXT, agent=agent, session=current(tx, agent).number, tokens=None, most=None)


def used(tx: Transaction, agent: str, number: int, tokens: int | None, most: int | None, *, failed: bool = False) -> None:
    """A turn in this session (0: the current one) was settled; it reported how many tokens of how many its own context has, if it knows.

    At 80 % the next turn starts afresh, and so it does where a session failed before it had begun. What comes late of an earlier
    session changes nothing.
    """
    row = tx.one(SESSION, agent=agent)
    now = Session(row.session, bool(row.session_fresh)) if row is not None else Session(1, True)
    number = number or now.number
    full = tokens is not None and most is not None and most > 0 and tokens >= WARN_AT * most
    if now.number != number:
        return
    if row is None:
        tx.run(BEGIN, agent=agent)
    if full or (failed and now.fresh):
        tx.run(NEXT, agent=agent, session=number, tokens=tokens, most=most)
    elif row is None or (row.session_fresh, row.session_tokens, row.session_limit) != (0, tokens, most):
        tx.run(USED, agent=agent, session=number, tokens=tokens, most=most)
    if full:
        tx.happened("context.session_full", agent=agent, session=number, tokens=tokens, limit=most)
