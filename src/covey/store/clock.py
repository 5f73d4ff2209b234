"""The store's own time: it follows a wall clock that is ahead, and never goes back (T2). Reading it is the engines' part."""

from __future__ import annotations

from covey.store.statements import statement
from covey.store.transaction import Transaction, relaxed

STEP = statement(__package__, "clock_step")
FLOOR = statement(__package__, "clock_floor")

STEP_S = 1.0
"""A wall clock ahead by no more than this is left alone."""


def step(tx: Transaction, wall: float) -> float:
    """By how many seconds store time stepped forward to this wall clock; 0.0 if it stayed, as it does for a wall clock that is behind.

    Whoever calls it moves live leases and heartbeats by as much, in the same transaction. On PostgreSQL the server's clock
    alone counts, so nothing is stepped there.
    """
    seconds = wall - tx.now
    if seconds <= STEP_S or tx.run(STEP, seconds=seconds) == 0:
        return 0.0
    tx.now += seconds
    tx.happened("clock.stepped", seconds=round(seconds, 3), why="the wall clock was ahead")
    return seconds


@relaxed
def raise_floor(tx: Transaction) -> None:
    """Store time will not be below what it is now, whichever server tells it. For the leader on PostgreSQL, each second or so."""
    tx.run(FLOOR, now=tx.now)
