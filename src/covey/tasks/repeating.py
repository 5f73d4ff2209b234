"""Schedules as they are stored: those of covey.toml, and those on a task, which carry the task to be made again (K6a)."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from covey.agents.model import Caller, Kind
from covey.base.settings import ScheduleSettings
from covey.store import Transaction, statement
from covey.tasks.model import CheckedTask, TaskDraft
from covey.tasks.slots import check_timing, next_slot

PUT = statement(__package__, "schedule_put")
REMOVE = statement(__package__, "schedule_remove")

ON_TASK = "task:"


class Again(msgspec.Struct, kw_only=True):
    """A task that comes again: its timing, its draft, who wants it."""

    timing: ScheduleSettings
    draft: TaskDraft
    kind: Kind
    by: str


class First(NamedTuple):
    """The first task of a schedule: the schedule's name, the slot it is for, its dedupeKey."""

    name: str
    slot: float
    dedupe_key: str


def begin(tx: Transaction, ident: str, draft: TaskDraft, checked: CheckedTask, by: Caller) -> First:
    """A schedule on a task: the task itself is for the first slot, others are made at the next ones until one is cancelled.

    Raises:
        Invalid: It never comes.
    """
    assert draft.schedule is not None
    name = ON_TASK + ident
    timing = ScheduleSettings(
        name=name,
        text="",
        every_s=draft.schedule.every,
        cron=draft.schedule.cron,
        time_zone=draft.schedule.time_zone,
    )
    check_timing(timing, "schedule")
    slot = next_slot(timing, tx.now)
    again = msgspec.structs.replace(
        draft, task_id=None, schedule=None, dedupe_key=None, not_before=None, deadline=None, dependencies=[], priority=checked.priority
    )
    put(tx, name, msgspec.json.encode(Again(timing=timing, draft=again, kind=by.kind, by=by.name)).decode(), next_slot(timing, slot))
    return First(name, slot, key_of(name, slot))


def key_of(name: str, slot: float) -> str:
    """The dedupeKey of the task for a slot. Pure."""
    return f"schedule:{name}:{slot:.3f}"[-128:]


def put(tx: Transaction, name: str, settings: str, next_at: float) -> None:
    """Add a schedule or change it."""
    tx.run(PUT, name=name, settings=settings, next_at=next_at)


def remove(tx: Transaction, name: str) -> None:
    """The schedule makes no more tasks; those it made stay."""
    tx.run(REMOVE, name=name, now=tx.now)
