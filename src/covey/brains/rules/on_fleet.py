"""Reports on who is in the fleet and how it is built: status, buddies, contexts, how work flows, who covers what. From records alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from covey.agents import configuring, roster
from covey.brains.rules.desk import Desk, Findings, bullets, lines
from covey.reports import pulse, status
from covey.reports.phrases import count, listed, percent, span, when
from covey.reports.why_agent import reason_of
from covey.store import Transaction
from covey.tasks import reading, scheduling

CHECK_DUE_S = 4_200.0
"""A buddy check is overdue after an hour and ten minutes (B2)."""


async def fleet_status(desk: Desk) -> Findings:
    """Every agent's status, with the fact behind it."""
    pulses = await desk.read(pulse.of_all)
    counted = Counter(each.status for each in pulses)
    said = [f"{each.agent.id} is {each.status}: {reason_of(each)}{_beside(each)}" for each in pulses]
    trouble = [each for each in pulses if each.why_not_able is not None]
    head = f"{count(len(pulses), 'agent').capitalize()}: {listed([f'{number} {name}' for name, number in counted.most_common()])}."
    able = (
        "All of them take work."
        if not trouble
        else f"Not able to take work: {listed([f'{each.agent.id} {each.why_not_able}' for each in trouble], most=10)}."
    )
    rows = [status.state_of(each, [], []) for each in pulses]
    agents = [{name: row[name] for name in ("agentId", "status", "flags", "queueLength", "unread")} for row in rows]
    return Findings(lines(head, able, bullets(said, 20)), {"counts": dict(counted), "agents": agents})


def _beside(each: pulse.Pulse) -> str:
    flag = f"; it {each.why_not_able}" if each.agent.paused_at is not None or each.agent.stopped_at is not None else ""
    return f"{flag}; {count(each.unread, 'unread message')}" if each.unread else flag


async def buddies(desk: Desk) -> Findings:
    """Who watches whom, when they last looked, and how the watched are."""
    by_name = {each.agent.id: each for each in await desk.read(pulse.of_all)}
    watching = [(each, by_name[each.agent.buddy]) for each in by_name.values() if each.agent.buddy in by_name]
    if not watching:
        return Findings("Nobody in this fleet watches anybody.", {"buddies": []})
    said = [f"{each.agent.id} watches {other.agent.id}, which is {other.status}, and {_looked(each)}" for each, other in watching]
    overdue = [each.agent.id for each, _ in watching if _is_overdue(each)]
    rows = [
        {
            "agentId": each.agent.id,
            "buddyId": other.agent.id,
            "lastCheck": each.vitals.last_buddy_check,
            "overdue": each.agent.id in overdue,
        }
        for each, other in watching
    ]
    head = f"{len(watching)} of {count(len(by_name), 'agent')} watch another; a check is due each hour."
    return Findings(
        lines(head, f"Overdue: {listed(overdue, most=20)}." if overdue else "No check is overdue.", bullets(said, 20)), {"buddies": rows}
    )


def _looked(each: pulse.Pulse) -> str:
    last = each.vitals.last_buddy_check
    return f"last looked {when(last, each.now)}" if last is not None else "has not looked yet"


def _is_overdue(each: pulse.Pulse) -> bool:
    """Whether its check is late, counted from its start if it has made none; one that does not run owes none."""
    since = max(each.vitals.last_buddy_check or 0.0, each.vitals.started_at or 0.0)
    return not each.silent and each.now - since > CHECK_DUE_S


async def contexts(desk: Desk) -> Findings:
    """How full each agent's context is."""
    pulses = await desk.read(pulse.of_all)
    rows = sorted(
        ((each.context_size / each.settings.max_context, each) for each in pulses if each.settings.max_context), key=lambda pair: -pair[0]
    )
    said = [
        f"{each.agent.id}: {each.context_size:,} of {each.settings.max_context:,} tokens ({percent(share)})"
        for share, each in rows
        if each.context_size
    ]
    full = [each.agent.id for share, each in rows if share > 0.8]
    head = f"Above 80 %: {listed(full, most=20)}." if full else "No agent's context is above 80 %."
    data = {"contexts": {each.agent.id: {"size": each.context_size, "max": each.settings.max_context} for _, each in rows}}
    return Findings(lines(head, bullets(said, 20) if said else "Nobody has anything in its context yet."), data)


async def workflow(desk: Desk) -> Findings:
    """How work flows through this fleet, written from its configuration and records."""
    agents, projects = await desk.read(roster.everyone), await desk.read(configuring.projects)
    schedules = await desk.read(_schedules)
    lead, deputy = await desk.read(roster.lead)
    queues, counts = await desk.read(reading.queue_lengths), await desk.read(reading.counts)
    who = [
        f"{agent.id} ({agent.brain} brain): {agent.role or 'no role is written'}; able of {listed(agent.capabilities, most=10)}"
        for agent in agents
    ]
    where = [f"{each.name} at {each.path or 'no path'}, with {listed(each.agents, most=10) or 'nobody assigned'}" for each in projects]
    said = [
        f"The lead is {lead}, its deputy {deputy}; they hear of failures and of answers that never came.",
        "A task for one agent waits in its own queue; one for a capability in the global or urgent queue, until an able agent takes it.",
        "A task that needs others is blocked until they are done; one that wants approval until the operator gives it.",
        f"Now there are {listed([f'{number:,} {state}' for state, number in sorted(counts.items())], most=10) or 'no tasks'}.",
        f"Queues with ready work: {listed([f'{name} ({number})' for name, number in sorted(queues.items())], most=15)}."
        if queues
        else "No queue has ready work.",
        f"Schedules: {listed(schedules, most=20)}." if schedules else "There are no schedules.",
    ]
    projects_said = f"Projects:\n{bullets(where, 20)}" if where else "There are no projects."
    head = f"How this fleet works, as of {when(desk.now, desk.now).partition('(')[2].rstrip(')')}:"
    data = {
        "lead": lead,
        "deputy": deputy,
        "agents": [agent.id for agent in agents],
        "projects": [each.name for each in projects],
        "schedules": schedules,
        "tasks": counts,
    }
    return Findings(lines(head, *said, projects_said, f"Who is here:\n{bullets(who, 30)}"), data)


def _schedules(tx: Transaction) -> list[str]:
    return [row.name for row in tx.all(scheduling.ALL)]


async def coverage(desk: Desk) -> Findings:
    """Which capabilities somebody able has, and which hang on one agent or on nobody."""
    pulses = await desk.read(pulse.of_all)
    able: defaultdict[str, list[str]] = defaultdict(list)
    for each in pulses:
        for capability in each.agent.capabilities:
            able[capability] += [each.agent.id] if each.why_not_able is None else []
    nobody = sorted(name for name, agents in able.items() if not agents)
    single = sorted(f"{name} ({agents[0]})" for name, agents in able.items() if len(agents) == 1)
    return Findings(
        lines(
            f"The fleet has {count(len(able), 'capability', 'capabilities')}.",
            f"With nobody able right now: {listed(nobody, most=30)}." if nobody else "For each of them somebody is able right now.",
            f"With one able agent only: {listed(single, most=30)}." if single else None,
        ),
        {"able": dict(sorted(able.items())), "nobody": nobody},
    )


async def own_state(desk: Desk) -> Findings:
    """How one is oneself."""
    found: dict[str, Any] = await desk.read(status.agent_state, desk.agent)
    each = await desk.read(pulse.of_one, desk.agent)
    task = found["currentTask"]
    work = (
        f"I work on {task['taskId']} (“{task['description'][:120]}”) since {when(task['startTime'], desk.now)}."
        if task
        else "I work on no task right now."
    )
    metrics = found["metrics"]
    average = f", {span(metrics['averageTaskTime'])} each on average" if metrics["tasksCompleted"] else ""
    return Findings(
        lines(
            f"I am {desk.agent}, {found['status']}: {reason_of(each)}.",
            work,
            f"In my queue: {count(found['queueLength'], 'task')}; in my mailbox: {count(found['unread'], 'message')}.",
            f"So far I finished {count(metrics['tasksCompleted'], 'task')}{average}.",
        ),
        found,
    )
