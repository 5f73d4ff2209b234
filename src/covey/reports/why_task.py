"""Why a task stands where it stands: who has it, what it waits for, who could take it. All from the store (K8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from covey.agents import roster
from covey.reports import why_budget, why_handoff
from covey.reports.in_line import Told, in_line
from covey.reports.phrases import count, head, listed, span, utc, when
from covey.store import Row, Transaction, statement
from covey.tasks import reading, runs
from covey.tasks.model import Task

COPIES_OF = statement(__package__, "copies_of")
MESSAGE = statement(__package__, "message")
SHORT_MACHINES = statement(__package__, "short_machines")

CHAIN_BOUND = 100
TRIES_SHOWN = 10
WORDS = {"files": "file handles"}


def explain(tx: Transaction, row: Row, stale_s: float | None) -> Told:
    """What can be said of a task, given its row."""
    sentences, facts = _queued(tx, row, stale_s) if row.state == "queued" else _STATES[row.state](tx, row)
    known = {
        "state": row.state,
        "description": head(row.description, 300),
        "priority": row.priority,
        "queue": row.queue,
        "agent": row.agent,
        "capability": row.capability,
        "createdBy": row.created_by,
        "createdAt": row.created_at,
        "attempts": row.attempts,
        "maxAttempts": row.max_attempts,
        "tries": [_shown_try(each) for each in runs.of_item(tx, row.id)[-TRIES_SHOWN:]],
    }
    what = f"“{head(row.description)}”, {row.priority}, from {row.created_by}"
    return [f"The task {row.id} ({what}) is {row.state}.", *sentences], known | facts


def _shown_try(run: Row) -> dict[str, Any]:
    return {"agent": run.agent, "attempt": run.attempt, "claimedAt": run.claimed_at, "endedAt": run.ended_at, "outcome": run.outcome}


def _queued(tx: Transaction, row: Row, stale_s: float | None) -> Told:
    """What holds it back by itself, then its place in line."""
    now, said = tx.now, []
    failed = f"Attempt {row.attempts} of {row.max_attempts} failed: {_reason(row.error)}" if row.attempts and row.error else ""
    if row.not_before > now:
        said.append(
            f"{failed} It is tried again {when(row.not_before, now)}."
            if failed
            else f"It starts {when(row.not_before, now)} at the earliest."
        )
    elif failed:
        said.append(f"{failed} The next attempt waits for its turn.")
    said += why_budget.holds_task(tx, row)
    said += _on_short_machines(tx, row)
    place, facts = in_line(tx, row, stale_s)
    facts |= {"notBefore": row.not_before if row.not_before > now else None, "deadline": row.deadline, "error": row.error}
    said += why_handoff.told(tx, row, facts)
    return said + place + _deadline(row, now), facts


def _on_short_machines(tx: Transaction, row: Row) -> list[str]:
    """Where work that is neither urgent nor high is not taken, since the machine is short of something (H10)."""
    short = [] if row.priority in ("urgent", "high") else tx.all(SHORT_MACHINES)
    home = roster.vitals(tx, row.agent).node if short and row.agent is not None else None
    return [
        f"The machine of the node {each.node} is short of {listed([WORDS.get(word, word) for word in each.why.split()])}: until it has"
        " room again only urgent and high work is taken there."
        for each in short
        if row.agent is None or each.node == home
    ]


def _reason(error: str | None) -> str:
    return head(error or "no reason is recorded", 500).rstrip(".") + "."


def _deadline(row: Row, now: float) -> list[str]:
    return [f"If it still waits at its deadline, {when(row.deadline, now)}, it fails."] if row.deadline is not None else []


def _running(tx: Transaction, row: Row) -> Told:
    now = tx.now
    said = [f"{row.holder} has held it since {when(row.claimed_at, now)}, in attempt {row.attempts} of {row.max_attempts}."]
    if row.started_at is None:
        said.append("Its brain has not started yet; if it does not, the task goes back to its queue.")
    else:
        end = row.started_at + row.estimated_s
        said.append(
            f"Its brain started {when(row.started_at, now)}; by its estimate of {span(row.estimated_s)} the end is {when(end, now)}."
        )
    if row.lease_ends < now:
        said.append(f"Its lease ended {when(row.lease_ends, now)}: it is suspect, and is freed once its processes are known to be gone.")
    else:
        said.append(f"The lease stands until {utc(row.lease_ends)} and is renewed while the brain runs.")
    said.append(f"Last progress {when(row.progress_at, now)}: “{head(row.progress)}”." if row.progress else "It has reported no progress.")
    holder = roster.seek(tx, row.holder)
    if holder is not None and holder.stopped_at is not None:
        said.append(f"{row.holder} is stopped, so its brain is being ended.")
    facts: dict[str, Any] = {
        "holder": row.holder,
        "claimedAt": row.claimed_at,
        "startedAt": row.started_at,
        "leaseEnds": row.lease_ends,
        "progress": row.progress,
        "progressAt": row.progress_at,
        "estimatedCompletion": (row.started_at or row.claimed_at) + row.estimated_s,
    }
    return said + why_handoff.told(tx, row, facts), facts


def _blocked(tx: Transaction, row: Row) -> Told:
    needs = reading.open_needs(tx, row.id)
    parts = [need for need in needs if need.parent_id == row.id]
    others = [need for need in needs if need.parent_id != row.id]
    said: list[str] = []
    facts: dict[str, Any] = {
        "needs": [_shown(need) for need in others],
        "parts": [_shown(part) for part in parts],
        "approval": row.approval,
    }
    if row.approval == "wanted":
        said.append(f"It wants the operator's approval: `covey approve {row.id}` or `covey refuse {row.id}`.")
    said += why_handoff.told(tx, row, facts)
    if row.waiting_for is not None and row.split_at is None and not why_handoff.is_mark(tx, row):
        said += _awaits(tx, row, facts)
    if others:
        said.append(f"It needs {_named(others)} to be done first.")
    if parts:
        said.append(f"It was split and is done when its parts are; still open: {_named(parts)}.")
    said += _first_unfinished(tx, others or parts, facts)
    if not said:
        said.append(f"The store counts {count(row.blockers, 'blocker')} for it and names none; that is a fault, please report it.")
    facts["deadline"] = row.deadline
    return said + _deadline(row, tx.now), facts


def _awaits(tx: Transaction, row: Row, facts: dict[str, Any]) -> list[str]:
    """Whose answer it waits for, until when; not what was asked, for tasks are everybody's to see and mail is not."""
    copies = tx.all(COPIES_OF, id=row.waiting_for, limit=10)
    until = min((copy.answer_due for copy in copies if copy.answer_due is not None), default=None)
    facts["waitsFor"] = {"messageId": row.waiting_for, "from": [copy.receiver for copy in copies], "until": until}
    asked = tx.one(MESSAGE, id=row.waiting_for)
    if asked is None:
        return [f"It waits for the answer to the message {row.waiting_for}, which is no longer kept."]
    whose = listed([copy.receiver for copy in copies], word="or") or "nobody"
    end = f" and gives up {when(until, tx.now)}" if until is not None else ""
    return [f"It waits for {whose} to answer the message {row.waiting_for}, sent {when(asked.created_at, tx.now)}{end}."]


def _first_unfinished(tx: Transaction, needs: list[Task], facts: dict[str, Any]) -> list[str]:
    """The end of the chain: what must happen first for anything to move."""
    if not needs or needs[0].state != "blocked":
        return []
    chain, seen = [needs[0]], {needs[0].task_id}
    while chain[-1].state == "blocked" and len(chain) < CHAIN_BOUND:
        further = next((need for need in reading.open_needs(tx, chain[-1].task_id) if need.task_id not in seen), None)
        if further is None:
            break
        chain.append(further)
        seen.add(further.task_id)
    first = chain[-1]
    facts["firstUnfinished"] = _shown(first)
    wants = ", which wants the operator's approval" if first.approval == "wanted" else ""
    waits = f", which waits for the answer to {first.waiting_for}" if first.state == "blocked" and first.waiting_for else ""
    return [f"Behind that, the first unfinished task is {first.task_id} (“{head(first.description)}”, {_stands(first)}){wants or waits}."]


def _named(tasks: list[Task]) -> str:
    return listed([f"{task.task_id} ({_stands(task)})" for task in tasks])


def _stands(task: Task) -> str:
    if task.state == "running":
        return f"running with {task.holder}"
    return f"queued for {task.agent or f'anybody able of {task.capability}'}" if task.state == "queued" else task.state


def _shown(task: Task) -> dict[str, Any]:
    return {"taskId": task.task_id, "state": task.state, "holder": task.holder, "agent": task.agent, "description": head(task.description)}


def _ended(tx: Transaction, row: Row) -> Told:
    now = tx.now
    took = f" after {span(row.finished_at - row.claimed_at)}" if row.claimed_at is not None and row.holder is not None else ""
    by = f"{row.holder} finished it" if row.state == "done" and row.holder else "It ended"
    said = [f"{by} {when(row.finished_at, now)}{took}."]
    if row.state != "done":
        tried = f", after {row.attempts} of {row.max_attempts} attempts" if row.state == "failed" and row.attempts else ""
        said.append(f"The reason{tried}: {_reason(row.error)}")
    if row.state == "failed":
        said.append(_again(tx, row))
    return said, {"finishedAt": row.finished_at, "error": row.error if row.state != "done" else None, "holder": row.holder}


def _again(tx: Transaction, row: Row) -> str:
    """What brings a failed task back: nothing, while something that it needs is cancelled."""
    needs = [] if row.anyway else [reading.show(tx, name) for name in reading.needs_of(tx, row.id)]
    gone = next((need.task_id for need in needs if need.state == "cancelled"), None)
    if gone is not None:
        return f"It can't be tried again, since {gone} was cancelled; add a new task instead."
    first = next((need.task_id for need in needs if need.state == "failed"), None)
    retry = f"`covey task retry {row.id}` queues it again"
    return f"Once {first} is retried, {retry}." if first is not None else f"{retry}."


_STATES: dict[str, Callable[[Transaction, Row], Told]] = {
    "running": _running,
    "blocked": _blocked,
    "done": _ended,
    "failed": _ended,
    "cancelled": _ended,
}
