"""Schedules: a task at each slot, exactly one over restarts and DST; missed slots collapse into one (K6a)."""

from __future__ import annotations

import msgspec
from cronsim import CronSimError

from covey.agents.model import THE_SYSTEM, Caller
from covey.base.errors import CoveyError
from covey.base.settings import ScheduleSettings, Settings
from covey.store import Row, Transaction, statement
from covey.tasks import adding, repeating
from covey.tasks.model import TaskDraft
from covey.tasks.repeating import ON_TASK, Again
from covey.tasks.slots import next_slot

ALL = statement(__package__, "schedules")
DUE = statement(__package__, "schedules_due")
STILL_DUE = statement(__package__, "schedule_still_due")
ADVANCE = statement(__package__, "schedule_advance")

LATER_S = 3600.0
UNREADABLE = (CronSimError, msgspec.MsgspecError, KeyError, ValueError, OSError)
"""A schedule that can't be read here (a time zone that this machine does not know …) is tried again so much later, and stops no other."""


def configure(tx: Transaction, settings: Settings) -> None:
    """The stored schedules are those of the settings, and those on tasks; one whose timing stays as it was keeps its next slot."""
    known = {row.name: row for row in tx.all(ALL) if not row.name.startswith(ON_TASK)}
    for schedule in settings.schedules:
        text = msgspec.json.encode(schedule).decode()
        row = known.pop(schedule.name, None)
        if row is None or row.settings != text:
            kept = row is not None and _times_of(row.settings) == _times(schedule)
            repeating.put(tx, schedule.name, text, row.next_at if kept else next_slot(schedule, tx.now))
    for name in known:
        repeating.remove(tx, name)


def _timing(settings: str) -> ScheduleSettings:
    return msgspec.json.decode(settings, type=ScheduleSettings)


def _times(schedule: ScheduleSettings) -> tuple[float | None, str, str]:
    return schedule.every_s, schedule.cron, schedule.time_zone


def _times_of(settings: str) -> tuple[float | None, str, str] | None:
    """The timing of stored settings; None if they can't be read."""
    try:
        return _times(_timing(settings))
    except msgspec.MsgspecError:
        return None


def make_due(tx: Transaction, limit: int = 100) -> list[str]:
    """The tasks made for the slots that have come, one a schedule."""
    return [ident for row in tx.all(DUE, now=tx.now, limit=limit) if (ident := _make(tx, row)) is not None]


def _make(tx: Transaction, row: Row) -> str | None:
    """The task of a slot, unless somebody else made it meanwhile."""
    tx.lock("schedule", row.name)
    if tx.one(STILL_DUE, name=row.name, next_at=row.next_at) is None:
        return None
    made: str | None = None
    next_at = tx.now + LATER_S
    try:
        timing, draft, by = _wanted(row)
        next_at = next_slot(timing, tx.now)
        with tx.attempt():
            made = adding.add(tx, draft, by, origin="generated", schedule=row.name).task_id
    except (CoveyError, *UNREADABLE) as error:
        tx.happened("schedule.failed", subject=row.name, error=f"{error}"[:1000] or type(error).__name__)
    tx.run(ADVANCE, name=row.name, next_at=next_at, slot=row.next_at, task=made)
    return made


def _wanted(row: Row) -> tuple[ScheduleSettings, TaskDraft, Caller]:
    """When, what, and for whom."""
    key = repeating.key_of(row.name, row.next_at)
    if row.name.startswith(ON_TASK):
        again = msgspec.json.decode(row.settings, type=Again)
        return again.timing, msgspec.structs.replace(again.draft, dedupe_key=key), Caller(again.kind, again.by)
    schedule = _timing(row.settings)
    draft = TaskDraft(
        description=schedule.text,
        agent=schedule.agent or None,
        capability=schedule.capability or None,
        priority=schedule.priority,
        project_id=schedule.project or None,
        dedupe_key=key,
    )
    return schedule, draft, THE_SYSTEM
