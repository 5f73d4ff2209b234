"""A task becomes several that stand for it: it needs them all, and is done when they are (K1, H3)."""

from __future__ import annotations

import msgspec

from covey.agents.model import Caller
from covey.base.errors import Invalid
from covey.store import Row, Transaction, statement
from covey.tasks import adding, reading
from covey.tasks.model import ENDED, NEEDS, Task, TaskDraft, after_move

BLOCK = statement(__package__, "block")


def split(tx: Transaction, row: Row, parts: list[TaskDraft], by: Caller, *, attempts: int) -> list[Task]:
    """The parts of a task, locked before; they work on its project unless they name another.

    Raises:
        Invalid: There is none, they are too many, or one has ended already.
    """
    after_move(row.state, "split")
    if not 1 <= len(parts) <= NEEDS:
        raise Invalid(f"parts has {len(parts)} tasks; it may have 1 to {NEEDS}.", field="parts")
    tx.lock("dependencies", "")
    made: dict[str, Task] = {}
    for part in parts:
        task = _add(tx, row, part, by)
        made[task.task_id] = task
    for ident in made:
        tx.run(adding.ADD_NEED, task_id=row.id, needs_id=ident, met_at=None)
    blockers = len(reading.open_needs(tx, row.id)) + (row.approval == "wanted")
    tx.run(BLOCK, id=row.id, blockers=blockers, waiting_for=None, split_at=tx.now, attempts=attempts)
    tx.happened("task.split", agent=row.holder or row.agent, subject=row.id, parts=list(made))
    return list(made.values())


def _add(tx: Transaction, row: Row, part: TaskDraft, by: Caller) -> Task:
    draft = msgspec.structs.replace(part, project_id=part.project_id or row.project_id)
    task = adding.add(tx, draft, by, origin="split", parent=row.id, visited=tuple(msgspec.json.decode(row.visited)))
    if task.state in ENDED or task.task_id == row.id:
        raise Invalid(f"parts has {task.task_id!r}, which is there already and is {task.state}; bring new ids or none.", field="parts")
    return task
