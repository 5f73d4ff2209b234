"""Where news of an exchange is pushed to, and how far each such place has got: kept with the task, told at least once, in order.

The sending itself is the door's; `due`, `moved` and `failed` are its bookkeeping, so that a restart goes on where it was.
"""

from __future__ import annotations

from typing import NamedTuple

from covey.agents.model import Caller
from covey.base.errors import Invalid, NotFound, TooLarge
from covey.base.ids import is_id
from covey.base.wire import check_text
from covey.exchanges import reading
from covey.exchanges.model import News
from covey.messages.model import backoff_s
from covey.store import Row, Transaction, events, statement
from covey.store.events import START, Bookmark

PUT = statement(__package__, "push_put")
FIND = statement(__package__, "push_find")
OF = statement(__package__, "push_of")
REMOVE = statement(__package__, "push_remove")
ANY = statement(__package__, "push_any")
DUE = statement(__package__, "push_due")
MOVED = statement(__package__, "push_moved")
FAILED = statement(__package__, "push_failed")

MOST = 20
"""So many places a task."""
OF_ONE = 100
"""So many places of one giver are looked at in a round."""
ATTEMPTS = 8
"""So often one place is tried with one piece of news, over some four minutes; then it gets no more."""
BOUNDS = {"url": 2000, "token": 1000, "authentication.scheme": 50, "authentication.credentials": 4000}


class Push(NamedTuple):
    """One place that news of a task is pushed to."""

    task_id: str
    id: str
    url: str
    token: str
    """Given back to the receiver with each push, so that it knows whose it is."""
    scheme: str
    credentials: str
    version: str
    """Of the protocol in which it was asked for."""
    bookmark: Bookmark = START
    attempts: int = 0
    giver: str = ""
    """Whose task it is; told of what is due."""

    @classmethod
    def from_row(cls, row: Row) -> Push:
        """The place of a row."""
        return cls(
            row.task_id, row.id, row.url, row.token, row.scheme, row.credentials, row.version, Bookmark(row.xid, row.seq), row.attempts
        )


def check(push: Push) -> None:
    """Refuse what is of no form that can be pushed to; where the address leads is asked when it is called. Pure.

    Raises:
        Invalid, TooLarge: `field` names what is wrong.
    """
    if not is_id(push.id):
        raise Invalid(f"id is {push.id[:60]!r}; it is 1 to 128 of the characters A-Z a-z 0-9 . _ : -", field="id")
    for (field, bound), text in zip(BOUNDS.items(), (push.url, push.token, push.scheme, push.credentials), strict=True):
        check_text(text, field)
        if len(text) > bound:
            raise TooLarge(f"{field} has {len(text):,} characters; at most {bound:,} are taken.", field=field)
        if any(ord(char) < 32 or ord(char) == 127 for char in text):
            raise Invalid(f"{field} has a control character; leave it out.", field=field)
    if not (push.token + push.scheme + push.credentials).isascii() or " " in push.scheme:
        raise Invalid("token, scheme and credentials go into headers: printable ASCII, the scheme without spaces.", field="authentication")


def put(tx: Transaction, agent: str, push: Push, by: Caller, *, from_start: bool = False) -> Push:
    """The place, kept; one with the same id is replaced. News from now on goes there, or all there is `from_start`.

    Raises:
        NotFound: There is no such exchange, or it is not the caller's.
        Invalid, TooLarge: It is of the wrong form, or one too many.
    """
    reading.seek(tx, agent, push.task_id, by)
    check(push)
    if tx.one(FIND, task_id=push.task_id, id=push.id) is None and len(tx.all(OF, task_id=push.task_id, after="", limit=MOST)) >= MOST:
        raise TooLarge(f"the task {push.task_id} has {MOST} places to push to already; remove one first.", field="taskId")
    at = START if from_start else events.last(tx)
    tx.run(
        PUT,
        task_id=push.task_id,
        id=push.id,
        url=push.url,
        token=push.token,
        scheme=push.scheme,
        credentials=push.credentials,
        version=push.version,
        xid=at.xid,
        seq=at.seq,
        now=tx.now,
    )
    return push


def show(tx: Transaction, agent: str, task_id: str, ident: str, by: Caller) -> Push:
    """One place.

    Raises:
        NotFound: There is none, or it is not the caller's.
    """
    reading.seek(tx, agent, task_id, by)
    row = tx.one(FIND, task_id=task_id, id=ident)
    if row is None:
        raise NotFound(f"the task {task_id} pushes to no {ident[:130]!r}; list its places to see their ids.", field="id")
    return Push.from_row(row)


def listed(tx: Transaction, agent: str, task_id: str, by: Caller, *, after: str = "", limit: int = MOST) -> list[Push]:
    """The places of a task, in the order of their ids.

    Raises:
        NotFound: There is no such exchange, or it is not the caller's.
    """
    reading.seek(tx, agent, task_id, by)
    return [Push.from_row(row) for row in tx.all(OF, task_id=task_id, after=after, limit=limit)]


def remove(tx: Transaction, agent: str, task_id: str, ident: str, by: Caller) -> None:
    """Nothing more is pushed there; one that is not there is no error.

    Raises:
        NotFound: There is no such exchange, or it is not the caller's.
    """
    reading.seek(tx, agent, task_id, by)
    tx.run(REMOVE, task_id=task_id, id=ident)


def due(tx: Transaction, each: int = OF_ONE, limit: int = 1000) -> list[Push]:
    """The places for which there is news, whose time has come: `each` of one giver at most, so that no giver crowds out another."""
    return [Push.from_row(row)._replace(giver=row.caller) for row in tx.all(DUE, now=tx.now, each=each, limit=limit)]


def is_any(tx: Transaction) -> bool:
    """Whether there is any place that may get news still."""
    return tx.one(ANY) is not None


class Parcel(NamedTuple):
    """What is to be pushed to one place next."""

    exchange: Row
    news: list[News]
    bookmark: Bookmark


def parcel(tx: Transaction, push: Push, limit: int = 20) -> Parcel | None:
    """The next news for a place; None if its exchange is gone."""
    row = tx.one(reading.FIND, task_id=push.task_id)
    if row is None:
        return None
    steps, bookmark = reading.steps(tx, row, push.bookmark, limit=limit)
    return Parcel(row, steps, bookmark)


def moved(tx: Transaction, push: Push, to: Bookmark, *, ended: bool) -> None:
    """The place has got its news up to here; `ended`: there is no more to come."""
    tx.run(MOVED, task_id=push.task_id, id=push.id, xid=to.xid, seq=to.seq, now=tx.now, ended_at=tx.now if ended else None)


def failed(tx: Transaction, push: Push, why: str, *, permanent: bool = False) -> None:
    """The place did not take its news: tried again after a backoff, given up after the eighth time or at once if that is no use."""
    gives_up = permanent or push.attempts + 1 >= ATTEMPTS
    tx.run(
        FAILED,
        task_id=push.task_id,
        id=push.id,
        due_at=tx.now + backoff_s(push.attempts + 1),
        ended_at=tx.now if gives_up else None,
    )
    if gives_up:
        tx.happened("push.given_up", subject=push.task_id, push=push.id, why=why[:500])
