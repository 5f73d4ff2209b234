"""A breaker's arithmetic: when it opens, when it lets one through, when it closes (H6). Pure; no I/O, no clock of its own."""

from __future__ import annotations

from typing import Literal, NamedTuple

FAILURES = 3
"""So many failures in a row open it, if they are over at least two different items."""
OPEN_S = 60.0
"""How long it stays open before one is let through."""

Phase = Literal["closed", "open", "half-open"]


class Breaker(NamedTuple):
    """What is known since the last success, which closes it and ends the streak; `CLOSED` is nothing at all."""

    failures: int = 0
    first_item: str = ""
    """The id of the task or message that the first failure of the streak was over."""
    varied: bool = False
    """Whether the streak is over at least two different items."""
    openings: int = 0
    """How often it opened since the last success."""
    opened_at: float | None = None
    until: float | None = None
    """When the next one is let through; None while it is closed."""
    reason: str = ""
    """The latest failure's real cause, word for word."""


CLOSED = Breaker()


def phase(breaker: Breaker, now: float) -> Phase:
    """How it stands: closed lets all through, open nobody, half-open exactly one at a time."""
    if breaker.until is None:
        return "closed"
    return "open" if now < breaker.until else "half-open"


def after_failure(breaker: Breaker, item: str, reason: str, now: float, *, not_started: bool = False) -> Breaker:
    """The breaker after a failure over an item. `not_started`: what should do the work can't even start, which opens it at once.

    A failure while it is open comes of what was let through before, and opens it no longer than it is; one while it is half-open does.
    """
    varied = breaker.varied or (breaker.failures > 0 and item != breaker.first_item)
    after = breaker._replace(failures=breaker.failures + 1, first_item=breaker.first_item or item, varied=varied, reason=reason)
    if phase(breaker, now) == "open":
        return after
    opens = not_started or breaker.until is not None or (after.failures >= FAILURES and varied)
    return after._replace(openings=breaker.openings + 1, opened_at=breaker.opened_at or now, until=now + OPEN_S) if opens else after
