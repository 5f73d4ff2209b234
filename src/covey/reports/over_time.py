"""How the work went over the last quarter of an hour to the last week, step by step, for the fleet or one agent. From the figures alone."""

from __future__ import annotations

from typing import Any

from covey.agents import roster
from covey.figures import reading, sketches
from covey.figures.model import WHOLE_FLEET, WINDOWS, Tally
from covey.figures.sketches import Sketch
from covey.store import Transaction


def over_time(tx: Transaction, window: str = "1h", agent: str | None = None) -> dict[str, Any]:
    """The figures of each step of a window (a key of `WINDOWS`) that ends now, oldest first, and of all of it. Null is: none measured.

    Raises:
        Unknown, Gone: There is no such agent.
    """
    wanted = WINDOWS[window]
    if agent is not None:
        roster.find(tx, agent, field="agent")
    found = reading.over(tx, wanted, agent if agent is not None else WHOLE_FLEET)
    return {
        "at": tx.now,
        "agentId": agent,
        "window": window,
        "windowSeconds": wanted.length_s,
        "stepSeconds": wanted.step_s,
        "start": found.start,
        "behind": found.more,
        "total": shown(found.total),
        "steps": [{"at": at, **shown(tally)} for at, tally in found.steps],
    }


def shown(tally: Tally) -> dict[str, Any]:
    """The figures of a stretch of time; durations in seconds. Pure."""
    return {
        "messages": {
            "sent": tally.sent,
            "handled": tally.handled,
            "deferred": tally.deferred,
            "throttled": tally.throttled,
            "dead": tally.dead,
            "responseTime": _times(tally.response),
        },
        "tasks": {
            "completed": tally.done,
            "failed": tally.failed,
            "cancelled": tally.cancelled,
            "attemptsRetried": tally.retried,
            "completionRate": _share(tally.done, tally.done + tally.failed),
            "time": _times(tally.work),
        },
        "buddy": {"checks": tally.checks, "answered": tally.answered, "successRate": _share(tally.answered, tally.checks)},
        "context": {"compressions": tally.compressions, "overflows": tally.overflows},
        "stalls": {"found": tally.stalls, "healed": tally.healed},
        "incidents": tally.incidents,
        "breakersOpened": tally.breakers,
        "cost": {"usd": round(tally.usd, 6), "tokens": tally.tokens, "runs": tally.runs},
    }


def _times(sketch: Sketch) -> dict[str, Any]:
    """How many, their median and 95th percentile; null where there is none."""
    return {"n": sum(sketch.values()), "p50": sketches.percentile(sketch, 0.5), "p95": sketches.percentile(sketch, 0.95)}


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
