"""Give an idle agent something to do: the one verb that a cycle, a buddy or a person calls (P2). What to give is `choosing`'s to say."""

from __future__ import annotations

from typing import NamedTuple

from covey.agents import roster
from covey.agents.model import THE_SYSTEM, Agent, Caller
from covey.base.ids import is_agent_name
from covey.base.settings import AgentSettings, Settings
from covey.brains.rules.words import hear
from covey.planning import asking, budgets, choosing, templates
from covey.planning.choosing import Choice, Past, Scene
from covey.planning.model import ANY, LATER_S, MOST_AT_ONCE, Planned, Template, topic_of
from covey.planning.templates import Templates
from covey.reports import pulse, spending
from covey.reports.phrases import count, listed, utc
from covey.reports.pulse import Pulse
from covey.reports.spending import Budget, is_planned
from covey.store import Transaction, locking, statement
from covey.tasks import adding
from covey.tasks.model import OPEN, PLANNED, TaskDraft

PASTS = statement(__package__, "pasts")
OPEN_TASKS = statement(__package__, "open_tasks")
MADE = statement(__package__, "made")
LOOKED = statement(__package__, "looked")
WAITING_FOR = statement(__package__, "waiting_for")
DECISIONS = statement(__package__, "decisions")
UNABLE = statement(__package__, "unable")

DECISIONS_READ = 20
ROOM_TAKEN = "its generated tasks wait for the operator's approval"


class Room(NamedTuple):
    """How many more tasks an agent may be given now; if none, why and until when."""

    tasks: int
    why: str = ""
    until: float | None = None


@locking(lambda agent, *_, **__: [("agent", agent)] if is_agent_name(str(agent)) else [])
def plan(tx: Transaction, agent: str, settings: Settings, by: Caller = THE_SYSTEM) -> Planned:
    """What an idle agent with an empty queue is given to do now: three tasks at most, or none, and why (P2, P3).

    It may be called by anybody, at any time and as often as one likes: it looks for itself whether the agent is idle, and what it gave
    a moment ago it does not give again. `by` is who found the agent idle.

    Raises:
        Unknown, Gone: There is no such agent.
    """
    tx.lock("agent", agent)
    found = pulse.of_one(tx, agent, settings.stale_s)
    busy = why_not_now(tx, found)
    if busy:
        return Planned(agent, (), busy)
    if not is_planned(found.agent):
        return _looked(tx, agent, why_off(found.settings), tx.now + LATER_S)
    room = room_of(tx, agent, found.settings)
    if room.tasks <= 0:
        return _looked(tx, agent, room.why, min(room.until or tx.now + LATER_S, tx.now + LATER_S))
    known = templates.of(settings.planning)
    if known.refused:
        return _looked(tx, agent, f"the templates are refused: {known.refused.splitlines()[0]}", tx.now + LATER_S)
    asked = asking.ask(tx, found, settings, by)
    if asked is not None:
        return _looked(tx, agent, f"asked to propose tasks: {asked}", tx.now, made=(asked,))
    return _give(tx, found, known, room, by)


def _give(tx: Transaction, found: Pulse, known: Templates, room: Room, by: Caller) -> Planned:
    agent = found.agent.id
    role = role_of(found.agent, known.roles)
    chosen = choosing.choose(known.of_role(role), scene_of(tx, found, known), _pasts(tx, agent), room.tasks)
    made = tuple(_make(tx, found, each, by) for each in chosen.now)
    if not made and not chosen.fitting:
        return _looked(tx, agent, f"no template of the role {role} is one that its {found.settings.brain.kind} brain can do", None)
    if not made:
        return _looked(tx, agent, "all that it can do was done a short while ago", chosen.next_at)
    return _looked(tx, agent, f"{count(len(made), 'task')} planned", chosen.next_at, made=made)


def why_not_now(tx: Transaction, found: Pulse) -> str:
    """Why this is not the moment; empty if it is idle and nothing waits in its queue but for an approval."""
    if found.why_not_able is not None:
        return f"it {found.why_not_able}"
    if found.status != "idle":
        return f"it is {found.status}, not idle"
    waiting = [row for row in tx.all(OPEN_TASKS, agent=found.agent.id) if not (row.origin == "generated" and row.approval == "wanted")]
    return f"its queue is not empty: {listed([row.id for row in waiting])}" if waiting else ""


def why_off(settings: AgentSettings) -> str:
    """Why an agent's idle time is not planned. Pure."""
    if settings.plan is False:
        return "planning is off for it (plan = false)"
    return f"planning is off for it: its {settings.brain.kind} brain may cost money or act outside; plan = true turns it on"


def room_of(tx: Transaction, agent: str, settings: AgentSettings) -> Room:
    """How many tasks may be generated for an agent now, by its open ones and by all budgets (P2, P3)."""
    generated = [row for row in tx.all(OPEN_TASKS, agent=agent) if row.origin == "generated" and row.schedule is None]
    if len(generated) >= MOST_AT_ONCE:
        return Room(0, ROOM_TAKEN)
    own = spending.tasks_of(tx, agent)
    if own.is_spent:
        budgets.tell(tx, own, agent)
        return _spent(own)
    if settings.brain.kind != "rules":
        fleet = spending.spent_of_fleet(tx)
        if fleet is not None:
            budgets.tell(tx, fleet)
            return _spent(fleet)
    return Room(min(MOST_AT_ONCE - len(generated), int(own.left)))


def _spent(budget: Budget) -> Room:
    again = f"; there is something again at {utc(budget.renews_at)}" if budget.renews_at is not None else ""
    return Room(0, f"the budget is spent: {spending.said(budget)} in 24 hours{again}", budget.renews_at)


def role_of(agent: Agent, roles: frozenset[str]) -> str:
    """The role whose templates an agent is given. Pure."""
    return role_named(agent.id, agent.role, roles)


def role_named(name: str, role: str, roles: frozenset[str]) -> str:
    """The role by an agent's name, else by the first word of what its role says, else `any`. Pure."""
    first = role.split(maxsplit=1)[0].strip("-:,.").casefold() if role.strip() else ""
    return next((each for each in (name, first) if each in roles), ANY)


def scene_of(tx: Transaction, found: Pulse, known: Templates) -> Scene:
    """What the choice for an agent goes by."""
    agent = found.agent.id
    kind = found.settings.brain.kind
    unable = {row.template for row in tx.all(UNABLE, agent=agent)}
    decided = " ".join(row.text for row in tx.all(DECISIONS, agent=agent, limit=DECISIONS_READ))
    everyone = {each.id: each for each in roster.everyone(tx)}
    waiting = (everyone.get(row.sender) for row in tx.all(WAITING_FOR, agent=agent))
    return Scene(
        now=tx.now,
        capabilities=frozenset(found.agent.capabilities),
        projects=found.projects,
        words=hear(decided).words if decided else frozenset(),
        waiting=frozenset(role_of(each, known.roles) for each in waiting if each is not None),
        partners=_partners(found.agent, list(everyone.values()), known),
        can=lambda template: bool(template.rules) if kind == "rules" else template.id not in unable,
    )


def _partners(agent: Agent, everyone: list[Agent], known: Templates) -> dict[str, str]:
    """Who plays which role beside it: its buddy before others. A partner is told unasked, so it is one whose own time is planned. Pure."""
    fit = [each for each in everyone if each.id != agent.id and each.takes_work and is_planned(each)]
    found: dict[str, str] = {}
    for each in sorted(fit, key=lambda one: (one.id != agent.buddy, one.place)):
        found.setdefault(role_of(each, known.roles), each.id)
    return found


def _pasts(tx: Transaction, agent: str) -> dict[str, Past]:
    return {row.template: Past(row.at, row.finished_at, row.state in OPEN) for row in tx.all(PASTS, agent=agent)}


def _make(tx: Transaction, found: Pulse, choice: Choice, by: Caller) -> str:
    """The id of the task; one that is open under its key already is not made again, and counts no second time."""
    agent, template = found.agent.id, choice.template
    draft = TaskDraft(
        description=_description(template, choice.partner, found.settings.brain.kind),
        agent=agent,
        priority=template.priority,
        project_id=choice.project,
        dedupe_key=topic_of(choice.key, agent),
        estimated_seconds=template.estimate_s,
        approval=template.approval,
        data={PLANNED: {"template": template.id, "role": template.role, "with": choice.partner}},
    )
    task = adding.add(tx, draft, THE_SYSTEM, origin="generated")
    tx.run(MADE, agent=agent, template=choice.key, task_id=task.task_id, now=tx.now)
    if not task.known:
        budgets.count(tx, agent, task.task_id, "template")
        tx.happened(
            "task.planned",
            agent=agent,
            subject=task.task_id,
            by=by.name,
            template=choice.key,
            partner=choice.partner,
            relevance=choice.relevance,
        )
    return task.task_id


def _description(template: Template, partner: str | None, kind: str) -> str:
    """The template's words; a brain that can write is told what a partner is for. The rules brain knows by the task's data. Pure."""
    if partner is None or kind == "rules":
        return template.text
    return f"{template.text}\n\nDo this with {partner}: ask what you need to know of its work, and tell it what you find."


def _looked(tx: Transaction, agent: str, why: str, next_at: float | None, made: tuple[str, ...] = ()) -> Planned:
    """What the look came to, remembered for `why`, and for who asks next."""
    again = min(next_at if next_at is not None else tx.now + LATER_S, tx.now + LATER_S)
    tx.run(LOOKED, agent=agent, now=tx.now, next_at=again, why=why[:500], made=len(made))
    return Planned(agent, made, why, again)
