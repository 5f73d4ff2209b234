"""What a planner proposes becomes tasks by the same rules and bounds as templates (P4). It is data of a brain's: it approves nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from covey.agents import roster
from covey.agents.model import SYSTEM, THE_SYSTEM
from covey.base.errors import CoveyError, Gone, Unknown
from covey.brains.rules.doable import would_do
from covey.planning import budgets, planning
from covey.planning.asking import PROPOSE
from covey.planning.model import EVERY_S, topic_of
from covey.reports import pulse
from covey.reports.pulse import Pulse
from covey.reports.spending import is_planned
from covey.store import Transaction, statement
from covey.tasks import adding
from covey.tasks.model import OPEN, PLANNED, Task, TaskDraft

FORGET_PROPOSALS = statement(__package__, "forget_proposals")

PRIORITIES = ("low", "medium")
"""Nobody's idle time is more pressing than that."""
LONGEST_S = 86_400.0


def is_asked(task: Task | None) -> bool:
    """Whether this is the task by which a planner is asked. Pure."""
    if task is None or task.agent is None or task.created_by != SYSTEM or task.origin != "generated":
        return False
    return task.dedupe_key == topic_of(PROPOSE, task.agent)


def take(tx: Transaction, planner: str, proposals: Sequence[TaskDraft], stale_s: float | None = None) -> list[tuple[str, str]]:
    """What was refused of a planner's proposals: the first words of each, and why. The rest are tasks now."""
    idle: dict[str, Pulse | str] = {}
    refused = []
    for each in proposals:
        why = _take(tx, planner, each, idle, stale_s)
        if why:
            tx.happened("plan.refused", agent=each.agent, by=planner, head=each.description[:120], why=why[:500])
            refused.append((each.description[:100], why))
    return refused


def _take(tx: Transaction, planner: str, wanted: TaskDraft, idle: dict[str, Pulse | str], stale_s: float | None) -> str:
    """Make the task; or why not."""
    agent = wanted.agent or ""
    if agent not in idle:
        idle[agent] = _state_of(tx, agent, stale_s)
    found = idle[agent]
    if isinstance(found, str):
        return found
    room = planning.room_of(tx, agent, found.settings)
    if room.tasks <= 0:
        return room.why
    brain = found.settings.brain.kind
    if not would_do(brain, wanted.description):
        return f"{agent}'s rules brain can't do that"
    key = f"{PROPOSE}.{hashlib.blake2b(' '.join(wanted.description.casefold().split()).encode(), digest_size=8).hexdigest()}"
    past = next((row for row in tx.all(planning.PASTS, agent=agent) if row.template == key), None)
    if past is not None and (past.state in OPEN or past.at + EVERY_S > tx.now):
        return f"{agent} has that to do already, or had it in the last 24 hours"
    try:
        with tx.attempt():
            task = adding.add(tx, _draft(wanted, agent, key, approval=brain != "rules"), THE_SYSTEM, origin="generated")
    except CoveyError as error:
        return error.message
    tx.run(FORGET_PROPOSALS, agent=agent, before=tx.now - EVERY_S)
    tx.run(planning.MADE, agent=agent, template=key, task_id=task.task_id, now=tx.now)
    if not task.known:
        budgets.count(tx, agent, task.task_id, "proposal")
        tx.happened("task.planned", agent=agent, subject=task.task_id, by=planner, template=key, partner=None, relevance=0)
    return ""


def _state_of(tx: Transaction, agent: str, stale_s: float | None) -> Pulse | str:
    """The agent as it stands, if it is one that may be given something now; else why it may not."""
    try:
        roster.find(tx, agent)
    except (Unknown, Gone) as error:
        return error.message
    tx.lock("agent", agent)
    found = pulse.of_one(tx, agent, stale_s)
    if not is_planned(found.agent):
        return planning.why_off(found.settings)
    return planning.why_not_now(tx, found) or found


def _draft(wanted: TaskDraft, agent: str, key: str, *, approval: bool) -> TaskDraft:
    """The task as it is made: of the proposal only what a planner may say. Pure."""
    estimated = wanted.estimated_seconds
    return TaskDraft(
        description=wanted.description,
        agent=agent,
        priority=wanted.priority if wanted.priority in PRIORITIES else "low",
        project_id=wanted.project_id,
        dedupe_key=topic_of(key, agent),
        estimated_seconds=estimated if estimated is not None and 0 < estimated <= LONGEST_S else None,
        approval=approval,
        data={PLANNED: {"template": key, "proposed": True}},
    )
