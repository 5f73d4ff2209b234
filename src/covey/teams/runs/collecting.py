"""The end of a run's steps: by what became of their tasks, or since the run is given up."""

from __future__ import annotations

import msgspec

from covey.agents.model import THE_SYSTEM
from covey.store import Row, Transaction, statement
from covey.tasks import changing
from covey.tasks import reading as tasks
from covey.tasks.model import OPEN

OUT_STEPS = statement(__package__, "out_steps")
OPEN_STEPS = statement(__package__, "open_steps")
STEP_ENDED = statement(__package__, "step_ended")


def collected(tx: Transaction, run: Row) -> list[Row]:
    """The steps that are with workers, once those whose task has ended are closed."""
    left = []
    for step in tx.all(OUT_STEPS, run_id=run.id):
        if step.task_state in OPEN:
            left.append(step)
        else:
            _close(tx, run, step)
    return left


def _close(tx: Transaction, run: Row, step: Row) -> None:
    if step.task_state is None:
        end_step(tx, run, step.place, "cancelled", None, "its task is gone")
        return
    state, error = step.task_state, step.error
    data = (msgspec.json.decode(step.result) or {}).get("data") if step.result else None
    if state == "done" and isinstance(data, dict) and data.get("success") is False:
        state, error = "failed", str(data.get("error") or "its worker reported no success")
    end_step(tx, run, step.place, state, step.holder or step.agent, error)


def end_step(tx: Transaction, run: Row, place: int, state: str, worker: str | None, error: str | None) -> None:
    """Close a step of a run, locked before."""
    if tx.run(STEP_ENDED, run_id=run.id, place=place, state=state, worker=worker, error=error):
        tx.happened("team.step", agent=worker, subject=run.id, step=place, state=state, error=error[:500] if error else None)


def give_up(tx: Transaction, run: Row, why: str) -> None:
    """Cancel what is open of a run, locked before."""
    for step in tx.all(OPEN_STEPS, run_id=run.id):
        if step.task_id is not None:
            tx.lock("task", step.task_id)
            task = tasks.seek(tx, step.task_id)
            if task is not None and task.state in OPEN:
                changing.cancel(tx, step.task_id, THE_SYSTEM, f"{run.id}: {why}")
        end_step(tx, run, step.place, "cancelled", None, why)
