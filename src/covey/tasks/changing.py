"""What people and leads do to a task: cancel, retry, reassign, split, approve, refuse (K5a, K7)."""

from __future__ import annotations

from covey.agents import living, roster
from covey.agents.model import Caller
from covey.base.errors import Conflict, Cycle, Forbidden, Invalid, NotFound
from covey.base.ids import is_id
from covey.base.wire import fit
from covey.messages.model import TASK_LEVEL_S, order_of, priority_of
from covey.store import Row, Transaction, locking, statement
from covey.tasks import adding, ending, reading, repeating, splitting, working
from covey.tasks.ending import ERROR_BYTES
from covey.tasks.model import OPEN, Task, TaskDraft, after_move, queue_of

RETRY = statement(__package__, "retry")
MOVE = statement(__package__, "move")
APPROVE = statement(__package__, "approve")
DUE = statement(__package__, "deadlines_due")
OPEN_OF = statement(__package__, "open_of")
PRIORITY = statement(__package__, "priority")
MEET_AGAIN = statement(__package__, "meet_again")
WAITING = ("queued", "blocked")


def cancel(tx: Transaction, ident: str, by: Caller, reason: str = "") -> Task:
    """The task, cancelled with its parts; a running brain is ended within the grace (K7). One that comes again does so no more.

    Raises:
        NotFound, Forbidden, IllegalMove: No such task, not the caller's, or ended already.
    """
    row = _mine(tx, ident, by)
    _cancel(tx, row, fit(reason, ERROR_BYTES) or f"cancelled by {by.name}", by)
    if row.schedule is not None and row.schedule.startswith(repeating.ON_TASK):
        repeating.remove(tx, row.schedule)
    return reading.show(tx, ident)


def _cancel(tx: Transaction, row: Row, reason: str, by: Caller) -> None:
    """Close it first, then its parts, so that no part's end is taken for its own."""
    ending.end(tx, row, "cancel", error=reason, by=by.name)
    if row.holder is not None:
        tx.ring(row.holder)
    for child in reading.children(tx, row.id):
        part = _locked(tx, child.task_id)
        if part.state in OPEN:
            _cancel(tx, part, f"its parent {row.id} was cancelled", by)


def locks_of_retry(ident: str, *_: object, **__: object) -> list[tuple[str, str]]:
    """What `retry` is going to lock, so that batches take it in one order."""
    return [("dedupe", ""), ("dependencies", ""), ("task", ident)] if is_id(str(ident)) else []


@locking(locks_of_retry)
def retry(tx: Transaction, ident: str, by: Caller) -> Task:
    """The failed task with all its attempts anew: queued, or blocked by what it still needs; joined, if all its parts are done.

    Raises:
        IllegalMove: It has not failed.
        Conflict: Something it needs has failed too, or another task with its dedupeKey is open.
        Cycle: What it needs has come to need it.
    """
    tx.lock("dedupe", "")
    tx.lock("dependencies", "")
    row = _mine(tx, ident, by)
    state = after_move(row.state, "retry_by_hand")
    other = adding.open_by_key(tx, row.dedupe_key)
    if other is not None:
        raise Conflict(f"the task {other} with the same dedupeKey is open; cancel that one, or leave it to do this.", open=other)
    unmet = _needed_again(tx, row)
    for need in unmet:
        tx.run(MEET_AGAIN, task_id=ident, needs_id=need.id)
    blockers = len(unmet) + (row.approval == "wanted")
    parts_done = row.split_at is not None and not unmet
    if blockers or parts_done:
        state = after_move(state, "block")
    tx.run(RETRY, id=ident, state=state, blockers=blockers, now=tx.now)
    tx.happened("task.requeued", agent=row.agent, subject=ident, by=by.name)
    if parts_done and not blockers:
        ending.join(tx, _locked(tx, ident))
    elif not blockers:
        adding.ring_queue(tx, row.queue)
    return reading.show(tx, ident)


def _needed_again(tx: Transaction, row: Row) -> list[Row]:
    """What a failed task needs and is not done."""
    needs = adding.needed(tx, row.id, reading.needs_of(tx, row.id), None)
    failed = next((need for need in needs if need.state in ("failed", "cancelled")), None)
    if failed is not None and not row.anyway:
        mend = "retry that one first" if failed.state == "failed" else "what was cancelled stays so; add a new task instead"
        raise Conflict(f"{row.id} needs {failed.id}, which is {failed.state}; {mend}.", needs=failed.id)
    unmet = [need for need in needs if need.state in OPEN]
    for need in unmet:
        path = adding.path_of_needs(tx, need.id, row.id)
        if path:
            raise Cycle(f"{' needs '.join([row.id, *path])}: a circle, none of which could ever run.", circle=[row.id, *path])
    return unmet


def reassign(tx: Transaction, ident: str, to: str, by: Caller) -> Task:
    """The waiting task in another agent's queue, or with `@capability` in the fleet's.

    Raises:
        Conflict: Its brain is at work; cancel it or wait.
    """
    row = _waiting(tx, ident, by, "be reassigned")
    agent, capability = (None, to[1:]) if to.startswith("@") else (to, row.capability)
    adding.check_taker(tx, agent, capability, field="to")
    move(tx, row, agent, capability, by)
    return reading.show(tx, ident)


def move(tx: Transaction, row: Row, agent: str | None, capability: str | None, by: Caller) -> None:
    """Put a waiting task into another queue; its place in line stays."""
    queue = queue_of(agent, capability, row.priority)
    tx.run(MOVE, id=row.id, agent=agent, capability=capability, queue=queue)
    tx.happened("task.reassigned", agent=agent, subject=row.id, by=by.name, before=row.queue, queue=queue)
    adding.ring_queue(tx, queue)


def hand_over(tx: Transaction, leaver: str, heir: str, by: Caller) -> int:
    """How many open tasks of one agent are another's now, in their order (an agent is removed from the fleet).

    Raises:
        Conflict: The leaver is at work on something.
        Invalid: The heir is the leaver.
    """
    if heir == leaver:
        raise Invalid(f"tasks_to is {heir!r}, which is leaving itself; name another agent.", field="tasks_to")
    roster.find(tx, heir, field="tasks_to")
    at_work = working.held_by(tx, leaver)
    if at_work:
        raise Conflict(f"{leaver} is at work on {at_work[0].id}; stop it first: `covey stop {leaver}`.", task=at_work[0].id)
    rows = [_locked(tx, row.id) for row in tx.all(OPEN_OF, agent=leaver)]
    for row in rows:
        if row.state == "running":
            raise Conflict(f"{row.holder} is at work on {row.id}, a task of {leaver}; wait, or cancel it.", task=row.id)
        if row.state in WAITING and row.agent == leaver:
            move(tx, row, heir, row.capability, by)
    return len(rows)


@locking(lambda *_, **__: [("dependencies", "")])
def split(tx: Transaction, ident: str, parts: list[TaskDraft], by: Caller) -> list[Task]:
    """The parts of a waiting task; it is done when they are.

    Raises:
        Conflict: Its brain is at work.
    """
    tx.lock("dependencies", "")
    row = _mine(tx, ident, by)
    if row.state == "running":
        raise Conflict(f"the task {ident} is running with {row.holder}; cancel it, or let its brain split it.", state=row.state)
    return splitting.split(tx, row, parts, by, attempts=row.attempts)


def approve(tx: Transaction, ident: str, by: Caller) -> Task:
    """The task, no longer held back by a wanted approval (K5a).

    Raises:
        Forbidden: The caller is not the operator: peers can't approve.
        Conflict: It wants none.
    """
    row = _wants_approval(tx, ident, by)
    tx.run(APPROVE, id=ident, approval="approved")
    tx.happened("task.approved", agent=row.agent, subject=ident, by=by.name)
    if row.blockers == 1 and row.split_at is not None:
        ending.join(tx, row)
    else:
        ending.unblock(tx, ident)
    return reading.show(tx, ident)


def refuse(tx: Transaction, ident: str, by: Caller, reason: str = "") -> Task:
    """The task, cancelled with its parts since its approval was refused (K5a)."""
    row = _wants_approval(tx, ident, by)
    tx.run(APPROVE, id=ident, approval="refused")
    _cancel(tx, row, fit(f"approval refused by {by.name}{': ' + reason if reason else ''}", ERROR_BYTES), by)
    return reading.show(tx, ident)


def _wants_approval(tx: Transaction, ident: str, by: Caller) -> Row:
    if by.kind != "operator":
        raise Forbidden(f"{by.name} can't approve or refuse: only the operator may.")
    row = _locked(tx, ident)
    if row.approval != "wanted" or row.state != "blocked":
        raise Conflict(f"the task {ident} waits for no approval: it is {row.state}.", state=row.state)
    return row


def fail_overdue(tx: Transaction, limit: int = 100) -> list[str]:
    """The tasks that still waited at their deadline and have failed of it."""
    failed = []
    for due in tx.all(DUE, now=tx.now, limit=limit):
        row = _locked(tx, due.id)
        if row.state in WAITING and row.deadline is not None and row.deadline <= tx.now:
            ending.end(tx, row, "fail", error="its deadline passed before it could be done")
            failed.append(due.id)
    return failed


def reprioritise(tx: Transaction, ident: str, priority: str | int, by: Caller) -> Task:
    """The waiting task with another priority; its age counts on.

    Raises:
        Invalid: There is no such priority.
    """
    word = priority_of(priority)
    row = _waiting(tx, ident, by, "get another priority")
    urgent, sort_key = order_of(word, row.created_at, TASK_LEVEL_S)
    queue = queue_of(row.agent, row.capability, word)
    tx.run(PRIORITY, id=ident, priority=word, not_urgent=urgent, sort_key=sort_key, queue=queue)
    tx.happened("task.reprioritised", agent=row.agent, subject=ident, by=by.name, before=row.priority, priority=word)
    if row.state == "queued":
        adding.ring_queue(tx, queue)
    return reading.show(tx, ident)


def _waiting(tx: Transaction, ident: str, by: Caller, what: str) -> Row:
    """The row of a task that waits and that the caller may change."""
    row = _mine(tx, ident, by)
    if row.state not in WAITING:
        who = f" with {row.holder}" if row.state == "running" else ""
        raise Conflict(f"the task {ident} is {row.state}{who}; only one that waits can {what}.", state=row.state)
    return row


def _mine(tx: Transaction, ident: str, by: Caller) -> Row:
    """The task's row, locked, if the caller may change it: its creator, its agent, the lead or the operator."""
    row = _locked(tx, ident)
    if not living.may_command(tx, by) and by.name not in (row.created_by, row.agent, row.holder):
        raise Forbidden(f"the task {ident} is not {by.name}'s to change: its creator, its agent, the lead and the operator may.")
    return row


def _locked(tx: Transaction, ident: str) -> Row:
    """The task's row, which nobody else changes before the commit."""
    tx.lock("task", ident)
    row = reading.seek(tx, ident)
    if row is None:
        raise NotFound(f"there is no task {ident!r}; `covey task list` lists ids.", field="id")
    return row
