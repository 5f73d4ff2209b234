"""Offers that end by themselves, and tasks handed over that may begin: parts of the sweep (H8a). Two sweepers do no harm."""

from __future__ import annotations

from covey.agents.model import SYSTEM
from covey.store import Row, Transaction, relaxed, statement
from covey.store.upkeep import Pruned
from covey.tasks import handing
from covey.tasks import reading as tasks
from covey.tasks.model import OPEN
from covey.teams.handoffs import answering, reading

DUE = statement(__package__, "due")
VOID = statement(__package__, "void")
TO_BEGIN = statement(__package__, "to_begin")
BEGUN = statement(__package__, "begun")
FORGET = statement(__package__, "forget")


def expire_due(tx: Transaction, limit: int = 100) -> list[str]:
    """The offers whose time was over; each task is its giver's to do again."""
    found = tx.all(DUE, now=tx.now, limit=limit)
    return [each.id for each in found if _ended(tx, each, expired=True)]


def withdraw_void(tx: Transaction, limit: int = 100) -> list[str]:
    """The offers whose task has ended, or is somebody else's by now."""
    return [each.id for each in tx.all(VOID, limit=limit) if _ended(tx, each, expired=False)]


def _ended(tx: Transaction, found: Row, *, expired: bool) -> bool:
    tx.lock("task", found.task_id)
    row = reading.seek(tx, found.id)
    if row.state != "offered":
        return False
    why = _why_void(tx, row)
    if why is None and not (expired and row.deadline <= tx.now):
        return False
    answering.ended(tx, row, "withdrawn" if why is not None else "expired", SYSTEM, why or "")
    return True


def _why_void(tx: Transaction, row: Row) -> str | None:
    task = tasks.seek(tx, row.task_id)
    if task is None:
        return "the task is no longer kept"
    if task.state not in OPEN:
        return f"the task is {task.state}"
    owner = handing.owner_of(task)
    return None if owner == row.giver else f"the task is {owner or 'nobody'}'s now"


def begin(tx: Transaction, limit: int = 100) -> list[str]:
    """The tasks that their new owners may begin, since the giver's run is known to have ended (K4a)."""
    begun = []
    for each in tx.all(TO_BEGIN, limit=limit):
        tx.lock("task", each.task_id)
        if tx.run(BEGUN, id=each.id):
            handing.take_up(tx, each.task_id, each.id, reading.seek(tx, each.id).waited_for)
            begun.append(each.task_id)
    return begun


@relaxed
def prune(tx: Transaction, *, older_s: float, after: int = 0, limit: int = 500) -> Pruned:
    """Delete handoffs that ended longer ago than this."""
    deleted = tx.run(FORGET, before=tx.now - older_s, limit=limit)
    return Pruned(deleted, after if deleted == limit else None)
