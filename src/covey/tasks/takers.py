"""Who takes work now, and in which order: one reading and one order for all that choose among agents (A1a, H6).

What a rule asks for beside it, as who may cost money or is capable of most, stands with that rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from covey.agents import roster
from covey.agents.external import is_away
from covey.agents.model import GLOBAL, Agent
from covey.base.wire import fit
from covey.store import Row, Transaction, statement

TAKERS_NOW = statement(__package__, "takers_now")

CAUSE_BYTES = 500
NOBODY: Mapping[str, int] = {}


class Bar(NamedTuple):
    """What keeps work from an agent."""

    what: str
    """As `is paused`."""
    why: str = ""
    """Word for word as it was given, which may have been by another agent's brain (M12)."""

    def __str__(self) -> str:
        return f"{self.what}: {self.why.rstrip('.')}" if self.why else self.what


class Taker(NamedTuple):
    """An agent as one who may be given work, as it stands now."""

    name: str
    place: int
    brain: str
    capabilities: frozenset[str]
    bar: Bar | None
    """What keeps work from it, whether it lives or not."""
    lives: bool
    """Whether its process beats; of an external agent, which has none, nothing else is asked than that it is not away."""
    shaky: bool
    """Whether its breaker is half-open: it may be tried, after all others."""
    tasks: int
    """Its open tasks, of whatever origin."""
    completed: int
    task_s: float

    @property
    def why_not(self) -> str:
        """Why it takes nothing now; empty if it does."""
        if self.bar is not None:
            return f"it {self.bar}"
        return "" if self.lives else "it is down"

    @property
    def ready(self) -> bool:
        """Whether it takes work now."""
        return self.lives and self.bar is None


def named(tx: Transaction, names: Sequence[str], alive_s: float | None = None) -> list[Taker]:
    """How these agents stand, in the fleet's order; who was removed is left out."""
    return _read(tx, names, None, alive_s)


def having(tx: Transaction, capability: str | None, alive_s: float | None = None) -> list[Taker]:
    """How all stand who have a capability, `general` if none is asked for; in the fleet's order."""
    return _read(tx, (), f"{GLOBAL}:{capability or 'general'}", alive_s)


def _read(tx: Transaction, names: Sequence[str], queue: str | None, alive_s: float | None) -> list[Taker]:
    rows = tx.all(TAKERS_NOW, names=msgspec.json.encode(names).decode(), queue=queue)
    alive_s = roster.stale_s(tx) if alive_s is None else alive_s
    return [_taker(row, tx.now, alive_s) for row in rows]


def _taker(row: Row, now: float, alive_s: float) -> Taker:
    external = row.brain == "external"
    return Taker(
        row.id,
        row.place,
        row.brain,
        _words(row.capabilities),
        bar_of(row, row.until, row.reason, now, away=external and is_away(row.seen_at, row.cadence_s, now)),
        external or beats(row.pid, row.heartbeat_at, now, alive_s),
        row.until is not None and now >= row.until,
        row.tasks,
        row.tasks_completed,
        row.task_seconds / row.tasks_completed if row.tasks_completed else 0.0,
    )


@lru_cache(maxsize=256)
def _words(text: str) -> frozenset[str]:
    return frozenset(msgspec.json.decode(text))


def beats(pid: int | None, heartbeat_at: float | None, now: float, alive_s: float) -> bool:
    """Whether an agent's own process is there, and its heart was not silent for too long (A3). Pure."""
    return pid is not None and heartbeat_at is not None and now - heartbeat_at <= alive_s


def bar_of(agent: Agent | Row, until: float | None, cause: str | None, now: float, *, away: bool) -> Bar | None:
    """What keeps work from an agent; None if nothing does. Whether its process lives is not asked. Pure.

    `until` and `cause` are its breaker's: a half-open one bars nobody, since it lets one through.
    """
    if agent.failed_at is not None:
        return Bar("is in error", agent.failed_reason or "its restarts were given up")
    if until is not None and now < until:
        return Bar("is behind an open breaker", fit(" ".join((cause or "").split()), CAUSE_BYTES))
    if agent.stopped_at is not None or agent.paused_at is not None:
        return Bar("is stopped" if agent.stopped_at is not None else "is paused", agent.flag_reason or "")
    return Bar("is away") if away else None


def order(
    taker: Taker, before: tuple[Any, ...] = (), *, yields: bool = False, more: Mapping[str, int] = NOBODY, failed_by: Sequence[str] = ()
) -> tuple[Any, ...]:
    """The key by which the best comes first. Pure.

    Last of all are those who failed the work (`failed_by`, each time), then who takes none now, then the shaky (H3, H6). Among the rest the
    caller's own rule decides (`before`), then the fewest open tasks with `more` given since they were counted, then who does not
    yield (`yields`), then the fleet's order.
    """
    name = taker.name
    return (failed_by.count(name), not taker.ready, taker.shaky, *before, taker.tasks + more.get(name, 0), yields, taker.place)
