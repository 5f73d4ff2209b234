"""Requests under an Idempotency-Key: done once, answered alike ever after, in the transaction of their effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from covey.base.errors import IdTaken
from covey.store.statements import statement
from covey.store.transaction import Transaction

FORGET_OLD = statement(__package__, "answered_forget_old")
TAKE = statement(__package__, "answered_take")
KEEP = statement(__package__, "answered_keep")
RELEASE = statement(__package__, "answered_release")
FIND = statement(__package__, "answered_find")
PRUNE = statement(__package__, "answered_prune")

R = TypeVar("R")
KEPT_S = 7 * 86400.0
"""A key stands for its first answer for so long."""


class Request(NamedTuple):
    """Who asks, under which key, and a digest of what exactly."""

    caller: str
    key: str
    digest: str


class Given(NamedTuple):
    """An answer as it is kept."""

    status: int
    body: str
    lasts: bool = True
    """Whether it is to be given again; not if nothing came of the request."""
    replayed: bool = False
    media: str = "application/json"
    headers: tuple[tuple[bytes, bytes], ...] = ()
    """Both of an answer that does not last; what is kept is JSON with no headers of its own."""


def once(tx: Transaction, request: Request, answer: Callable[[R], Given], verb: Callable[..., R], /, *args: Any, **kwargs: Any) -> Given:
    """The answer to what the verb gives, now or the first time that this caller used the key.

    An error, or an answer that does not last, is not kept: nothing happened, so the same key may be tried again.

    Raises:
        IdTaken: The key was used for another request.
    """
    key = {"caller": request.caller, "key": request.key}
    tx.run(FORGET_OLD, before=tx.now - KEPT_S, **key)
    if tx.run(TAKE, digest=request.digest, now=tx.now, **key) == 0:
        return _replayed(tx, request)
    given = answer(verb(tx, *args, **kwargs))
    if given.lasts:
        tx.run(KEEP, status=given.status, body=given.body, **key)
    else:
        tx.run(RELEASE, **key)
    return given


def _replayed(tx: Transaction, request: Request) -> Given:
    row = tx.one(FIND, caller=request.caller, key=request.key)
    if row is None or row.digest != request.digest:
        raise IdTaken(
            f"the Idempotency-Key {request.key!r} was used for another request within the last 7 days; nothing was done. Bring a new key.",
            field="Idempotency-Key",
        )
    return Given(row.status, row.body, replayed=True)


def prune(tx: Transaction, limit: int = 500) -> int:
    """Delete answers past their time; how many went, `limit` at most."""
    return tx.run(PRUNE, before=tx.now - KEPT_S, limit=limit)
