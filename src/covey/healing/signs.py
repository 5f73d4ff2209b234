"""What the controller's cycle has to look at, read from the store: only those of whom something is to be said, in a fleet of any size."""

from __future__ import annotations

from typing import NamedTuple

from covey.healing.diagnosis import AtWork, Limits, Signs
from covey.store import Row, Transaction, statement

OVERDUE = statement(__package__, "overdue")
SILENT = statement(__package__, "silent")
IDLE = statement(__package__, "idle")
REVIVED = statement(__package__, "revived")
TIMEOUTS_OVER = statement(__package__, "timeouts_over")
UNANSWERED = statement(__package__, "unanswered")
BEATS = statement(__package__, "beats")

MOST = 1000
"""So many of each kind are looked at in one cycle; the rest in the next."""
SAMPLE = 64
"""So many agents whose heart beats are asked over HTTP all the same, in turn: in a fleet of up to so many, all."""


class Ward(NamedTuple):
    """What was found: signs of those that may be ill, by name, and what goes on since an earlier cycle."""

    signs: dict[str, Signs]
    revived: tuple[str, ...]
    over: tuple[Row, ...]
    """Tasks that ran too long and do so no more: rows of id, agent, subject, state."""
    unanswered: tuple[Row, ...]
    """Who needed a restart and got none: rows of agent, since."""


class Patience(NamedTuple):
    """The times that reading goes by: what is too long, how fresh a heartbeat of a live agent is, how soon a restart is done."""

    limits: Limits
    alive_s: float
    answer_s: float


def read(tx: Transaction, patience: Patience) -> Ward:
    """Who may be ill. A few queries."""
    now, limits = tx.now, patience.limits
    signs: dict[str, Signs] = {}
    for row in tx.all(SILENT, before=now - limits.silence_s, limit=MOST):
        signs[row.agent] = Signs(now, heartbeat_at=row.heartbeat_at)
    for row in tx.all(OVERDUE, now=now, overrun=limits.overrun, limit=MOST):
        found = signs.get(row.holder, Signs(now))
        signs[row.holder] = found._replace(tasks=(*found.tasks, AtWork(row.id, row.since, row.estimated_s)))
    for row in tx.all(IDLE, alive_after=now - patience.alive_s, before=now - limits.idle_s, limit=MOST):
        signs[row.id] = signs.get(row.id, Signs(now))._replace(idle_since=max(row.started_at, row.last_active_at or 0.0))
    return Ward(
        signs,
        tuple(row.agent for row in tx.all(REVIVED)),
        tuple(tx.all(TIMEOUTS_OVER)),
        tuple(tx.all(UNANSWERED, before=now - patience.answer_s)),
    )


def to_ask(tx: Transaction, turn: int, alive_s: float) -> list[Row]:
    """Who is to be asked over HTTP this time: everybody whose heart does not beat, and some of the others in turn.

    Rows of id, host, port, place, node, pid, started_at, heartbeat_at. With up to 64 agents that is all of them.
    """
    low = turn * SAMPLE
    return tx.all(BEATS, fresh_after=tx.now - alive_s, low=low, high=low + SAMPLE)
