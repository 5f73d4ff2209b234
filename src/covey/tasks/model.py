"""What a task is and which moves it may make: data, bounds, the one table of K1. No I/O."""

from __future__ import annotations

import hashlib
from typing import Any, Literal, NamedTuple

import msgspec

from covey.base.errors import IllegalMove, Invalid
from covey.base.wire import check_text
from covey.messages.checking import BODY_BYTES, check_due, check_id, check_name, check_size, check_time, data_text
from covey.messages.model import Priority, priority_of

TaskState = Literal["queued", "blocked", "running", "done", "failed", "cancelled"]
Origin = Literal["operator", "agent", "generated", "split", "workflow"]

PLANNED = "planned"
"""The key under which a planned task's data says what it was made from, and for."""

Only = Literal["all", "ungenerated", "asked"]
"""Which tasks may be claimed: all, all that planning did not make, or those alone that a person asked for (P3)."""
ONLY: tuple[Only, ...] = ("all", "ungenerated", "asked")

OPEN: frozenset[str] = frozenset({"queued", "blocked", "running"})
ENDED: frozenset[str] = frozenset({"done", "failed", "cancelled"})
MAX_ATTEMPTS = 3
ESTIMATE_S = 1800.0
NEEDS = 100
YEAR_S = 366 * 86400.0
"""Bounds and defaults of K1 and K4a."""

MOVES: dict[str, dict[str, str]] = {
    "queued": {"claim": "running", "block": "blocked", "cancel": "cancelled", "fail": "failed", "split": "blocked"},
    "blocked": {"unblock": "queued", "cancel": "cancelled", "fail": "failed", "join": "done", "split": "blocked"},
    "running": {
        "finish": "done",
        "fail": "failed",
        "retry": "queued",
        "give_back": "queued",
        "wait": "blocked",
        "split": "blocked",
        "cancel": "cancelled",
    },
    "done": {},
    "failed": {"retry_by_hand": "queued"},
    "cancelled": {},
}
"""State → move → state. Whatever is not here is refused (K1)."""


def after_move(state: str, move: str) -> str:
    """The state after a move.

    Raises:
        IllegalMove: The table has no such move.
    """
    found = MOVES[state].get(move)
    if found is None:
        allowed = ", ".join(sorted(MOVES[state])) or "nothing: it has ended"
        raise IllegalMove(
            f"a task that is {state} can't {move.replace('_', ' ')}; what it can do: {allowed.replace('_', ' ')}.", state=state, move=move
        )
    return found


class Repeat(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """When a task comes again (K6a): `every` so many seconds, or by a cron line in a time zone."""

    every: float | None = None
    cron: str = ""
    time_zone: str = "UTC"


class TaskDraft(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """A task as somebody wants it done (K1). Required: `description`.

    `from`, `createdBy` and `assignedBy` may say who the caller is anyway; `createdAt` is the store's to set and is passed over.
    """

    description: str
    agent: str | None = None
    """An agent, `@capability`, or None for whoever is free."""
    task_id: str | None = None
    capability: str | None = None
    priority: str | int = "medium"
    dependencies: list[str] = []
    anyway: bool = False
    """Whether it runs even when what it needs failed (K3)."""
    project_id: str | None = None
    dedupe_key: str | None = None
    not_before: float | None = None
    deadline: float | None = None
    estimated_seconds: float | None = None
    max_attempts: int = MAX_ATTEMPTS
    approval: bool = False
    data: dict[str, Any] = {}
    schedule: Repeat | None = None
    traceparent: str | None = None
    from_: str | None = msgspec.field(default=None, name="from")
    created_by: str | None = None
    assigned_by: str | None = None
    created_at: float | None = None


class CheckedTask(NamedTuple):
    """A draft that passed the rules that need no store."""

    agent: str | None
    capability: str | None
    priority: Priority
    data_json: str
    estimated_s: float
    digest: str


def check(draft: TaskDraft) -> CheckedTask:
    """The draft's derived parts, once its form and bounds are right.

    Raises:
        Invalid, TooLarge: `field` names what is wrong; nothing is stored.
    """
    _check_description(draft.description)
    for field, ident in (("taskId", draft.task_id), ("dedupeKey", draft.dedupe_key)):
        check_id(field, ident)
    for field, name in (
        *(("agent", draft.agent), ("capability", draft.capability), ("projectId", draft.project_id)),
        *(("traceparent", draft.traceparent), ("from", draft.from_), ("createdBy", draft.created_by), ("assignedBy", draft.assigned_by)),
    ):
        check_name(field, name)
    _check_needs(draft.dependencies)
    for field, flag in (("anyway", draft.anyway), ("approval", draft.approval)):
        if not isinstance(flag, bool):
            raise Invalid(f"{field} is {flag!r}; give true or false.", field=field)
    if isinstance(draft.max_attempts, bool) or not 1 <= draft.max_attempts <= 100:
        raise Invalid(f"maxAttempts is {draft.max_attempts}; it may be 1 to 100.", field="maxAttempts")
    check_time("createdAt", draft.created_at)
    for field, at in (("notBefore", draft.not_before), ("deadline", draft.deadline)):
        check_due(field, at)
    estimated = ESTIMATE_S if draft.estimated_seconds is None else draft.estimated_seconds
    check_time("estimatedSeconds", estimated)
    if not 0 < estimated <= YEAR_S:
        raise Invalid(f"estimatedSeconds is {estimated}; it may be more than 0 and at most a year.", field="estimatedSeconds")
    agent, capability = _addressed(draft)
    priority = priority_of(draft.priority)
    data_json = data_text(draft.data, "data")
    words = (
        *(draft.description, agent, capability, priority, sorted(draft.dependencies), data_json, draft.project_id, estimated),
        *(draft.anyway, draft.approval, draft.not_before, draft.deadline, draft.max_attempts, draft.schedule),
    )
    return CheckedTask(agent, capability, priority, data_json, estimated, hashlib.blake2b(repr(words).encode(), digest_size=12).hexdigest())


def _check_description(text: object) -> None:
    if not isinstance(text, str):
        raise Invalid(f"description is a {type(text).__name__}; give text.", field="description")
    if not text.strip():
        raise Invalid("description is empty; say what is to be done.", field="description")
    check_text(text, "description")
    check_size("description", len(text.encode()), BODY_BYTES)


def _check_needs(names: list[str]) -> None:
    if len(names) > NEEDS:
        raise Invalid(f"dependencies names {len(names)} tasks; at most {NEEDS} are taken.", field="dependencies")
    for name in names:
        check_id("dependencies", name)


def _addressed(draft: TaskDraft) -> tuple[str | None, str | None]:
    if draft.agent is not None and draft.agent.startswith("@"):
        return None, draft.agent[1:]
    if draft.agent in (None, "", "*"):
        return None, draft.capability or "general"
    return draft.agent, draft.capability


def queue_of(agent: str | None, capability: str | None, priority: str) -> str:
    """Where it waits: an agent's own queue, or the urgent or global one of a capability (K2)."""
    if agent is not None:
        return agent
    return f"{'urgent' if priority == 'urgent' else 'global'}:{capability or 'general'}"


def is_shared(queue: str) -> bool:
    """Whether several may take from it; an agent's own queue has the agent's name (K2)."""
    return ":" in queue


class Task(msgspec.Struct, rename="camel", kw_only=True):
    """A task as it is shown: the seeds' fields and those of K1."""

    task_id: str
    description: str
    state: str
    priority: str
    queue: str
    dependencies: list[str] = []
    created_by: str
    created_at: float
    assigned_by: str
    agent: str | None = None
    capability: str | None = None
    origin: str
    estimated_seconds: float
    attempts: int = 0
    max_attempts: int = MAX_ATTEMPTS
    parent_id: str | None = None
    project_id: str | None = None
    dedupe_key: str | None = None
    schedule: str | None = None
    not_before: float | None = None
    deadline: float | None = None
    approval: str | None = None
    anyway: bool = False
    blockers: int = 0
    waiting_for: str | None = None
    holder: str | None = None
    run_id: str | None = None
    lease_ends: float | None = None
    claimed_at: float | None = None
    start_time: float | None = None
    estimated_completion: float | None = None
    finished_at: float | None = None
    progress: str | None = None
    result: Any = None
    error: str | None = None
    data: dict[str, Any] = {}
    visited: list[str] = []
    traceparent: str | None = None
    known: bool = False
    differs: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.state in OPEN

    @classmethod
    def from_row(cls, row: Any, dependencies: list[str] | None = None) -> Task:
        """The task of a row of `tasks`."""
        start = row.started_at or row.claimed_at
        return cls(
            task_id=row.id,
            description=row.description,
            state=row.state,
            priority=row.priority,
            queue=row.queue,
            dependencies=dependencies or [],
            created_by=row.created_by,
            created_at=row.created_at,
            assigned_by=row.created_by,
            agent=row.agent,
            capability=row.capability,
            origin=row.origin,
            estimated_seconds=row.estimated_s,
            attempts=row.attempts,
            max_attempts=row.max_attempts,
            parent_id=row.parent_id,
            project_id=row.project_id,
            dedupe_key=row.dedupe_key,
            schedule=row.schedule,
            not_before=row.not_before,
            deadline=row.deadline,
            approval=row.approval,
            anyway=bool(row.anyway),
            blockers=row.blockers,
            waiting_for=row.waiting_for,
            holder=row.holder,
            run_id=row.run_id,
            lease_ends=row.lease_ends,
            claimed_at=row.claimed_at,
            start_time=start,
            estimated_completion=start + row.estimated_s if start else None,
            finished_at=row.finished_at,
            progress=row.progress,
            result=msgspec.json.decode(row.result) if row.result else None,
            error=row.error,
            data=msgspec.json.decode(row.data),
            visited=msgspec.json.decode(row.visited),
            traceparent=row.traceparent,
        )
