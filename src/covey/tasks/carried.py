"""Tasks and runs as they are carried from one store to another (S4): their shape, and reading them out page by page with what they need."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import msgspec

from covey.store import Row, Transaction, statement
from covey.tasks.model import MAX_ATTEMPTS, Origin, TaskState

PAGE = statement(__package__, "page")
PAGE_NEEDS = statement(__package__, "page_needs")
PAGE_RUNS = statement(__package__, "page_runs")


class CarriedTask(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """A task as one line of an export has it. Fields that are not named here are passed over."""

    task_id: str
    description: str
    state: TaskState = "queued"
    agent: str | None = None
    capability: str | None = None
    priority: str | int = "medium"
    dependencies: list[str] = []
    anyway: bool = False
    created_by: str = "operator"
    created_at: float | None = None
    origin: Origin | None = None
    estimated_seconds: float | None = None
    attempts: int = 0
    max_attempts: int = MAX_ATTEMPTS
    parent_id: str | None = None
    project_id: str | None = None
    dedupe_key: str | None = None
    schedule: str | None = None
    not_before: float | None = None
    deadline: float | None = None
    approval: str | None = None
    waiting_for: str | None = None
    claimed_at: float | None = None
    started_at: float | None = None
    finished_at: float | None = None
    progress: str | None = None
    progress_at: float | None = None
    split_at: float | None = None
    result: Any = None
    error: str | None = None
    failed_by: list[str] = []
    data: dict[str, Any] = {}
    visited: list[str] = []
    traceparent: str | None = None
    digest: str | None = None
    """What its creator's draft came to, so that a known id is told from a taken one (T3)."""


class Page(NamedTuple):
    """Some tasks, and where to read on; the last page is empty."""

    items: list[CarriedTask]
    cursor: int


class NeedsOthers(NamedTuple):
    """A task that was not stored, since it needs some that are not here yet."""

    missing: list[str]


def page(tx: Transaction, after: int = 0, limit: int = 200) -> Page:
    """Tasks in the order in which they were stored: what a task needs comes before it, except for its parts."""
    rows = tx.all(PAGE, after=after, limit=limit)
    if not rows:
        return Page([], after)
    last: int = rows[-1].seq
    needs: defaultdict[str, list[str]] = defaultdict(list)
    for need in tx.all(PAGE_NEEDS, after=after, last=last):
        needs[need.task_id].append(need.needs_id)
    return Page([_carried(row, needs[row.id]) for row in rows], last)


def _carried(row: Row, needs: list[str]) -> CarriedTask:
    return CarriedTask(
        task_id=row.id,
        description=row.description,
        state=row.state,
        agent=row.agent,
        capability=row.capability,
        priority=row.priority,
        dependencies=needs,
        anyway=bool(row.anyway),
        created_by=row.created_by,
        created_at=row.created_at,
        origin=row.origin,
        estimated_seconds=row.estimated_s,
        attempts=row.attempts - (row.state == "running"),
        max_attempts=row.max_attempts,
        parent_id=row.parent_id,
        project_id=row.project_id,
        dedupe_key=row.dedupe_key,
        schedule=row.schedule,
        not_before=row.not_before,
        deadline=row.deadline,
        approval=row.approval,
        waiting_for=row.waiting_for,
        claimed_at=row.claimed_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        progress=row.progress,
        progress_at=row.progress_at,
        split_at=row.split_at,
        result=msgspec.json.decode(row.result) if row.result else None,
        error=row.error,
        failed_by=msgspec.json.decode(row.failed_by),
        data=msgspec.json.decode(row.data),
        visited=msgspec.json.decode(row.visited),
        traceparent=row.traceparent,
        digest=row.digest,
    )


def runs(tx: Transaction, after: str = "", limit: int = 500) -> list[Row]:
    """Runs in the order of their ids: all columns."""
    return tx.all(PAGE_RUNS, after=after, limit=limit)
