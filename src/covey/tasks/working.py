"""A task in its holder's hands: claimed by compare-and-swap under a lease, renewed, ended under its token (K4, K5). An old token changes nothing."""

from __future__ import annotations

import msgspec

from covey.agents import living, roster
from covey.agents.model import OPERATOR, SYSTEM, Caller
from covey.base.errors import LeaseLost
from covey.messages import sending
from covey.messages.model import backoff_s, data_text
from covey.store import Row, Transaction, relaxed, statement
from covey.tasks import adding, reading
from covey.tasks.model import Task, TaskDraft, after_move

CLAIM = statement(__package__, "claim")
STARTED = statement(__package__, "started")
RENEW = statement(__package__, "renew")
PROGRESS = statement(__package__, "progress")
HELD = statement(__package__, "held")
END = statement(__package__, "end")
REQUEUE = statement(__package__, "requeue")
BLOCK = statement(__package__, "block")
ADD_NEED = statement(__package__, "add_need")
MEET = statement(__package__, "meet")
UNBLOCK = statement(__package__, "unblock")
LAPSED = statement(__package__, "lapsed")
NOT_STARTED = statement(__package__, "not_started")
OF_HOLDER = statement(__package__, "of_holder")
AWAITS = statement(__package__, "awaits")
SHIFT = statement(__package__, "shift_leases")
RESULT_BYTES = 256 * 1024


@relaxed
def claim(tx: Transaction, agent: str, run_id: str, *, lease_s: float) -> tuple[Task, str] | None:
    """The best waiting task of the agent's queues, running under a lease, and its token; None if nothing waits (K2, K4).

    Of any number of claimers one wins. `attempts` rises here and nowhere else.
    """
    token = tx.new_token()
    row = tx.one(CLAIM, agent=agent, token=token, run_id=run_id, lease_ends=tx.now + lease_s, now=tx.now)
    if row is None:
        return None
    tx.happened("task.claimed", agent=agent, subject=row.id, attempt=row.attempts, run=run_id)
    return reading.with_needs(tx, row), token


@relaxed
def started(tx: Transaction, agent: str, token: str) -> None:
    """The brain has started on the task; a claim without it goes back after 30 s (K4a).

    Raises:
        LeaseLost: The token is not current.
    """
    if tx.run(STARTED, token=token, now=tx.now) == 0:
        raise lost(agent)


@relaxed
def renew(tx: Transaction, token: str, *, lease_s: float) -> bool:
    """Whether this token still leases a task; if so its lease is longer now (K4)."""
    return tx.run(RENEW, token=token, lease_ends=tx.now + lease_s) > 0


def progress(tx: Transaction, agent: str, token: str, text: str) -> None:
    """A word on how far the task is; counts as life for the idle timeout (K4a).

    Raises:
        LeaseLost: The token is not current; nothing changed.
    """
    row = _held(tx, agent, token)
    tx.run(PROGRESS, token=token, progress=text[:2000], now=tx.now)
    tx.happened("task.progress", agent=agent, subject=row.id, text=text[:500])


def finish(tx: Transaction, agent: str, token: str, summary: str, data: dict[str, object] | None = None) -> Task:
    """The task, done with its result; what needed it moves on in the same commit (K3).

    Raises:
        LeaseLost: The token is not current; drop the outcome.
    """
    row = _held(tx, agent, token)
    result = {"summary": summary[:RESULT_BYTES], "data": msgspec.json.decode(data_text(data, "data")) if data else {}, "by": agent}
    end(tx, row, "finish", result=result)
    living.acted(tx, agent, tasks=1, task_s=max(0.0, tx.now - (row.started_at or row.claimed_at)))
    return reading.show(tx, row.id)


def fail(tx: Transaction, agent: str, token: str, error: str, *, permanent: bool = False) -> Task:
    """The task, queued again after a backoff, or failed after its last attempt (K5). A permanent error is not tried again.

    Raises:
        LeaseLost: The token is not current.
    """
    row = _held(tx, agent, token)
    failed_by = msgspec.json.encode([*msgspec.json.decode(row.failed_by), agent]).decode()
    living.failed_once(tx, agent, tasks=1)
    if permanent or row.attempts >= row.max_attempts:
        end(tx, row, "fail", error=error, failed_by=failed_by)
    else:
        wait = jittered(backoff_s(row.attempts), tx.new_token())
        after_move(row.state, "retry")
        tx.run(REQUEUE, id=row.id, not_before=tx.now + wait, error=error[:10_000], failed_by=failed_by, back=0)
        tx.happened("task.retried", agent=agent, subject=row.id, attempt=row.attempts, again_in_s=round(wait, 2), error=error[:500])
    return reading.show(tx, row.id)


def jittered(seconds: float, noise: str) -> float:
    """The wait with a jitter of up to a quarter taken off, from random hex digits. Pure (K5)."""
    return seconds * (1.0 - int(noise[:8], 16) / 0xFFFFFFFF / 4)


def give_back(tx: Transaction, token: str, reason: str) -> str | None:
    """The id of the task that waits again as if it had not been claimed: its attempt does not count (K4). None: the token is old."""
    row = tx.one(HELD, token=token)
    if row is None:
        return None
    after_move(row.state, "give_back")
    tx.run(REQUEUE, id=row.id, not_before=tx.now, error=row.error, failed_by=row.failed_by, back=1)
    tx.happened("task.returned", agent=row.holder, subject=row.id, reason=reason)
    adding.ring_queue(tx, row.queue)
    ident: str = row.id
    return ident


def wait_for_answer(tx: Transaction, agent: str, token: str, message_id: str) -> Task:
    """The task, blocked until the answer to a message comes or is given up; the attempt does not count.

    Raises:
        LeaseLost: The token is not current.
    """
    row = _held(tx, agent, token)
    after_move(row.state, "wait")
    tx.run(BLOCK, id=row.id, blockers=1, waiting_for=message_id, split_at=None, attempts=row.attempts - 1)
    tx.happened("task.waits", agent=agent, subject=row.id, message=message_id)
    return reading.show(tx, row.id)


def answer_came(tx: Transaction, agent: str, message_id: str) -> list[str]:
    """The tasks of an agent that waited for the answer to this message; they are queued again."""
    found = []
    for row in tx.all(AWAITS, message_id=message_id):
        unblock(tx, row.id)
        found.append(row.id)
    return found


def split(tx: Transaction, agent: str, token: str, parts: list[TaskDraft]) -> list[Task]:
    """The parts that stand for the task from now on; it waits for them and is done when they are (K1, H3).

    Raises:
        LeaseLost: The token is not current.
        Invalid: A part is of the wrong form; nothing changed.
    """
    row = _held(tx, agent, token)
    return split_row(tx, row, parts, Caller("agent", agent), attempts=row.attempts - 1)


def split_row(tx: Transaction, row: Row, parts: list[TaskDraft], by: Caller, *, attempts: int) -> list[Task]:
    """As `split`, for whoever may change the task."""
    after_move(row.state, "split")
    made = [adding.add(tx, part, by, origin="split", parent=row.id, visited=tuple(msgspec.json.decode(row.visited))) for part in parts]
    tx.run(BLOCK, id=row.id, blockers=len(made) + (row.blockers if row.state == "blocked" else 0), waiting_for=None, split_at=tx.now, attempts=attempts)
    for part in made:
        tx.run(ADD_NEED, task_id=row.id, needs_id=part.task_id, met_at=None)
    tx.happened("task.split", agent=row.holder or row.agent, subject=row.id, parts=[part.task_id for part in made])
    return made


def end(tx: Transaction, row: Row, move: str, *, result: dict[str, object] | None = None, error: str | None = None, failed_by: str | None = None) -> None:
    """Close a task by a move of the table, tell who must hear of it, and let what needed it move on or fail (K3)."""
    line = [(row, move, result, error)]
    while line:
        row, move, result, error = line.pop(0)
        state = after_move(row.state, move)
        text = msgspec.json.encode(result).decode() if result is not None else None
        tx.run(END, id=row.id, state=state, result=text, error=error[:10_000] if error else None, failed_by=failed_by or row.failed_by, now=tx.now)
        tx.happened(f"task.{state}", agent=row.holder or row.agent, subject=row.id, error=error[:500] if error else None,
                    took_s=round(tx.now - row.claimed_at, 3) if row.claimed_at else None)  # fmt: skip
        failed_by = None
        _tell(tx, row, state, result, error)
        for dependent in tx.all(MEET, needs_id=row.id, now=tx.now):
            waiting = reading.seek(tx, dependent.task_id)
            if waiting is None or waiting.state != "blocked":
                continue
            if state != "done" and not waiting.anyway:
                line.append((waiting, "fail", None, f"it needs {row.id}, which is {state}{': ' + error if error else ''}"[:2000]))
            elif waiting.blockers == 1 and waiting.split_at is not None:
                line.append((waiting, "join", _joined(tx, waiting.id), None))
            else:
                unblock(tx, waiting.id)


def _joined(tx: Transaction, parent: str) -> dict[str, object]:
    """The result of a split task: its parts' results, in order, word for word (Q6)."""
    parts = reading.children(tx, parent)
    summaries = [part.result["summary"] for part in parts if part.result]
    return {"summary": "\n\n".join(summaries), "parts": [{"taskId": part.task_id, "state": part.state, "result": part.result} for part in parts]}


def unblock(tx: Transaction, ident: str) -> None:
    """Take one blocker off; the last one makes the task ready."""
    row = tx.one(UNBLOCK, id=ident, now=tx.now)
    if row is not None and row.state == "queued":
        tx.happened("task.unblocked", agent=row.agent, subject=ident)
        adding.ring_queue(tx, row.queue)


def _tell(tx: Transaction, row: Row, state: str, result: dict[str, object] | None, error: str | None) -> None:
    """The end of a task given to another wakes who gave it; a failure is told to the lead too (K5, M4b)."""
    hears = {row.created_by} - {row.holder or row.agent, SYSTEM, OPERATOR} if row.origin == "agent" else set()
    if state == "failed":
        hears |= {row.created_by, roster.lead(tx)[0]} - {SYSTEM}
    for name in sorted(hears):
        word = f"{error}" if error else str((result or {}).get("summary", ""))
        sending.notify(
            tx,
            name,
            f"Task {state}: {row.description[:200]}",
            f"The task {row.id} ({row.description[:500]}) is {state}. {word[:20_000]}",
            priority="high" if state == "failed" else "medium",
            related_tasks=[row.id],
            prompts=name == row.created_by,
        )


def lapsed(tx: Transaction, limit: int = 100) -> list[Row]:
    """Tasks whose lease has ended: rows of id, token, run_id, holder. They are suspect, not free (K4)."""
    return tx.all(LAPSED, now=tx.now, limit=limit)


def return_not_started(tx: Transaction, *, start_s: float, limit: int = 100) -> list[str]:
    """Give back the claims whose brain did not start in time (K4a)."""
    rows = tx.all(NOT_STARTED, before=tx.now - start_s, limit=limit)
    return [row.id for row in rows if give_back(tx, row.token, f"its brain did not start within {start_s:g} s")]


def held_by(tx: Transaction, agent: str) -> list[Row]:
    """The tasks that an agent holds: rows of id, token, run_id."""
    return tx.all(OF_HOLDER, holder=agent)


def lose(tx: Transaction, token: str, reason: str) -> Task | None:
    """The task whose holder is known to be gone, tried again or failed; the attempt counts. None: the token is old."""
    row = tx.one(HELD, token=token)
    return fail(tx, row.holder, token, reason) if row is not None else None


def shift_leases(tx: Transaction, seconds: float) -> None:
    """Store time stepped forward by so much: live leases move with it (T2)."""
    tx.run(SHIFT, seconds=seconds)


def _held(tx: Transaction, agent: str, token: str) -> Row:
    row = tx.one(HELD, token=token)
    if row is None or row.holder != agent:
        raise lost(agent)
    tx.lock("task", row.id)
    return row


def lost(agent: str) -> LeaseLost:
    """The error for a token that is not current."""
    return LeaseLost(f"{agent}'s lease on this task has ended and its token is void: it was cancelled, given back or taken over. Drop the outcome.")


