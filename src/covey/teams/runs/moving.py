"""Steps whose worker takes nothing now, or failed at them, go to a better one (Q5, H6)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from covey.agents.model import THE_SYSTEM
from covey.base.wire import fit
from covey.store import Row, statement
from covey.tasks import changing
from covey.tasks import reading as tasks
from covey.teams.runs import choosing
from covey.teams.runs.choosing import Worker, choose
from covey.teams.runs.grouping import groups_of, near
from covey.teams.runs.looking import Look, step_of

STEP_MOVED = statement(__package__, "step_moved")


def move_stuck(look: Look, out: Sequence[Row]) -> None:
    """Give tasks that wait with a worker that takes nothing, or that failed at them, to a better one (H6)."""
    waiting = [step for step in out if step.task_state == "queued"]
    if look.draft.mode == "broadcast" or not waiting:
        return
    ready = {each.name: each for each in look.workers if each.ready}
    more = choosing.loads(())
    groups = groups_of(look.names, look.draft.span)
    for row in waiting:
        failed_by = msgspec.json.decode(row.failed_by)
        if row.agent in ready and row.agent not in failed_by:
            continue
        step, first = step_of(row)._replace(wanted=None), near(row.agent or "", groups)
        heir = choose(step, ready.values(), strict=look.draft.strict, more=more, failed_by=failed_by, first=first)
        if heir is None or heir.name == row.agent:
            continue
        if row.agent in ready and failed_by.count(heir.name) >= failed_by.count(row.agent):
            continue
        if _move(look, row, heir):
            more[heir.name] += 1


def _move(look: Look, step: Row, heir: Worker) -> bool:
    look.tx.lock("task", step.task_id)
    task = tasks.seek(look.tx, step.task_id)
    if task is None or task.state != "queued":
        return False
    fitting = next((each for each in msgspec.json.decode(step.capabilities) if each in heir.capabilities), task.capability)
    changing.move(look.tx, task, heir.name, fitting, THE_SYSTEM)
    look.tx.run(STEP_MOVED, run_id=look.row.id, place=step.place, worker=heir.name)
    look.tx.happened(
        "team.rerouted",
        agent=heir.name,
        subject=look.row.id,
        step=step.place,
        task=step.task_id,
        before=step.agent,
        error=fit(task.error or "", 500),
    )
    return True
