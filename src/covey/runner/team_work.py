"""What a settled task means for the team run that it is of: a plan is taken, the run goes on, in the same transaction (Q2)."""

from __future__ import annotations

from covey.base.errors import CoveyError
from covey.brains.model import Outcome
from covey.runner.work import Work
from covey.store import Transaction
from covey.tasks import working
from covey.teams.runs import asking, cutting, driving, starting


def is_plan(work: Work, outcome: Outcome) -> bool:
    """Whether the tasks of this outcome are the steps of a run, and no tasks of their own. Pure."""
    return asking.is_plan(work.task) and outcome.kind in ("done", "split") and bool(outcome.tasks)


def take_plan(tx: Transaction, work: Work, outcome: Outcome) -> None:
    """The run has its steps; the task that made the plan is done.

    Raises:
        LeaseLost: The token is not current.
        Invalid: The plan can't be carried out; what is wrong, and who there is, is said.
        Conflict: The run does not wait for it any more.
    """
    steps = cutting.planned(outcome.tasks, asking.workers_of(tx, work.item))
    working.finish(tx, work.agent, work.token, outcome.summary or f"a plan of {len(steps)} parts", outcome.data)
    starting.take_plan(tx, work.item, steps, work.agent)


def go_on(tx: Transaction, work: Work) -> None:
    """The run that the task is of, if any, goes on: what failed is another's now, what is free begins, the last one ends it."""
    if work.task is None or work.task.origin != "workflow":
        return
    try:
        with tx.attempt():
            driving.moved(tx, work.item)
    except CoveyError as error:  # what the worker did stands; the sweep tries again, and says why it can't
        tx.happened("team.stuck", agent=work.agent, subject=work.item, why=error.message[:500])
