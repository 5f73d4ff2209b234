"""An agent's counts carried from one store to another (S4)."""

from __future__ import annotations

import math

import msgspec

from covey.agents import roster
from covey.base.errors import Invalid
from covey.store import Transaction, statement

IMPORT = statement(__package__, "import_vitals")
MOST = 2**53


class CarriedMetrics(msgspec.Struct, rename="camel", kw_only=True):
    """The `metrics` of a seed's agent state, and ours."""

    tasks_completed: int = 0
    average_task_time: float = 0.0
    last_active_time: float | None = None
    stall_count: int = 0
    tasks_failed: int = 0
    messages_handled: int = 0


def put_metrics(tx: Transaction, agent: str, metrics: CarriedMetrics) -> bool:
    """Whether the agent goes on from these counts: only one that has none of its own does, so doing it twice changes nothing.

    Raises:
        Unknown, Gone: There is no such agent.
        Invalid: A count is negative or not finite.
    """
    roster.find(tx, agent, field="agentId")
    for field in msgspec.structs.fields(metrics):
        number, name = getattr(metrics, field.name), field.encode_name
        if number is not None and not (math.isfinite(number) and 0 <= number < MOST):
            raise Invalid(f"metrics.{name} is {number}; give a count or a time that is not negative.", field=name)
    if not (metrics.tasks_completed or metrics.tasks_failed or metrics.messages_handled):
        return False
    changed = tx.run(
        IMPORT,
        agent=agent,
        completed=metrics.tasks_completed,
        failed=metrics.tasks_failed,
        seconds=metrics.tasks_completed * metrics.average_task_time,
        handled=metrics.messages_handled,
        stalls=metrics.stall_count,
        last_active_at=min(metrics.last_active_time, tx.now) if metrics.last_active_time is not None else None,
    )
    return changed > 0
