"""What people and leads do to a task: cancel, retry, reassign, split, approve, refuse (K5a, K7)."""

from __future__ import annotations

from covey.agents import living, roster
from covey.agents.model import Caller
from covey.base.errors import Conflict, Forbidden, Invalid, NotFound
from covey.messages.model import TASK_LEVEL_S, order_of
from covey.store import Row, Transaction, statement
from covey.tasks import adding, reading, working
from covey.tasks.model import OPEN, Task, TaskDraft, after_move, queue_of

RETRY = statement(__package__, "retry")
MOVE = statement(__package__, "move")
APPROVE = statement(__package__, "approve")
DUE = statement(__package__, "deadlines_due")
OPEN_OF = statement(__package__, "open_of")
PRIORITY = statement(__package__, "priority")


def cancel(tx: Transaction, ident: str, by: Caller, reason: str = "") -> Task:
    """The task, cancelled with its parts; a running brain is ended within the grace period (K7).

    Raises:
        NotFound, Forbidden, IllegalMove: No such task, not the caller's, or ended already.
    """
    row = _mine(tx, ident, by)
    after_move(row.state, "cancel")
    working.end(tx, row, "cancel", error=reason or f"cancelled by {by.name}")  # before its parts, whose end would fail it
    for child in reading.children(tx, ident):
        if child.is_open:
            cancel(tx, child.task_id, Caller("system", by.name), f"its parent {ident} was cancelled")
    if row.holder is not None:
        tx.ring(row.holder)
    return reading.show(tx, ident)


def retry(tx: Transaction, ident: str, by: Caller) -> Task:
    """The failed task, queued again with all its attempts.

    Raises:
        IllegalMove: It has not failed.
    """
    row = _mine(tx, ident, by)
    after_move(row.state, "retry_by_hand")
    tx.run(RETRY, id=ident, now=tx.now)
    tx.happened("task.requeued", agent=row.agent, subject=ident, by=by.name)
    adding.ring_queue(tx, row.queue)
    return reading.show(tx, ident)


def reassign(tx: Transaction, ident: str, to: str, by: Caller) -> Task:
    """The waiting task in another agent's queue, or with `@capability` in the fleet's.

    Raises:
        Conflict: Its brain is at work; cancel it or wait.
    """
    row = _mine(tx, ident, by)
    if row.state not in ("queued", "blocked"):
        raise Conflict(f"the task {ident} is {row.state}{f' with {row.holder}' if row.holder else ''}; only one that waits can be reassigned.", state=row.state)
    agent, capability = (None, to[1:]) if to.startswith("@") else (to, row.capability)
    if agent is not None:
        roster.find(tx, agent, field="to")
    elif capability not in (known := roster.capabilities(tx)):
        raise Invalid(f"nobody has the capability {capability!r}; the fleet has: {', '.join(known)}.", field="to")
    move(tx, row, agent, capability, by)
    return reading.show(tx, ident)


def move(tx: Transaction, row: Row, agent: str | None, capability: str | None, by: Caller) -> None:
    """Put a waiting task into another queue; its place in line stays."""
    queue = queue_of(agent, capability, row.priority)
    tx.run(MOVE, id=row.id, agent=agent, capability=capability, queue=queue)
    tx.happened("task.reassigned", agent=agent, subject=row.id, by=by.name, before=row.queue, queue=queue)
    adding.ring_queue(tx, queue)


def hand_over(tx: Transaction, leaver: str, heir: str, by: Caller) -> int:
    """How many open tasks of one agent are another's now (an agent is removed from the fleet)."""
    roster.find(tx, heir, field="tasks_to")
    rows = tx.all(OPEN_OF, agent=leaver)
    for row in rows:
        if row.state == "running":
            raise Conflict(f"{leaver} is at work on {row.id}; stop it first: `covey stop {leaver}`.")
        move(tx, row, heir, row.capability, by)
    return len(rows)


def split(tx: Transaction, ident: str, parts: list[TaskDraft], by: Caller) -> list[Task]:
    """The parts of a waiting task; it is done when they are.

    Raises:
        Conflict: Its brain is at work.
    """
    row = _mine(tx, ident, by)
    if not parts:
        raise Invalid("parts is empty; name at least one part.", field="parts")
    if row.state == "running":
        raise Conflict(f"the task {ident} is running with {row.holder}; cancel it, or let its brain split it.", state=row.state)
    return working.split_row(tx, row, parts, by, attempts=row.attempts)


def approve(tx: Transaction, ident: str, by: Caller) -> Task:
    """The task, no longer held back by a wanted approval (K5a).

    Raises:
        Forbidden: The caller is not the operator: peers can't approve.
        Conflict: It wants none.
    """
    row = _wants_approval(tx, ident, by)
    tx.run(APPROVE, id=ident, approval="approved")
    tx.happened("task.approved", agent=row.agent, subject=ident, by=by.name)
    working.unblock(tx, ident)
    return reading.show(tx, ident)


def refuse(tx: Transaction, ident: str, by: Caller, reason: str = "") -> Task:
    """The task, cancelled since its approval was refused (K5a)."""
    row = _wants_approval(tx, ident, by)
    tx.run(APPROVE, id=ident, approval="refused")
    working.end(tx, row, "cancel", error=f"approval refused by {by.name}{': ' + reason if reason else ''}")
    return reading.show(tx, ident)


def _wants_approval(tx: Transaction, ident: str, by: Caller) -> Row:
    if by.kind != "operator":
        raise Forbidden(f"{by.name} can't approve or refuse: only the operator may.")
    row = _row(tx, ident)
    tx.lock("task", ident)
    if row.approval != "wanted" or row.state != "blocked":
        raise Conflict(f"the task {ident} waits for no approval: it is {row.state}.", state=row.state)
    return row


def fail_overdue(tx: Transaction, limit: int = 100) -> list[str]:
    """Fail what still waits at its deadline."""
    rows = tx.all(DUE, now=tx.now, limit=limit)
    for row in rows:
        full = _row(tx, row.id)
        if full.state in OPEN:
            working.end(tx, full, "fail", error="its deadline passed before it could be done")
    return [row.id for row in rows]


def reprioritise(tx: Transaction, ident: str, priority: str, by: Caller) -> Task:
    """The waiting task with another priority; its age counts on."""
    row = _mine(tx, ident, by)
    if row.state not in ("queued", "blocked"):
        raise Conflict(f"the task {ident} is {row.state}; only one that waits can get another priority.", state=row.state)
    urgent, sort_key = order_of(priority, row.created_at, TASK_LEVEL_S)
    tx.run(PRIORITY, id=ident, priority=priority, not_urgent=urgent, sort_key=sort_key, queue=queue_of(row.agent, row.capability, priority))
    tx.happened("task.reprioritised", agent=row.agent, subject=ident, by=by.name, before=row.priority, priority=priority)
    return reading.show(tx, ident)




def _mine(tx: Transaction, ident: str, by: Caller) -> Row:
    """The task's row, if the caller may change it: its creator, its agent, the lead or the operator."""
    tx.lock("task", ident)
    row = _row(tx, ident)
    if not living.may_command(tx, by) and by.name not in (row.created_by, row.agent, row.holder):
        raise Forbidden(f"the task {ident} is not {by.name}'s to change: its creator, its agent, the lead and the operator may.")
    return row


def _row(tx: Transaction, ident: str) -> Row:
    row = reading.seek(tx, ident)
    if row is None:
        raise NotFound(f"there is no task {ident!r}; `covey task list` lists ids.", field="id")
    return row
