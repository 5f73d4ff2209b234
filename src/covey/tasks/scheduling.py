"""Schedules: a task at each slot, exactly one over restarts and DST; missed slots collapse into one (K6a)."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import msgspec
from cronsim import CronSim

from covey.agents.model import THE_SYSTEM
from covey.base.errors import CoveyError
from covey.base.settings import ScheduleSettings, Settings
from covey.store import Row, Transaction, statement
from covey.tasks import adding
from covey.tasks.model import TaskDraft

ALL = statement(__package__, "schedules")
PUT = statement(__package__, "schedule_put")
REMOVE = statement(__package__, "schedule_remove")
DUE = statement(__package__, "schedules_due")
ADVANCE = statement(__package__, "schedule_advance")


def next_slot(schedule: ScheduleSettings, after: float) -> float:
    """The first slot after a time. Pure: `every_s` counts from the epoch, cron goes by its own time zone, DST included."""
    if schedule.every_s is not None:
        return (after // schedule.every_s + 1) * schedule.every_s
    local = datetime.fromtimestamp(after, UTC).astimezone(ZoneInfo(schedule.time_zone))
    return next(CronSim(schedule.cron, local)).timestamp()


def configure(tx: Transaction, settings: Settings) -> None:
    """The stored schedules are those of the settings; one that stays as it was keeps its next slot."""
    known = {row.name: row for row in tx.all(ALL)}
    for schedule in settings.schedules:
        text = msgspec.json.encode(schedule).decode()
        row = known.pop(schedule.name, None)
        if row is None or row.settings != text:
            tx.run(PUT, name=schedule.name, settings=text, next_at=next_slot(schedule, tx.now))
    for name in known:
        tx.run(REMOVE, name=name, now=tx.now)


def make_due(tx: Transaction, limit: int = 100) -> list[str]:
    """The tasks made for the slots that have come, one a schedule."""
    return [ident for row in tx.all(DUE, now=tx.now, limit=limit) if (ident := _make(tx, row)) is not None]


def _make(tx: Transaction, row: Row) -> str | None:
    tx.lock("schedule", row.name)
    schedule = msgspec.json.decode(row.settings, type=ScheduleSettings)
    draft = TaskDraft(
        description=schedule.text,
        agent=schedule.agent or None,
        capability=schedule.capability or None,
        priority=schedule.priority,
        project_id=schedule.project or None,
        dedupe_key=f"schedule:{row.name}:{row.next_at:.0f}",
    )
    made: str | None = None
    try:
        made = adding.add(tx, draft, THE_SYSTEM, origin="generated", schedule=row.name).task_id
    except CoveyError as error:
        tx.happened("schedule.failed", subject=row.name, error=error.message)
    tx.run(ADVANCE, name=row.name, next_at=next_slot(schedule, tx.now), slot=row.next_at, task=made)
    return made
