"""Unasked work makes more work: that counts on the budget of who makes it, and starts no brain for which planning is off (P3)."""

from __future__ import annotations

from covey.agents import roster
from covey.agents.model import as_agent
from covey.base.errors import BudgetSpent, Forbidden
from covey.planning import budgets
from covey.reports import spending
from covey.reports.phrases import utc
from covey.reports.spending import is_planned
from covey.store import Transaction
from covey.tasks import adding
from covey.tasks.model import Task, TaskDraft


def is_unasked(task: Task | None) -> bool:
    """Whether a task was made by planning, and not by a person's schedule. Pure."""
    return task is not None and task.origin == "generated" and task.schedule is None


def delegate(tx: Transaction, draft: TaskDraft, delegator: str, visited: tuple[str, ...]) -> Task:
    """The task that an agent makes in doing what was generated for it; for itself or for another.

    Raises:
        BudgetSpent: The agent's own budget of generated tasks is spent.
        Forbidden: It is for an agent whose idle time is not planned.
        CoveyError: As `tasks.adding.add`.
    """
    own = spending.tasks_of(tx, delegator)
    if own.is_spent:
        budgets.tell(tx, own, delegator)
        again = f"; there is something again at {utc(own.renews_at)}" if own.renews_at is not None else ""
        raise BudgetSpent(
            f"nobody asked for this, and {spending.said(own, delegator)} are used in 24 hours{again}.", retry_at=own.renews_at
        )
    _check_goal(tx, draft)
    task = adding.add(tx, draft, as_agent(delegator), origin="generated", visited=visited)
    if not task.known:
        budgets.count(tx, delegator, task.task_id, "delegated")
    return task


def _check_goal(tx: Transaction, draft: TaskDraft) -> None:
    agent = roster.seek(tx, draft.agent) if draft.agent and not draft.agent.startswith("@") else None
    if agent is not None and not is_planned(agent):
        raise Forbidden(f"nobody asked for this, and planning is off for {agent.id}, whose {agent.brain} brain may cost money.")
