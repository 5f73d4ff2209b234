"""The fleet's port: figures, as they are now and over time."""

from __future__ import annotations

from typing import Literal

from covey.api.shapes import Asking, Given, Ident
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.operations import Nothing, get
from covey.reports import over_time


class Times(Given):
    """How many durations, their median and their 95th percentile in seconds, within 2.5 %."""

    n: int
    p50: float | None
    p95: float | None


class MailFigures(Given):
    """Messages: an agent's are those it sent, and those that it handled."""

    sent: int
    handled: int
    deferred: int
    throttled: int
    dead: int
    response_time: Times
    """From mailbox to handled."""


class TaskFigures(Given):
    """Tasks that ended. The completion rate is the share of those done among those done and failed."""

    completed: int
    failed: int
    cancelled: int
    attempts_retried: int
    completion_rate: float | None
    time: Times
    """From claim to end, of those that were done."""


class BuddyFigures(Given):
    """Checks of buddies; an agent's are those it made."""

    checks: int
    answered: int
    success_rate: float | None


class ContextFigures(Given):
    """How often contexts were compressed, and cut back to what must stay."""

    compressions: int
    overflows: int


class StallFigures(Given):
    """Stalls that were found, and those that ended by healing."""

    found: int
    healed: int


class CostFigures(Given):
    """What runs cost, as far as brains said so."""

    usd: float
    tokens: int
    runs: int


class Figures(Given):
    """What happened in a stretch of time."""

    messages: MailFigures
    tasks: TaskFigures
    buddy: BuddyFigures
    context: ContextFigures
    stalls: StallFigures
    incidents: int
    breakers_opened: int
    cost: CostFigures


class FiguresOfStep(Figures):
    """What happened in a step, which begins at `at`."""

    at: float


class OverTime(Given):
    """A window's figures. `behind`: some of what happened is not counted yet; it is counted each five seconds while somebody leads."""

    at: float
    agent_id: str | None
    window: str
    window_seconds: int
    step_seconds: int
    start: float
    behind: bool
    total: Figures
    steps: list[FiguresOfStep]


class OverTimeQuery(Asking):
    """How far back, and whose."""

    window: Literal["15m", "1h", "6h", "24h", "7d"] = "1h"
    agent: Ident | None = None


async def get_metrics_history(call: Call[OverTimeQuery, Nothing]) -> Answer:
    """The figures of a window, step by step."""
    return shown(await call.door.store.read(over_time.over_time, call.query.window, call.query.agent))


OPERATIONS = (
    get(
        "/api/v1/metrics/history",
        get_metrics_history,
        "caller",
        "Figures over a window of 15 minutes to 7 days, step by step.",
        query=OverTimeQuery,
        gives=OverTime,
        verb=over_time.over_time,
    ),
)
