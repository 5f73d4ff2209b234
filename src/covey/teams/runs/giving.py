"""Steps that wait become tasks of workers, as far as there are workers for them; if there is nobody, it is said why (Q2, A1a)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from covey.agents.model import OPERATOR
from covey.base.errors import CoveyError, IdTaken
from covey.base.wire import fit
from covey.messages import sending
from covey.store import Row, events, statement
from covey.tasks import adding
from covey.tasks.model import TaskDraft
from covey.teams.runs import choosing
from covey.teams.runs.choosing import Worker, choose
from covey.teams.runs.collecting import end_step
from covey.teams.runs.looking import Look, step_of
from covey.teams.runs.model import WINDOW, Step

WAITING_STEPS = statement(__package__, "waiting_steps")
STEP_OUT = statement(__package__, "step_out")
RESULT_OF = statement(__package__, "result_of")
TOLD = statement(__package__, "told")
WHY = statement(__package__, "why")

TELL_S = 60.0
"""The operator is told, once, of a run for which nobody is there after so long."""
PAGE = 16
"""So many waiting steps are looked at at once; no more of them than there are workers for."""
INPUT_BYTES = 48 * 1024
"""So much of what went before comes with a step's task as its data; the rest is in the tasks that are named there."""


def give_out(look: Look, out: Sequence[Row]) -> None:
    """Make tasks of the steps that may begin, as far as there are workers for them."""
    held, more = choosing.loads(step.agent for step in out), choosing.loads(())
    idle: list[Step] = []
    after = 0
    while page := look.tx.all(WAITING_STEPS, run_id=look.row.id, after=after, limit=PAGE):
        if not _has_room(look, held):
            break
        for step in map(step_of, page):
            if not _may_begin(look, step):
                continue
            worker = choose(step, _may(look, step, held), strict=look.draft.strict, more=more)
            if worker is None:
                idle.append(step)
            elif _assign(look, step, worker):
                held[worker.name] += 1
                more[worker.name] += 1
                if not _has_room(look, held):
                    break  # what waits behind is looked at when one of them has done something
        if len(page) < PAGE or not any(each.ready for each in look.workers):
            break
        after = page[-1].place
    _say_why(look, idle)


def _has_room(look: Look, held: Mapping[str, int]) -> bool:
    """Whether somebody may get more; or nobody takes work at all, which is to be said."""
    ready = [each for each in look.workers if each.ready]
    return not ready or look.draft.mode == "broadcast" or any(held.get(each.name, 0) < WINDOW for each in ready)


def _may_begin(look: Look, step: Step) -> bool:
    """Whether all that it needs is done; what needs something that failed is skipped, what only one could do who is gone has failed."""
    if look.draft.mode == "broadcast" and all(each.name != step.wanted for each in look.workers):
        end_step(look.tx, look.row, step.place, "failed", None, f"{step.wanted} is not in the fleet any more")
        return False
    if not step.needs:
        return True
    states = look.states
    broken = next((place for place in step.needs if states[place] in ("failed", "skipped", "cancelled")), None)
    if broken is not None:
        states[step.place] = "skipped"
        end_step(look.tx, look.row, step.place, "skipped", None, f"it needs step {broken}, which is {states[broken]}")
        return False
    return all(states[place] == "done" for place in step.needs)


def _may(look: Look, step: Step, held: Mapping[str, int]) -> list[Worker]:
    """Who may get a step now: of a broadcast its own worker alone, else all who have not enough of this run already."""
    if look.draft.mode == "broadcast":
        return [each for each in look.workers if each.name == step.wanted]
    return [each for each in look.workers if held.get(each.name, 0) < WINDOW]


def _assign(look: Look, step: Step, worker: Worker) -> bool:
    """Whether the step is a task of the worker's now."""
    draft, ident = look.draft, f"{look.row.id}-{step.place}"
    wanted = TaskDraft(
        description=step.description,
        agent=worker.name,
        task_id=ident,
        capability=next((each for each in step.capabilities if each in worker.capabilities), None),
        priority=draft.priority,
        project_id=draft.project_id,
        estimated_seconds=draft.estimated_seconds,
        max_attempts=draft.max_attempts,
        traceparent=_span_of(look),
        data={"team": look.row.id, "step": step.place, "goal": fit(draft.goal, 4000)} | _inputs(look, step),
    )
    try:
        with look.tx.attempt():
            task = adding.add(look.tx, wanted, look.by, origin="workflow", parent=look.row.id)
        if task.parent_id != look.row.id:
            raise IdTaken(f"a task {ident} was there before, which is not of this run.", field="taskId")
    except CoveyError as error:  # its worker or its project is gone just now, or its id is another's
        end_step(look.tx, look.row, step.place, "failed", None, error.message)
        return False
    look.tx.run(STEP_OUT, run_id=look.row.id, place=step.place, worker=worker.name, task_id=task.task_id)
    look.tx.happened("team.assigned", agent=worker.name, subject=look.row.id, step=step.place, task=task.task_id)
    return True


def _span_of(look: Look) -> str | None:
    """The run's span in its trace, where spans are recorded: whoever drives the run is in one of its own, or in none."""
    begun = events.first_of_subject(look.tx, look.row.id) if look.tx.spans.on else None
    return begun.data.get("trace") if begun is not None and begun.kind == "team.started" else None


def _inputs(look: Look, step: Step) -> dict[str, Any]:
    """The results of what a step needs, word for word as far as they fit."""
    if not step.needs:
        return {}
    rows = [row for place in step.needs for row in look.tx.all(RESULT_OF, run_id=look.row.id, place=place)]
    return {"inputs": inputs_of(rows, INPUT_BYTES)}


def _say_why(look: Look, idle: Sequence[Step]) -> None:
    """Why steps wait, if nobody who takes work is able to do them; the operator hears of it once (A1a)."""
    stuck = [step for step in idle if choose(step, _may(look, step, {}), strict=look.draft.strict) is None]
    if not stuck:
        if look.row.why:
            look.tx.run(WHY, id=look.row.id, why=None)
        return
    able = [each for each in look.workers if _is_able(look, stuck[0], each)]
    who = "; ".join(f"{each.name}: {each.why_not}" for each in able if each.why_not) or "none of its workers is able to"
    why = fit(f"nobody takes step {stuck[0].place} now ({who})", 2000)
    if look.row.told_at is None and look.tx.now - look.row.created_at >= TELL_S:
        look.tx.run(TOLD, id=look.row.id, now=look.tx.now, why=why)
        sending.notify(look.tx, OPERATOR, f"Team run {look.row.id} waits", f"{look.row.id} does not get on: {why}.")
    elif why != look.row.why:
        look.tx.run(WHY, id=look.row.id, why=why)


def _is_able(look: Look, step: Step, worker: Worker) -> bool:
    if look.draft.mode == "broadcast" and worker.name != step.wanted:
        return False
    return not look.draft.strict or choosing.fit_of(step, worker) is not None


def inputs_of(rows: Sequence[Row], most: int) -> list[dict[str, Any]]:
    """Results as a later step gets them; what is too much is cut, and said to be. Pure."""
    found = []
    for row in rows:
        result = msgspec.json.decode(row.result) if row.result else {}
        found.append({"step": row.place, "taskId": row.task_id, "by": result.get("by"), "summary": result.get("summary", "")})
        if result.get("data"):
            found[-1]["data"] = result["data"]
    share = most // max(len(found), 1)
    while len(msgspec.json.encode(found)) > most and share > 0:
        share //= 2
        for each in found:
            each.pop("data", None)
            if len(each["summary"].encode()) > share:
                each["summary"] = fit(each["summary"], share)
                each["cut"] = f"the whole is the result of {each['taskId']}"
    return found
