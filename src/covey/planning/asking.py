"""Ask the planner's brain what idle agents could do (P4): a task of its own, made like any other. What it proposes is `proposing`'s."""

from __future__ import annotations

from typing import Any

from covey.agents import roster
from covey.agents.model import THE_SYSTEM, Agent, Caller
from covey.base.settings import Settings
from covey.planning import budgets
from covey.planning.due import due
from covey.planning.model import MOST_AT_ONCE, topic_of
from covey.reports.pulse import Pulse
from covey.reports.spending import is_planned
from covey.store import Transaction, statement
from covey.tasks import adding
from covey.tasks.model import PLANNED, TaskDraft

ASKED_LAST = statement(__package__, "asked_last")
MADE = statement(__package__, "made")
DECISIONS = statement(__package__, "decisions")

PROPOSE = "propose"
"""What a planner's task is remembered by, as if it were a template."""
ASKED_FOR = 20
"""So many idle agents are asked for at once."""
ESTIMATE_S = 600.0
TEXT = (
    f"Propose tasks for colleagues that have nothing to do: at most {MOST_AT_ONCE} for each. They are in the data of this task, with their"
    " roles, capabilities, projects and latest decisions. Answer with an Outcome whose `tasks` are what you propose: each has `agent`,"
    " `description`, and if you like `priority`, `estimatedSeconds` and `projectId`. Propose nothing that was done a short while ago,"
    " and nothing at all rather than work for its own sake."
)


def ask(tx: Transaction, found: Pulse, settings: Settings, by: Caller) -> str | None:
    """The id of the task that asks this agent for proposals; None if it is not the planner, or there is nothing to ask now."""
    planner = found.agent.id
    if settings.planning.planner != planner or found.settings.brain.kind == "rules":
        return None
    last = tx.one(ASKED_LAST, agent=planner, template=PROPOSE)
    if last is not None and last.at + settings.planning.planner_every_s > tx.now:
        return None
    idle = [roster.find(tx, name) for name in due(tx, 2 * ASKED_FOR) if name != planner]
    wanting = [_shown(tx, each, settings) for each in idle if is_planned(each)][:ASKED_FOR]
    if not wanting:
        return None
    draft = TaskDraft(
        description=TEXT,
        agent=planner,
        priority="low",
        dedupe_key=topic_of(PROPOSE, planner),
        estimated_seconds=ESTIMATE_S,
        max_attempts=1,
        data={PLANNED: {"template": PROPOSE, "for": wanting}},
    )
    task = adding.add(tx, draft, THE_SYSTEM, origin="generated")
    tx.run(MADE, agent=planner, template=PROPOSE, task_id=task.task_id, now=tx.now)
    if not task.known:
        budgets.count(tx, planner, task.task_id, "template")
        tx.happened("task.planned", agent=planner, subject=task.task_id, by=by.name, template=PROPOSE, partner=None, relevance=0)
    return task.task_id


def _shown(tx: Transaction, agent: Agent, settings: Settings) -> dict[str, Any]:
    return {
        "id": agent.id,
        "role": agent.role,
        "capabilities": list(agent.capabilities),
        "projects": [each.name for each in settings.projects if agent.id in each.agents],
        "decisions": [row.text[:300] for row in tx.all(DECISIONS, agent=agent.id, limit=5)],
    }
