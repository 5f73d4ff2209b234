"""A run goes on: ended tasks are collected, waiting steps given to workers, stuck ones to others, the whole put together (Q2, Q5).

It is one verb over the run's rows, called by whoever settles one of its tasks and by each sweep: whoever dies, the next one goes on,
and two at once do no harm, since the run is locked, and a step's task has an id that the run and the step's place make.
"""

from __future__ import annotations

from collections.abc import Sequence

from covey.base.errors import CoveyError
from covey.store import Row, Transaction, relaxed, statement
from covey.tasks import reading as tasks
from covey.tasks.model import OPEN
from covey.teams.runs import asking, closing, collecting, giving, laying, moving, reading
from covey.teams.runs.looking import Look
from covey.teams.runs.model import bell_of

OF_TASK = statement(__package__, "of_task")
LOOK_AGAIN = statement(__package__, "look_again")
PUT_OFF = statement(__package__, "put_off")
DUE = statement(__package__, "due")

LOOK_S = 2.0
"""A run in which something waits is looked at so often, apart from when its tasks end."""
AGAIN_S = 60.0
"""One that can't go on for a fault is looked at again after so long."""


def moved(tx: Transaction, task_id: str) -> None:
    """A worker's try at a task is over: the run that it is of, if any, goes on."""
    row = tx.one(OF_TASK, task_id=task_id)
    ident = row.run_id if row is not None else asking.run_of_plan(tx, task_id)
    if ident is not None:
        advance(tx, ident)


@relaxed
def advance_due(tx: Transaction, limit: int = 100) -> int:
    """How many runs were looked at because it was time, or because a task of theirs ended elsewhere (H8a)."""
    idents = sorted({row.id for row in tx.all(DUE, now=tx.now, limit=limit)})
    for ident in idents:
        try:
            with tx.attempt():
                advance(tx, ident)
        except CoveyError as error:  # one that can't go on keeps no other from it
            tx.run(PUT_OFF, id=ident, why=error.message, look_at=tx.now + AGAIN_S)
    return len(idents)


def advance(tx: Transaction, run_id: str) -> None:
    """Take a run as far as it goes now. Doing it twice changes nothing more."""
    tx.lock("team", run_id)
    row = reading.seek(tx, run_id)
    if row is None or row.ended_at is not None:
        return
    if row.state == "planning":
        if not _planned(tx, row):
            return
        row = reading.found(tx, run_id)
    _go_on(Look(tx, row), collecting.collected(tx, row))


def begin(look: Look) -> None:
    """The first steps of a run that has just got them go out."""
    _go_on(look, [])


def _go_on(look: Look, out: Sequence[Row]) -> None:
    """Beside the steps that are out, move what is stuck, give out what may begin; with none left the run ends."""
    tx, row = look.tx, look.row
    if look.draft.deadline is not None and look.draft.deadline <= tx.now:
        collecting.give_up(tx, row, "its deadline passed")
        closing.end(tx, row, "its deadline passed before all of it was done")
        return
    moving.move_stuck(look, out)
    giving.give_out(look, out)
    if tx.run(LOOK_AGAIN, id=row.id, look_at=tx.now + LOOK_S):
        tx.ring(bell_of(row.id, "news"))
    else:
        closing.end(tx, row)


def _planned(tx: Transaction, row: Row) -> bool:
    """Whether the run has steps now: none yet while its plan is being made; by rule, if no plan came of that."""
    task = tasks.seek(tx, row.plan_task)
    if task is not None and task.state in OPEN:
        tx.run(LOOK_AGAIN, id=row.id, look_at=tx.now + LOOK_S)
        return False
    why = "its task is gone" if task is None else task.error or "its brain answered without parts"
    hopeless = laying.fall_back(tx, row, why)
    if hopeless is not None:
        closing.end(tx, row, hopeless)
    return hopeless is None
