"""The open tasks with what they need, and what follows from that alone: who waits for whom, what goes first. Pure but for `read`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from covey.store import Transaction, statement

OPEN_WORK = statement(__package__, "open_work")

READ_BOUND = 2_000
"""A report looks at so many open tasks at most, and says so if there are more."""
LEVELS = ("urgent", "high", "medium", "low")


class OpenTask(NamedTuple):
    """One open task, with the ids of what it still needs."""

    id: str
    description: str
    state: str
    queue: str
    agent: str | None
    holder: str | None
    capability: str | None
    priority: str
    not_urgent: int
    sort_key: float
    seq: int
    not_before: float
    project_id: str | None
    origin: str
    created_by: str
    created_at: float
    deadline: float | None
    claimed_at: float | None
    started_at: float | None
    estimated_s: float
    attempts: int
    approval: str | None
    waiting_for: str | None
    parent_id: str | None
    needs: tuple[str, ...]

    def remaining_s(self, now: float) -> float:
        """How much work is left by its estimate; what is over its estimate counts as nothing more."""
        start = self.started_at or self.claimed_at
        done = now - start if self.state == "running" and start is not None else 0.0
        return max(0.0, self.estimated_s - done)

    @property
    def place(self) -> str:
        """Who has it, or where it waits."""
        return self.holder if self.state == "running" and self.holder else self.agent or f"@{self.capability or 'general'}"


def read(tx: Transaction) -> tuple[list[OpenTask], bool]:
    """The open tasks in the order they were made, and whether there are more than a report looks at."""
    rows = tx.all(OPEN_WORK, limit=READ_BOUND + 1)
    found = [OpenTask(*row)._replace(needs=tuple(sorted(row.needs.split())) if row.needs else ()) for row in rows[:READ_BOUND]]
    return sorted(found, key=lambda task: task.seq), len(rows) > READ_BOUND


def dependents(tasks: Sequence[OpenTask]) -> dict[str, set[str]]:
    """For each open task, which open ones wait for it, directly or through others. Pure."""
    direct: defaultdict[str, set[str]] = defaultdict(set)
    for task in tasks:
        for need in task.needs:
            direct[need].add(task.id)
    return {task.id: _reached(task.id, direct) for task in tasks}


def _reached(start: str, direct: defaultdict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    line = [start]
    while line:
        for further in direct.get(line.pop(), ()):
            if further not in found:
                found.add(further)
                line.append(further)
    return found


class Ranked(NamedTuple):
    """A waiting task with what puts it where it stands."""

    task: OpenTask
    waiters: int
    """How many open tasks wait for it, directly or through others."""
    lent_by: OpenTask | None
    """The more pressing task that waits for it, if there is one."""
    short_of_time: bool


def ranked(tasks: Sequence[OpenTask], now: float) -> list[Ranked]:
    """The waiting tasks, the most pressing first. Pure.

    A task counts as pressing as the most pressing one that waits for it. Urgent comes first, then what is short of time for its deadline,
    then the order of the queues (K2).
    """
    by_id = {task.id: task for task in tasks}
    waits_for = dependents(tasks)
    found = []
    for task in tasks:
        if task.state != "running":
            waiters = [by_id[ident] for ident in waits_for[task.id]]
            top = min(waiters, key=_place, default=None)
            lent = top if top is not None and _place(top) < _place(task) else None
            found.append(Ranked(task, len(waiters), lent, _short(task, now) or any(_short(each, now) for each in waiters)))
    return sorted(found, key=_pressing)


def _pressing(each: Ranked) -> tuple[int, bool, tuple[int, float, int], int, tuple[int, float, int]]:
    """Whoever has more waiters comes before its own waiters, for they have fewer."""
    top = _place(each.lent_by or each.task)
    return top[0], not each.short_of_time, top, -each.waiters, _place(each.task)


def raises(tasks: Sequence[OpenTask]) -> Iterable[tuple[OpenTask, str]]:
    """Waiting tasks whose priority is below that of one that waits for them, with the priority they would need. Pure."""
    by_id = {task.id: task for task in tasks}
    waits_for = dependents(tasks)
    for task in tasks:
        levels = [LEVELS.index(by_id[ident].priority) for ident in waits_for[task.id]]
        if task.state != "running" and levels and min(levels) < LEVELS.index(task.priority):
            yield task, LEVELS[min(levels)]


def _place(task: OpenTask) -> tuple[int, float, int]:
    return task.not_urgent, task.sort_key, task.seq


def _short(task: OpenTask, now: float) -> bool:
    return task.deadline is not None and task.deadline - now < task.estimated_s
