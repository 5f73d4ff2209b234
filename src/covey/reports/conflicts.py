"""What gets into each other's way: two in one place, too much in one hand, late work, uneven queues, nobody able. Pure but for one verb."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from statistics import median
from typing import Any

from covey.agents import configuring
from covey.agents.configuring import Project
from covey.reports import open_work, pulse
from covey.reports.open_work import OpenTask
from covey.reports.phrases import count, head, listed, span
from covey.reports.pulse import Pulse
from covey.store import Transaction

SHOWN = 50
LONG_QUEUE = 5
UNEVEN = 3.0
"""A queue of five and more that is three times the others' is uneven."""


def conflicts(tx: Transaction, stale_s: float | None = None) -> list[dict[str, Any]]:
    """What gets into each other's way now: `kind`, one sentence `what`, and the agents and tasks concerned."""
    tasks, _ = open_work.read(tx)
    return list(find_conflicts(tasks, pulse.of_all(tx, stale_s), configuring.projects(tx), tx.now))[:SHOWN]


def find_conflicts(tasks: Sequence[OpenTask], pulses: Sequence[Pulse], projects: Sequence[Project], now: float) -> Iterator[dict[str, Any]]:
    """As `conflicts`, from what was read. Pure."""
    running = [task for task in tasks if task.state == "running"]
    yield from _in_one_place(running, {project.name: project.path for project in projects})
    yield from _held_by_one(running)
    yield from _overdue(tasks, now)
    yield from _uneven(pulses)
    yield from _nobody_able([task for task in tasks if task.state == "queued"], pulses)


def _in_one_place(running: Sequence[OpenTask], paths: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Tasks of different agents that run in one place: one project's, or one inside the other's."""
    placed: defaultdict[PurePath, list[OpenTask]] = defaultdict(list)
    for task in running:
        if task.project_id is not None:
            placed[PurePath(paths.get(task.project_id) or task.project_id)].append(task)
    for outer in placed:
        here = [task for inner, tasks in placed.items() if inner.is_relative_to(outer) for task in tasks]
        if len({task.holder for task in here}) > 1:
            who = listed([f"{task.holder} ({task.id})" for task in here])
            where = listed(sorted({str(task.project_id) for task in here}))
            yield _conflict("same place", f"{who} work at the same time in one place, that of {where}.", *here)


def _held_by_one(running: Sequence[OpenTask]) -> Iterator[dict[str, Any]]:
    held: defaultdict[str, list[OpenTask]] = defaultdict(list)
    for task in running:
        held[task.place].append(task)
    for name, several in held.items():
        if len(several) > 1:
            yield _conflict(
                "several at once", f"{name} works on {len(several)} tasks at once: {listed([task.id for task in several])}.", *several
            )


def _overdue(tasks: Sequence[OpenTask], now: float) -> Iterator[dict[str, Any]]:
    for task in tasks:
        what = f"{task.id} (“{head(task.description, 60)}”)"
        start = task.started_at or task.claimed_at
        if task.state == "running" and start is not None and now - start > task.estimated_s:
            ran = f"has run with {task.holder} for {span(now - start)}"
            yield _conflict("over its estimate", f"{what} {ran}; the estimate was {span(task.estimated_s)}.", task)
        elif task.deadline is not None and task.deadline - now < task.remaining_s(now):
            due = f"is due in {span(task.deadline - now)}" if task.deadline > now else f"was due {span(now - task.deadline)} ago"
            yield _conflict("short of time", f"{what} {due} and needs {span(task.remaining_s(now))} more by its estimate.", task)


def _uneven(pulses: Sequence[Pulse]) -> Iterator[dict[str, Any]]:
    if len(pulses) < 2:
        return
    longest = max(pulses, key=lambda each: each.queue_length)
    others = median(each.queue_length for each in pulses if each is not longest)
    if longest.queue_length >= LONG_QUEUE and longest.queue_length >= UNEVEN * max(others, 1):
        what = f"{count(longest.queue_length, 'task')} wait for {longest.agent.id}; the median of the other agents is {others:g}."
        yield {"kind": "uneven queues", "what": what, "agents": [longest.agent.id], "tasks": []}


def _nobody_able(queued: Sequence[OpenTask], pulses: Sequence[Pulse]) -> Iterator[dict[str, Any]]:
    """Queues with work that nobody can take now (A1a)."""
    takers: defaultdict[str, list[Pulse]] = defaultdict(list)
    for each in pulses:
        for queue in configuring.queues_of(each.agent.id, each.agent.capabilities):
            takers[queue].append(each)
    waiting: defaultdict[str, list[OpenTask]] = defaultdict(list)
    for task in queued:
        waiting[task.queue].append(task)
    for queue, tasks in waiting.items():
        if all(each.why_not_able is not None for each in takers[queue]):
            reasons = listed([f"{each.agent.id} {each.why_not_able}" for each in takers[queue]]) or "nobody has the capability"
            wait = f"{count(len(tasks), 'task')} {'waits' if len(tasks) == 1 else 'wait'} in the queue {queue}"
            yield _conflict("nobody able", f"{wait}, and nobody is able to take work from it: {reasons}.", *tasks)


def _conflict(kind: str, what: str, *tasks: OpenTask) -> dict[str, Any]:
    agents = list(dict.fromkeys(task.place for task in tasks))
    return {"kind": kind, "what": what, "agents": agents[:20], "tasks": [task.id for task in tasks[:20]]}
