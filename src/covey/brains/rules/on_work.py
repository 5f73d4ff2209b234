"""Reports on the open work: its order, load, conflicts, projects, what lies too long. Each reads, then words what it read."""

from __future__ import annotations

from typing import Any

from covey.agents import roster
from covey.agents.model import as_agent
from covey.base.errors import CoveyError
from covey.brains.rules.desk import Desk, Findings, bullets, lines
from covey.reports import conflicts, open_work, timelines, work
from covey.reports.phrases import count, listed, percent, span, waiting, when
from covey.tasks import changing

RAISED_AT_ONCE = 20


async def pending(desk: Desk) -> Findings:
    """The waiting tasks in the order of their pressure. For a task the lead also lends priorities; see `_lend`."""
    raised = await _lend(desk) if desk.is_task else []
    found = await desk.read(work.pending)
    ordered = [f"{each['taskId']} ({each['place']}, {each['state']}): {each['description']} — {each['because']}" for each in found["tasks"]]
    head = f"{waiting(found['waiting'], 'task').capitalize()}{_more(found)}, the most pressing first:"
    said = [f"I raised {ident} to {priority}: a task with that priority waits for it." for ident, priority in raised]
    text = lines(head, bullets(ordered), *said) if ordered else "No task waits anywhere in the fleet."
    return Findings(text, found | {"raised": dict(raised)}, tuple(said))


async def _lend(desk: Desk) -> list[tuple[str, str]]:
    """Raise waiting tasks that a more pressing one waits for to its priority.

    Only the lead does so, and only to tasks that were generated or that it made itself.
    """
    if (await desk.read(roster.lead))[0] != desk.agent:
        return []
    tasks, _ = await desk.read(open_work.read)
    mine = [(task, to) for task, to in open_work.raises(tasks) if task.origin == "generated" or task.created_by == desk.agent]
    raised = []
    for task, priority in mine[:RAISED_AT_ONCE]:
        try:
            await desk.hands.write(changing.reprioritise, task.id, priority, as_agent(desk.agent))
        except CoveyError:  # it was taken or ended meanwhile
            continue
        raised.append((task.id, priority))
    return raised


def _more(found: dict[str, Any]) -> str:
    return f" (of the first {open_work.READ_BOUND:,} open ones)" if found["more"] else ""


async def workload(desk: Desk) -> Findings:
    """Who has how much to do."""
    found = await desk.read(work.workload)
    agents = sorted(found["agents"], key=lambda each: -each["secondsLeft"])
    said = [_load(each) for each in agents if each["running"] or each["queued"] or each["blocked"] or each["notAble"]]
    free = [each["agentId"] for each in agents if not (each["running"] or each["queued"] or each["blocked"] or each["notAble"])]
    shared = [f"{name}: {count(number, 'task')}" for name, number in sorted(found["shared"].items())]
    head = f"{count(found['open'], 'open task').capitalize()}{_more(found)}, {span(found['secondsLeft'])} of work by their estimates."
    return Findings(
        lines(
            head,
            bullets(said),
            f"Free and able: {listed(free, most=20)}." if free else "Nobody is free and able.",
            f"In the shared queues: {listed(shared, most=20)}." if shared else None,
        ),
        found,
    )


def _load(each: dict[str, Any]) -> str:
    tasks = f"{each['running']} running, {each['queued']} queued, {each['blocked']} blocked"
    unable = f"; it {each['notAble']}" if each["notAble"] else ""
    return f"{each['agentId']}: {tasks}, {span(each['secondsLeft'])} left ({percent(each['share'])} of all){unable}"


async def allocation(desk: Desk) -> Findings:
    """How evenly agents, capabilities and context are used, and what that suggests."""
    load = await desk.read(work.workload)
    troubles = [
        each for each in await desk.read(conflicts.conflicts) if each["kind"] in ("uneven queues", "nobody able", "several at once")
    ]
    agents = load["agents"]
    busy = [each for each in agents if each["running"]]
    idle = [each["agentId"] for each in agents if not each["running"] and not each["queued"] and not each["notAble"]]
    unable = [f"{each['agentId']} {each['notAble']}" for each in agents if each["notAble"]]
    heaviest = max(agents, key=lambda each: each["secondsLeft"], default=None)
    head = f"At work on tasks: {len(busy)} of {count(len(agents), 'agent')} ({percent(len(busy) / max(len(agents), 1))})."
    return Findings(
        lines(
            head,
            f"The heaviest load is {heaviest['agentId']}'s: {percent(heaviest['share'])} of all work left."
            if heaviest and heaviest["secondsLeft"]
            else None,
            f"Without work: {listed(idle, most=20)}." if idle else "Nobody who is able is without work.",
            f"Not able: {listed(unable, most=20)}." if unable else None,
            bullets([each["what"] for each in troubles]) if troubles else "No queue is uneven and none is without somebody able.",
        ),
        {"workload": load, "conflicts": troubles},
    )


async def resource_conflicts(desk: Desk) -> Findings:
    """What gets into each other's way now."""
    found = await desk.read(conflicts.conflicts)
    if not found:
        return Findings(
            "I found no conflicts: no two agents work in one place, nothing is late, no queue is uneven or without somebody able.",
            {"conflicts": []},
        )
    return Findings(lines(f"I found {count(len(found), 'conflict')}:", bullets([each["what"] for each in found])), {"conflicts": found})


async def project_timelines(desk: Desk) -> Findings:
    """How each project stands and when it can end at the earliest."""
    found = await desk.read(timelines.timelines)
    if not found["projects"]:
        return Findings("The fleet has no projects: none is configured and no task names one.", found)
    said = [_timeline(each, desk.now) for each in found["projects"]]
    return Findings(lines(f"{count(len(said), 'project').capitalize()}{_more(found)}:", bullets(said, most=30)), found)


def _timeline(each: dict[str, Any], now: float) -> str:
    states = ", ".join(f"{number:,} {state}" for state, number in sorted(each["states"].items())) or "no tasks yet"
    if not each["open"]:
        return f"{each['project']}: {states}; nothing is open"
    chain = " → ".join(step["taskId"] for step in each["criticalPath"])
    held = f"; waiting for an approval or an answer: {listed(each['waitsForSomebody'])}" if each["waitsForSomebody"] else ""
    late = f"; short of time: {listed(each['shortOfTime'])}" if each["shortOfTime"] else ""
    end = f"the earliest end is {when(each['earliestEnd'], now)}, by the estimates along {chain}"
    return f"{each['project']}: {states}; {span(each['secondsLeft'])} of work left; {end}{held}{late}"


async def dependency_chains(desk: Desk) -> Findings:
    """What blocks what: the tasks most others wait for, and the longest chain."""
    tasks, more = await desk.read(open_work.read)
    if not tasks:
        return Findings("No task is open, so nothing waits for anything.", {"open": 0})
    waiters = {ident: len(found) for ident, found in open_work.dependents(tasks).items() if found}
    needed = sorted((task for task in tasks if task.id in waiters), key=lambda task: -waiters[task.id])
    chain = timelines.critical_path(tasks, tasks, desk.now)
    blocked = sum(task.state == "blocked" for task in tasks)
    head = f"{count(len(tasks), 'open task').capitalize()}{_more({'more': more})}, {blocked:,} of them blocked."
    top = [f"{task.id} ({task.place}, {task.state}): {count(waiters[task.id], 'task')} behind it" for task in needed]
    left = span(sum(task.remaining_s(desk.now) for task in chain))
    path = (
        f"The longest chain is {' → '.join(task.id for task in chain[:20])}, {left} of work by the estimates." if len(chain) > 1 else None
    )
    waited = {task.id: waiters[task.id] for task in needed[:50]}
    data = {"open": len(tasks), "blocked": blocked, "chain": [task.id for task in chain], "waiters": waited}
    return Findings(lines(head, bullets(top) if top else "No task waits for another.", path), data)


async def lying(desk: Desk) -> Findings:
    """What has been lying too long in any queue."""
    return _lying(await desk.read(work.lying), "the fleet", desk)


async def own_queue(desk: Desk) -> Findings:
    """What lies in one's own queue."""
    found = await desk.read(work.lying, desk.agent)
    order = await desk.read(work.pending, desk.agent)
    findings = _lying(found, f"{desk.agent}'s queue", desk)
    ordered = [
        f"{each['taskId']} ({each['priority']}, {each['state']}): {each['description']} — {each['because']}" for each in order["tasks"]
    ]
    return Findings(lines(findings.text, f"In order:\n{bullets(ordered)}" if ordered else None), found | {"order": order["tasks"]})


def _lying(found: dict[str, Any], where: str, desk: Desk) -> Findings:
    def named(rows: list[dict[str, Any]]) -> str:
        return listed([f"{row['taskId']} ({row['place']}, {span(row['age'])})" for row in rows], most=10)

    head = f"{count(found['open'], 'open task').capitalize()} in {where}{_more(found)}."
    said = [
        f"Older than {span(work.LYING_S)}: {named(found['old'])}." if found["old"] else "",
        f"Blocked: {named(found['blocked'])}." if found["blocked"] else "",
        f"Waiting for the operator's approval: {named(found['wantApproval'])}." if found["wantApproval"] else "",
        f"Failed before and waiting for another try: {named(found['failedBefore'])}." if found["failedBefore"] else "",
        *(f"There twice: “{each['description']}” for {each['place']} ({listed(each['tasks'])})." for each in found["twice"][:5]),
    ]
    fine = None if any(said) else "Nothing is old, blocked, waiting for approval, failed before or there twice."
    return Findings(lines(head, *said, fine), found | {"at": desk.now})
