"""The turn that a brain is given for its work: the work itself, the agent's context and colleagues. Read only, outside the write lock."""

from __future__ import annotations

from typing import Any

from covey.agents import configuring, roster
from covey.agents.model import SYSTEM
from covey.brains.model import Asked, Turn
from covey.contexts import checkpoints, reading, sessions
from covey.messages import reading as mail
from covey.messages.envelope import enveloped
from covey.messages.model import MAX_ATTEMPTS, Message
from covey.runner.prompts import guidance
from covey.runner.taking import WAS_ASKED
from covey.runner.work import Work
from covey.store import Transaction
from covey.tasks import reading as tasks
from covey.tasks.model import Task
from covey.teams.handoffs import reading as handoffs


def turn_of(tx: Transaction, work: Work, estimate_s: float, hard_cap_s: float) -> Turn:
    """The turn of this work.

    Raises:
        Unknown, Gone: The agent is no longer of the fleet.
    """
    me = roster.find(tx, work.agent)
    task, main = work.task, work.main
    session = sessions.current(tx, work.agent)
    own = sessions.own(tx, work.agent, work.lane, session.number) if not session.fresh else None
    return Turn(
        run_id=work.run_id,
        kind=work.kind,
        agent=work.agent,
        role=me.role,
        attempt=work.attempt,
        max_attempts=task.max_attempts if task is not None else MAX_ATTEMPTS,
        now=tx.now,
        message=_asked(main) if main is not None else None,
        task=task,
        also=[_asked(message) for message in work.riders],
        answer=_answer(tx, task.waiting_for) if task is not None and task.waiting_for is not None else None,
        parts=tasks.children(tx, task.task_id) if task is not None else [],
        guidance=guidance(tx, work),
        context=reading.told(tx, work.agent),
        session=f"{work.agent}-{session.number}",
        fresh=session.fresh,
        own_session=own.id if own is not None else "",
        own_since=own.since if own is not None else None,
        checkpoint=checkpoints.told(tx, work.agent) if session.fresh else "",
        colleagues=[
            {"id": each.id, "role": each.role, "capabilities": each.capabilities} for each in roster.directory(tx) if each.id != work.agent
        ],
        handoff=handoffs.for_turn(tx, me.id, task.task_id if task is not None else None, main),
        project=_project(tx, _project_of(task, main)),
        deadline_s=run_timeout_s(task.estimated_seconds if task is not None else estimate_s, hard_cap_s),
    )


def run_timeout_s(estimate_s: float, hard_cap_s: float) -> float:
    """How long one try may take: four times the estimate, under the hard cap (K4a). Pure."""
    return min(4 * estimate_s, hard_cap_s)


def _asked(message: Message) -> Asked:
    return Asked(message=message, enveloped=enveloped(message))


def _answer(tx: Transaction, asked: str) -> Asked | None:
    """What came of a question: the latest word of those it went to, else the notice that none comes (M7)."""
    found = mail.answers(tx, asked)
    real = [message for message in found if tx.one(WAS_ASKED, id=asked, receiver=message.from_) is not None]
    notices = [message for message in found if message.from_ == SYSTEM]
    return _asked((real or notices)[-1]) if real or notices else None


def _project_of(task: Task | None, main: Message | None) -> str | None:
    if task is not None:
        return task.project_id
    return main.context.get("projectId") if main is not None else None


def _project(tx: Transaction, name: str | None) -> dict[str, Any] | None:
    if name is None:
        return None
    found = next((each for each in configuring.projects(tx) if each.name == name), None)
    return {"name": found.name, "path": found.path, "agents": found.agents} if found is not None else None
