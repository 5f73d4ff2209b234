"""A plan is asked of the supervisor's brain: a task of its own, whose outcome's tasks are the steps of the run (Q2)."""

from __future__ import annotations

from collections.abc import Sequence

from covey.agents import roster
from covey.agents.model import THE_SYSTEM, Caller
from covey.store import Row, Transaction, statement
from covey.tasks import adding, changing
from covey.tasks import reading as tasks
from covey.tasks.model import OPEN, Task, TaskDraft
from covey.teams.runs import choosing, reading
from covey.teams.runs.choosing import Worker
from covey.teams.runs.model import MOST_WORKERS, TeamDraft

PLAN_ASKED = statement(__package__, "plan_asked")
OF_PLAN = statement(__package__, "of_plan")

TRIES = 2
ESTIMATE_S = 120.0
WAIT_S = 600.0
"""A plan that was not begun after so long is not waited for any more."""
PLAN = "plan"
UNABLE = ("rules", "external")
"""Brains that make no plan: a rules brain can't, an external one may never call."""


def ask(tx: Transaction, row: Row, draft: TeamDraft, by: Caller) -> bool:
    """Whether the supervisor's brain is asked for the plan; not if there is none, it can't, or nothing is to be cut up."""
    if draft.supervisor is None or draft.parts or draft.mode != "coordinate":
        return False
    if roster.find(tx, draft.supervisor, field="supervisor").brain in UNABLE:
        return False
    names = _workers(tx, draft)
    wanted = TaskDraft(
        description=words(draft, choosing.workers(tx, names)),
        agent=draft.supervisor,
        task_id=f"{row.id}-{PLAN}",
        priority=draft.priority,
        estimated_seconds=ESTIMATE_S,
        max_attempts=TRIES,
        deadline=tx.now + WAIT_S,
        data={"team": row.id, "plan": True},
    )
    task = adding.add(tx, wanted, by, origin="workflow", parent=row.id)
    tx.run(PLAN_ASKED, id=row.id, task_id=task.task_id)
    return True


def _workers(tx: Transaction, draft: TeamDraft) -> list[str]:
    """Whom a plan may name."""
    return draft.workers or [name for name in roster.all_names(tx) if name != draft.supervisor][:MOST_WORKERS]


def workers_of(tx: Transaction, task_id: str) -> list[str]:
    """Whom the plan that a task makes may name; nobody if no run waits for it."""
    ident = run_of_plan(tx, task_id)
    return _workers(tx, reading.draft_of(reading.found(tx, ident))) if ident is not None else []


def words(draft: TeamDraft, workers: Sequence[Worker]) -> str:
    """What the supervisor's brain is asked. Pure."""
    who = "\n".join(f"- {each.name}: able to {', '.join(sorted(each.capabilities))}; {each.tasks} open tasks" for each in workers)
    return (
        f"Plan, and don't do, this: {draft.goal}\n\n"
        f"Cut it into parts that your workers can do side by side. The workers:\n{who}\n\n"
        'Answer with this JSON object alone: {"kind": "split", "tasks": [{"taskId": "a", "description": "…", "agent": "@capability"},'
        ' {"taskId": "b", "description": "…", "agent": "a worker\'s name", "dependencies": ["a"]}, …]}.'
        " Each part must stand for itself; one that needs the results of others names them in dependencies and gets them with its task."
    )


def is_plan(task: Task | None) -> bool:
    """Whether this is a task by which a plan is asked for. Pure."""
    return task is not None and task.origin == "workflow" and task.data.get("plan") is True and task.data.get("team") == task.parent_id


def run_of_plan(tx: Transaction, task_id: str) -> str | None:
    """The run that waits for the plan that this task makes."""
    row = tx.one(OF_PLAN, task_id=task_id)
    return row.id if row is not None else None


def drop(tx: Transaction, row: Row, why: str) -> None:
    """The plan of a run is not wanted any more."""
    task = tasks.seek(tx, row.plan_task) if row.plan_task is not None else None
    if task is not None and task.state in OPEN:
        changing.cancel(tx, task.id, THE_SYSTEM, why)
