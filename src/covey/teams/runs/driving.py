"""A run goes on: ended tasks are collected, waiting steps given to workers, stuck ones to others, the whole put together (Q2, Q5).

It is one verb over the run's rows, called by whoever settles one of its tasks and by each sweep: whoever dies, the next one goes on,
and two at once do no harm, since the run is locked, and a step's task has an id that the run and the step's place make.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from covey.agents.model import OPERATOR, THE_SYSTEM, Caller
from covey.base.errors import CoveyError, IdTaken
from covey.base.wire import fit
from covey.messages import sending
from covey.store import Row, Transaction, relaxed, statement
from covey.tasks import adding, changing
from covey.tasks import reading as tasks
from covey.tasks.model import ENDED as TASK_ENDED
from covey.tasks.model import OPEN, TaskDraft
from covey.teams.runs import asking, choosing, closing, laying, reading
from covey.teams.runs.choosing import Worker, choose
from covey.teams.runs.grouping import groups_of, near
from covey.teams.runs.model import WINDOW, Step

OUT_STEPS = statement(__package__, "out_steps")
WAITING_STEPS = statement(__package__, "waiting_steps")
OPEN_STEPS = statement(__package__, "open_steps")
IS_OPEN = statement(__package__, "is_open")
STATES = statement(__package__, "states")
STEP_OUT = statement(__package__, "step_out")
STEP_MOVED = statement(__package__, "step_moved")
STEP_ENDED = statement(__package__, "step_ended")
RESULT_OF = statement(__package__, "result_of")
OF_TASK = statement(__package__, "of_task")
LOOK_AGAIN = statement(__package__, "look_again")
TOLD = statement(__package__, "told")
WHY = statement(__package__, "why")
DUE = statement(__package__, "due")

LOOK_S = 2.0
"""A run in which something waits is looked at so often, apart from when its tasks end."""
AGAIN_S = 60.0
TELL_S = 60.0
"""The operator is told, once, of a run for which nobody is there after so long."""
PAGE = 64
"""So many waiting steps are looked at at once; no more of them than there are workers for."""
INPUT_BYTES = 48 * 1024
"""So much of what went before comes with a step's task as its data; the rest is in the tasks that are named there."""


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
            tx.run(WHY, id=ident, why=error.message)
            tx.run(LOOK_AGAIN, id=ident, look_at=tx.now + AGAIN_S)
    return len(idents)


def advance(tx: Transaction, run_id: str) -> None:
    """Take a run as far as it goes now. Doing it twice changes nothing more."""
    tx.lock("team", run_id)
    row = reading.seek(tx, run_id)
    if row is not None and row.ended_at is None:
        _Driver(tx, row).go_on()


class _Driver:
    """One look at a run, locked before."""

    def __init__(self, tx: Transaction, row: Row) -> None:
        self._tx = tx
        self._row = row
        self._draft = reading.draft_of(row)
        self._by = Caller("operator" if row.created_by == OPERATOR else "agent", row.created_by)

    @cached_property
    def _names(self) -> list[str]:
        return reading.names_of(self._row)

    @cached_property
    def _workers(self) -> list[Worker]:
        return choosing.workers(self._tx, self._names)

    @cached_property
    def _states(self) -> dict[int, str]:
        """How each step stands, once what has ended is collected."""
        return {row.place: row.state for row in self._tx.all(STATES, run_id=self._row.id)}

    def go_on(self) -> None:
        """Collect, move on, give out, end."""
        if self._row.state == "planning" and not self._planned():
            return
        out = self._collected()
        if self._draft.deadline is not None and self._draft.deadline <= self._tx.now:
            give_up(self._tx, self._row, "its deadline passed")
            closing.end(self._tx, self._row, "its deadline passed before all of it was done")
            return
        self._move_stuck(out)
        self._give_out(out)
        if self._tx.one(IS_OPEN, run_id=self._row.id) is not None:
            self._look_again()
        else:
            closing.end(self._tx, self._row)

    def _planned(self) -> bool:
        """Whether the run has steps now: none yet while its plan is being made; by rule, if no plan came of that."""
        task = tasks.seek(self._tx, self._row.plan_task)
        if task is not None and task.state in OPEN:
            self._look_again()
            return False
        why = "its task is gone" if task is None else task.error or "its brain answered without parts"
        hopeless = laying.fall_back(self._tx, self._row, why)
        self._row = reading.found(self._tx, self._row.id)
        if hopeless is not None:
            closing.end(self._tx, self._row, hopeless)
        return hopeless is None

    def _look_again(self) -> None:
        self._tx.run(LOOK_AGAIN, id=self._row.id, look_at=self._tx.now + LOOK_S)

    def _collected(self) -> list[Row]:
        """The steps that are with workers, once those whose task has ended are closed."""
        left = []
        for step in self._tx.all(OUT_STEPS, run_id=self._row.id):
            if step.task_state in OPEN:
                left.append(step)
            else:
                self._close(step)
        return left

    def _close(self, step: Row) -> None:
        task = tasks.seek(self._tx, step.task_id)
        if task is None or task.state not in TASK_ENDED:
            end_step(self._tx, self._row, step.place, "cancelled", None, "its task is gone")
            return
        state, error = task.state, task.error
        data = (msgspec.json.decode(task.result) or {}).get("data") if task.result else None
        if state == "done" and isinstance(data, dict) and data.get("success") is False:
            state, error = "failed", str(data.get("error") or "its worker reported no success")
        end_step(self._tx, self._row, step.place, state, task.holder or task.agent, error)

    # steps that wait

    def _give_out(self, out: Sequence[Row]) -> None:
        """Make tasks of the steps that may begin, as far as there are workers for them."""
        held, more = choosing.loads(step.agent for step in out), choosing.loads(())
        idle: list[Step] = []
        after = 0
        while self._has_room(held):
            page = self._tx.all(WAITING_STEPS, run_id=self._row.id, after=after, limit=PAGE)
            for step in map(step_of, page):
                if not self._may_begin(step):
                    continue
                worker = choose(step, self._may(step, held), strict=self._draft.strict, more=more)
                if worker is None:
                    idle.append(step)
                elif self._assign(step, worker):
                    held[worker.name] += 1
                    more[worker.name] += 1
            if len(page) < PAGE or not any(each.ready for each in self._workers):
                break
            after = page[-1].place
        self._say_why(idle)

    def _has_room(self, held: Mapping[str, int]) -> bool:
        """Whether somebody may get more; or nobody takes work at all, which is to be said."""
        ready = [each for each in self._workers if each.ready]
        return not ready or self._draft.mode == "broadcast" or any(held.get(each.name, 0) < WINDOW for each in ready)

    def _may_begin(self, step: Step) -> bool:
        """Whether all that it needs is done; what needs something that failed is skipped, what only one could do who is gone has failed."""
        if self._draft.mode == "broadcast" and all(each.name != step.wanted for each in self._workers):
            end_step(self._tx, self._row, step.place, "failed", None, f"{step.wanted} is not in the fleet any more")
            return False
        if not step.needs:
            return True
        states = self._states
        broken = next((place for place in step.needs if states[place] in ("failed", "skipped", "cancelled")), None)
        if broken is not None:
            states[step.place] = "skipped"
            end_step(self._tx, self._row, step.place, "skipped", None, f"it needs step {broken}, which is {states[broken]}")
            return False
        return all(states[place] == "done" for place in step.needs)

    def _may(self, step: Step, held: Mapping[str, int]) -> list[Worker]:
        """Who may get a step now: of a broadcast its own worker alone, else all who have not enough of this run already."""
        if self._draft.mode == "broadcast":
            return [each for each in self._workers if each.name == step.wanted]
        return [each for each in self._workers if held.get(each.name, 0) < WINDOW]

    def _assign(self, step: Step, worker: Worker) -> bool:
        """Whether the step is a task of the worker's now."""
        draft, ident = self._draft, f"{self._row.id}-{step.place}"
        wanted = TaskDraft(
            description=step.description,
            agent=worker.name,
            task_id=ident,
            capability=next((each for each in step.capabilities if each in worker.capabilities), None),
            priority=draft.priority,
            project_id=draft.project_id,
            estimated_seconds=draft.estimated_seconds,
            max_attempts=draft.max_attempts,
            data={"team": self._row.id, "step": step.place, "goal": fit(draft.goal, 4000)} | self._inputs(step),
        )
        try:
            with self._tx.attempt():
                task = adding.add(self._tx, wanted, self._by, origin="workflow", parent=self._row.id)
            if task.parent_id != self._row.id:
                raise IdTaken(f"a task {ident} was there before, which is not of this run.", field="taskId")
        except CoveyError as error:  # its worker or its project is gone just now, or its id is another's
            end_step(self._tx, self._row, step.place, "failed", None, error.message)
            return False
        self._tx.run(STEP_OUT, run_id=self._row.id, place=step.place, worker=worker.name, task_id=task.task_id)
        self._tx.happened("team.assigned", agent=worker.name, subject=self._row.id, step=step.place, task=task.task_id)
        return True

    def _inputs(self, step: Step) -> dict[str, Any]:
        """The results of what a step needs, word for word as far as they fit."""
        if not step.needs:
            return {}
        rows = [row for place in step.needs for row in self._tx.all(RESULT_OF, run_id=self._row.id, place=place)]
        return {"inputs": inputs_of(rows, INPUT_BYTES)}

    def _say_why(self, idle: Sequence[Step]) -> None:
        """Why steps wait, if nobody who takes work is able to do them; the operator hears of it once (A1a)."""
        stuck = [step for step in idle if choose(step, self._may(step, {}), strict=self._draft.strict) is None]
        if not stuck:
            if self._row.why:
                self._tx.run(WHY, id=self._row.id, why=None)
            return
        able = [each for each in self._workers if self._is_able(stuck[0], each)]
        who = "; ".join(f"{each.name}: {each.why_not}" for each in able if each.why_not) or "none of its workers is able to"
        why = fit(f"nobody takes step {stuck[0].place} now ({who})", 2000)
        if self._row.told_at is None and self._tx.now - self._row.created_at >= TELL_S:
            self._tx.run(TOLD, id=self._row.id, now=self._tx.now, why=why)
            sending.notify(self._tx, OPERATOR, f"Team run {self._row.id} waits", f"{self._row.id} does not get on: {why}.")
        elif why != self._row.why:
            self._tx.run(WHY, id=self._row.id, why=why)

    def _is_able(self, step: Step, worker: Worker) -> bool:
        if self._draft.mode == "broadcast" and worker.name != step.wanted:
            return False
        return not self._draft.strict or choosing.fit_of(step, worker) is not None

    # steps whose worker can't, or failed

    def _move_stuck(self, out: Sequence[Row]) -> None:
        """Give tasks that wait with a worker that takes nothing, or that failed at them, to a better one (H6)."""
        waiting = [step for step in out if step.task_state == "queued"]
        if self._draft.mode == "broadcast" or not waiting:
            return
        ready = {each.name: each for each in self._workers if each.ready}
        more = choosing.loads(())
        groups = groups_of(self._names, self._draft.span)
        for row in waiting:
            failed_by = msgspec.json.decode(row.failed_by)
            if row.agent in ready and row.agent not in failed_by:
                continue
            step, first = step_of(row)._replace(wanted=None), near(row.agent or "", groups)
            heir = choose(step, ready.values(), strict=self._draft.strict, more=more, failed_by=failed_by, first=first)
            if heir is None or heir.name == row.agent:
                continue
            if row.agent in ready and failed_by.count(heir.name) >= failed_by.count(row.agent):
                continue
            if self._move(row, heir):
                more[heir.name] += 1

    def _move(self, step: Row, heir: Worker) -> bool:
        self._tx.lock("task", step.task_id)
        task = tasks.seek(self._tx, step.task_id)
        if task is None or task.state != "queued":
            return False
        fitting = next((each for each in msgspec.json.decode(step.capabilities) if each in heir.capabilities), task.capability)
        changing.move(self._tx, task, heir.name, fitting, THE_SYSTEM)
        self._tx.run(STEP_MOVED, run_id=self._row.id, place=step.place, worker=heir.name)
        self._tx.happened(
            "team.rerouted",
            agent=heir.name,
            subject=self._row.id,
            step=step.place,
            task=step.task_id,
            before=step.agent,
            error=fit(task.error or "", 500),
        )
        return True


def step_of(row: Row) -> Step:
    """The step of a row."""
    capabilities, needs = msgspec.json.decode(row.capabilities), msgspec.json.decode(row.needs)
    return Step(row.place, row.kind, row.description, tuple(capabilities), row.wanted, tuple(needs))


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
