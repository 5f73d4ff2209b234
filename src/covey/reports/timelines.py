"""How each project stands: tasks by state, work left, the longest chain of dependencies, the earliest end. Pure but for one verb."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from covey.agents import configuring
from covey.agents.configuring import Project
from covey.reports import open_work
from covey.reports.open_work import OpenTask
from covey.reports.phrases import head
from covey.store import Transaction, statement

TASKS_OF_PROJECTS = statement(__package__, "tasks_of_projects")

SHOWN = 20


def timelines(tx: Transaction) -> dict[str, Any]:
    """Each project's tasks by state, seconds of work left, critical path and earliest end, by the tasks' own estimates."""
    tasks, more = open_work.read(tx)
    states: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for row in tx.all(TASKS_OF_PROJECTS):
        states[row.project_id][row.state] = row.tasks
    known = {project.name: project for project in configuring.projects(tx)}
    return {"more": more, "projects": [_whole(name, states[name], known.get(name), tasks, tx.now) for name in sorted({*known, *states})]}


def _whole(name: str, states: dict[str, int], known: Project | None, tasks: Sequence[OpenTask], now: float) -> dict[str, Any]:
    return timeline(name, tasks, now) | {"states": states, "agents": list(known.agents) if known is not None else []}


def timeline(project: str, tasks: Sequence[OpenTask], now: float) -> dict[str, Any]:
    """One project, from the open tasks of all: what its tasks need in other projects counts in the path. Pure."""
    own = [task for task in tasks if task.project_id == project]
    path = critical_path(tasks, own, now)
    length = sum(task.remaining_s(now) for task in path)
    late = [task.id for task in own if task.deadline is not None and task.deadline < now + task.remaining_s(now)]
    return {
        "project": project,
        "open": len(own),
        "secondsLeft": sum(task.remaining_s(now) for task in own),
        "criticalPath": [_step(task, now) for task in path[:SHOWN]],
        "pathSeconds": length,
        "earliestEnd": now + length if own else None,
        "shortOfTime": late[:SHOWN],
        "waitsForSomebody": [task.id for task in own if _waits_for_somebody(task)][:SHOWN],
    }


def _step(task: OpenTask, now: float) -> dict[str, Any]:
    return {"taskId": task.id, "description": head(task.description, 80), "state": task.state, "secondsLeft": task.remaining_s(now)}


def _waits_for_somebody(task: OpenTask) -> bool:
    """Whether it waits for an approval or an answer, which no estimate covers."""
    return task.approval == "wanted" or (task.state == "blocked" and task.waiting_for is not None)


def critical_path(tasks: Sequence[OpenTask], ends: Sequence[OpenTask], now: float) -> list[OpenTask]:
    """The chain of open tasks, first to last, that takes longest before one of `ends` is done. Pure; a circle is cut where it closes."""
    if not ends:
        return []
    by_id = {task.id: task for task in tasks}
    length: dict[str, float] = {}
    before: dict[str, str | None] = {}
    for end in ends:
        _measure(end, by_id, length, before, now)
    step: str | None = max(ends, key=lambda task: (length[task.id], -task.seq)).id
    path: list[OpenTask] = []
    while step is not None and len(path) < len(by_id):
        path.append(by_id[step])
        step = before[step]
    return path[::-1]


def _measure(end: OpenTask, by_id: dict[str, OpenTask], length: dict[str, float], before: dict[str, str | None], now: float) -> None:
    """Fill in the longest way to `end` and to each task it needs, deepest first, without recursion."""
    line = [end]
    entered: set[str] = set()
    while line:
        task = line[-1]
        needs = [by_id[need] for need in task.needs if need in by_id]
        unmeasured = [need for need in needs if need.id not in length and need.id not in entered]
        if task.id not in length and task.id not in entered and unmeasured:
            entered.add(task.id)
            line.extend(unmeasured)
            continue
        line.pop()
        if task.id in length:
            continue
        longest = max((need for need in needs if need.id in length), key=lambda need: length[need.id], default=None)
        before[task.id] = longest.id if longest is not None else None
        length[task.id] = task.remaining_s(now) + (length[longest.id] if longest is not None else 0.0)
