"""Agents' breakers as they are stored: a failure counted, a success closing, one let through while half-open (H6).

A row stands from the first failure of a streak to the next success. Whoever is let through is known by its run: while that one holds
something under a lease, nobody else is; so whatever ends the lease ends the trial, and nothing has to be given back.
"""

from __future__ import annotations

from typing import NamedTuple

from covey.agents.breaker import Breaker, Phase, after_failure, phase
from covey.base.wire import fit
from covey.store import Row, Transaction, statement

BREAKER = statement(__package__, "breaker")
OPEN_BREAKERS = statement(__package__, "open_breakers")
PUT = statement(__package__, "put_breaker")
CLOSE = statement(__package__, "close_breaker")
TRY = statement(__package__, "try_breaker")
TRIED = statement(__package__, "breaker_tried")
SHIFT = statement(__package__, "shift_breakers")

REASON_BYTES = 4000


class Opened(NamedTuple):
    """A breaker that is not closed, of one agent."""

    agent: str
    failures: int
    openings: int
    opened_at: float
    until: float
    reason: str
    phase: Phase


def of(tx: Transaction, agent: str) -> Breaker:
    """The agent's breaker."""
    row = tx.one(BREAKER, agent=agent)
    return _breaker(row) if row is not None else Breaker()


def open_of(tx: Transaction, agent: str) -> Opened | None:
    """The agent's breaker if it is not closed."""
    row = tx.one(BREAKER, agent=agent)
    return _opened(tx, row) if row is not None and row.until is not None else None


def opened(tx: Transaction) -> dict[str, Opened]:
    """Every breaker that is not closed, by agent."""
    return {row.agent: _opened(tx, row) for row in tx.all(OPEN_BREAKERS)}


def failed(tx: Transaction, agent: str, item: str, reason: str, *, not_started: bool = False) -> None:
    """The agent's brain failed over an item; `not_started`: it could not even start."""
    tx.lock("mailbox", agent)
    before = of(tx, agent)
    after = after_failure(before, item, fit(reason, REASON_BYTES), tx.now, not_started=not_started)
    tx.run(
        PUT,
        agent=agent,
        failures=after.failures,
        first_item=after.first_item,
        varied=int(after.varied),
        openings=after.openings,
        opened_at=after.opened_at,
        until=after.until,
        reason=after.reason,
    )
    if after.until != before.until:
        tx.happened(
            "breaker.opened", agent=agent, subject=item, failures=after.failures, until=after.until, again=before.until is not None,
            reason=after.reason[:500],
        )  # fmt: skip


def worked(tx: Transaction, agent: str) -> None:
    """The agent's brain finished something: its breaker is closed, its streak over."""
    row = tx.one(CLOSE, agent=agent)
    if row is not None and row.until is not None:
        tx.happened("breaker.closed", agent=agent, open_s=round(tx.now - row.opened_at, 3), failures=row.failures)
        tx.ring(agent)


def lets_through(tx: Transaction, agent: str, run_id: str) -> bool:
    """Whether this run is the one that a half-open breaker lets through now; nobody else is until what it takes is let go.

    Call it just before something is taken under the run; if nothing is, the next one may be.
    """
    tx.lock("mailbox", agent)
    row = tx.one(BREAKER, agent=agent)
    if row is None or row.until is None:
        return True
    if tx.now < row.until or (row.trial is not None and tx.one(TRIED, agent=agent, run_id=row.trial) is not None):
        return False
    tx.run(TRY, agent=agent, run_id=run_id)
    return True


def shift(tx: Transaction, seconds: float) -> None:
    """Store time stepped forward by so much: open breakers move with it (T2)."""
    tx.run(SHIFT, seconds=seconds)


def _breaker(row: Row) -> Breaker:
    return Breaker(row.failures, row.first_item, bool(row.varied), row.openings, row.opened_at, row.until, row.reason)


def _opened(tx: Transaction, row: Row) -> Opened:
    return Opened(row.agent, row.failures, row.openings, row.opened_at, row.until, row.reason, phase(_breaker(row), tx.now))
