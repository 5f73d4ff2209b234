"""Tasks as they stand, read only. Lists go by `seq`, which is their cursor."""

from __future__ import annotations

from typing import NamedTuple

from covey.agents import roster
from covey.base.errors import NotFound
from covey.store import Row, Transaction, statement
from covey.store.statements import Statement
from covey.tasks.model import OPEN, Task

FIND = statement(__package__, "find")
NEEDS = statement(__package__, "needs")
LIST = statement(__package__, "list")
LIST_BROKEN = statement(__package__, "list_broken")
LIST_OPEN = statement(__package__, "list_open")
LIST_RUNNING = statement(__package__, "list_running")
OPEN_UP_TO = statement(__package__, "open_up_to")
QUEUED_OF = statement(__package__, "queued_of")
BLOCKED_OF = statement(__package__, "blocked_of")
CURRENT = statement(__package__, "current")
CHILDREN = statement(__package__, "children")
OPEN_NEEDS = statement(__package__, "open_needs")
COUNTS = statement(__package__, "counts")
WAITING = statement(__package__, "waiting")
QUEUES = statement(__package__, "queues")

FEW_OPEN = 5_000
"""So many open tasks are sorted at once; of more than these the newest are found by going back from the last task."""


class Page(NamedTuple):
    """A part of a list, and the cursor of the next part (None at the end)."""

    items: list[Task]
    cursor: int | None


def seek(tx: Transaction, ident: str) -> Row | None:
    """The row of a task, or None."""
    return tx.one(FIND, id=ident)


def show(tx: Transaction, ident: str) -> Task:
    """One task.

    Raises:
        NotFound: There is no such task.
    """
    row = seek(tx, ident)
    if row is None:
        raise NotFound(f"there is no task {ident!r}; `covey task list` lists ids.", field="id")
    return with_needs(tx, row)


def needs_of(tx: Transaction, ident: str) -> list[str]:
    """The ids of what a task needs."""
    return [need.needs_id for need in tx.all(NEEDS, task_id=ident)]


def with_needs(tx: Transaction, row: Row) -> Task:
    """The task of a row, with the ids of what it needs."""
    return Task.from_row(row, needs_of(tx, row.id))


def listed(tx: Transaction, *, state: str | None = None, agent: str | None = None, before: int | None = None, limit: int = 50) -> Page:
    """Tasks, newest first; of one state, of one agent, or all. State `open` is queued, blocked or running.

    Raises:
        Unknown: There never was such an agent.
    """
    if agent is not None and roster.seek(tx, agent) is None:
        raise roster.unknown(tx, agent)
    rows = tx.all(_list_of(tx, state), state=state or "", agent=agent or "", before=before or 1 << 62, limit=limit + 1)
    return Page([with_needs(tx, row) for row in rows[:limit]], rows[limit - 1].seq if len(rows) > limit else None)


def _list_of(tx: Transaction, state: str | None) -> Statement:
    """The list that finds tasks of a state without going through all that have ended, or through all that wait, whichever are many."""
    if state in ("failed", "cancelled"):
        return LIST_BROKEN
    if state == "running":
        return LIST_RUNNING
    if state in OPEN | {"open"}:
        row = tx.one(OPEN_UP_TO, most=FEW_OPEN + 1)
        return LIST_OPEN if row is not None and row.n <= FEW_OPEN else LIST
    return LIST


def queue_of_agent(tx: Transaction, agent: str, *, limit: int = 100) -> list[Task]:
    """What waits for one agent, in the order it will be taken; the blocked last."""
    rows = tx.all(QUEUED_OF, agent=agent, limit=limit)
    if len(rows) < limit:
        rows += tx.all(BLOCKED_OF, agent=agent, limit=limit - len(rows))
    return [with_needs(tx, row) for row in rows]


def current(tx: Transaction, agent: str) -> Task | None:
    """The task whose brain is at work for this agent."""
    row = tx.one(CURRENT, agent=agent)
    return with_needs(tx, row) if row else None


def waiting_in(tx: Transaction, queue: str, *, limit: int = 1000) -> list[Task]:
    """What waits in the `global` or `urgent` queue, over all capabilities, in order."""
    return [with_needs(tx, row) for row in tx.all(WAITING, start=f"{queue}:", end=f"{queue};", urgent=int(queue == "urgent"), limit=limit)]


def children(tx: Transaction, parent: str) -> list[Task]:
    """The parts a task was split into, in order."""
    return [with_needs(tx, row) for row in tx.all(CHILDREN, parent=parent)]


def open_needs(tx: Transaction, ident: str) -> list[Task]:
    """What a task still waits for."""
    return [Task.from_row(row) for row in tx.all(OPEN_NEEDS, task_id=ident)]


def counts(tx: Transaction) -> dict[str, int]:
    """How many tasks are in each state; a state that none is in is left out."""
    row = tx.one(COUNTS)
    if row is None:
        return {}
    done = row.total - row.queued - row.blocked - row.running - row.failed - row.cancelled
    return {state: count for state, count in {**row._asdict(), "done": done}.items() if count and state != "total"}


def queue_lengths(tx: Transaction) -> dict[str, int]:
    """How many tasks are ready in each queue."""
    return {row.queue: row.n for row in tx.all(QUEUES)}
