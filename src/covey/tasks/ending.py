"""The end of a task and what comes of it: what needed it moves on or fails, a split task is joined, hearers are told (K3, K5)."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import msgspec

from covey.agents import roster
from covey.agents.model import OPERATOR, SYSTEM
from covey.base.wire import fit
from covey.messages import sending
from covey.store import Row, Transaction, statement
from covey.store.bell import NEWS
from covey.tasks import adding, reading
from covey.tasks.model import after_move

END = statement(__package__, "end")
MEET = statement(__package__, "meet")
UNBLOCK = statement(__package__, "unblock")

RESULT_BYTES = 256 * 1024
ERROR_BYTES = 10_000
TOLD_BYTES = 20_000
TOLD_TASKS = 100


class Cause(NamedTuple):
    """The first end of a chain of tasks that took one another along, however long the chain."""

    ident: str
    state: str
    error: str | None

    def __str__(self) -> str:
        return f"{self.ident}, which is {self.state}{': ' + self.error if self.error else ''}"


class Ended(NamedTuple):
    """One task that has just ended; `cause` is the end that took it along, if any."""

    row: Row
    """As it was before."""
    after: Row
    state: str
    result: dict[str, object] | None
    error: str | None
    cause: Cause | None


class _Step(NamedTuple):
    """A move that a task has still to make because another one ended."""

    ident: str
    move: str
    error: str | None
    cause: Cause


def end(
    tx: Transaction,
    row: Row,
    move: str,
    *,
    result: dict[str, object] | None = None,
    error: str | None = None,
    failed_by: str | None = None,
    by: str | None = None,
) -> Row:
    """The row of a task, locked before, closed by a move of the table; all that needed it moves on or fails; each hearer is told once.

    `by` is who did it by hand: it needs no telling.
    """
    ended = [_close(tx, row, move, result, error, failed_by, None)]
    line = deque(_next_steps(tx, ended[0]))
    while line:
        step = line.popleft()
        waiting = reading.seek(tx, step.ident)
        if waiting is None or waiting.state != "blocked":
            continue
        joined = _joined(tx, waiting.id) if step.move == "join" else None
        ended.append(_close(tx, waiting, step.move, joined, step.error, None, step.cause))
        line.extend(_next_steps(tx, ended[-1]))
    _tell_all(tx, ended, by)
    return ended[0].after


def _close(
    tx: Transaction, row: Row, move: str, result: dict[str, object] | None, error: str | None, failed_by: str | None, cause: Cause | None
) -> Ended:
    state = after_move(row.state, move)
    error = fit(error, ERROR_BYTES) if error else None
    text = msgspec.json.encode(result).decode() if result is not None else None
    after = tx.one(END, id=row.id, state=state, result=text, error=error, failed_by=failed_by or row.failed_by, now=tx.now)
    tx.happened(
        f"task.{state}",
        agent=row.holder or row.agent,
        subject=row.id,
        error=error[:500] if error else None,
        took_s=round(tx.now - row.claimed_at, 3) if row.claimed_at else None,
    )
    tx.ring(NEWS)
    return Ended(row, after, state, result, error, cause)


def _next_steps(tx: Transaction, ended: Ended) -> list[_Step]:
    """What the tasks that needed this one do now; those that only lose a blocker lose it here."""
    steps = []
    ident: str = ended.row.id
    cause = ended.cause or Cause(ident, ended.state, ended.error)
    for name in sorted(row.task_id for row in tx.all(MEET, needs_id=ident, now=tx.now)):
        tx.lock("task", name)
        waiting = reading.seek(tx, name)
        if waiting is None or waiting.state != "blocked":
            continue
        if ended.state != "done" and not waiting.anyway:
            why = f"it needs {cause}" if ended.cause is None else f"it needs {ident}, which is {ended.state}, as that needs {cause}"
            steps.append(_Step(name, "fail", fit(why, 2000), cause))
        elif waiting.blockers == 1 and waiting.split_at is not None:
            steps.append(_Step(name, "join", None, cause))
        else:
            unblock(tx, name)
    return steps


def unblock(tx: Transaction, ident: str) -> None:
    """Take one blocker off; the last one makes the task ready."""
    row = tx.one(UNBLOCK, id=ident, now=tx.now)
    if row is not None and row.state == "queued":
        tx.happened("task.unblocked", agent=row.agent, subject=ident)
        adding.ring_queue(tx, row.queue)


def join(tx: Transaction, row: Row) -> None:
    """Close a split task whose parts are all done."""
    end(tx, row, "join", result=_joined(tx, row.id))


def _joined(tx: Transaction, parent: str) -> dict[str, object]:
    """The result of a split task: its parts' results, in order, word for word (Q6); what is too much stays with the parts."""
    parts = reading.children(tx, parent)
    summary = fit("\n\n".join(str(part.result.get("summary", "")) for part in parts if part.result), RESULT_BYTES)
    size = sum(len(msgspec.json.encode(part.result)) for part in parts)
    shown = [{"taskId": part.task_id, "state": part.state, "result": part.result if size <= RESULT_BYTES else None} for part in parts]
    return {"summary": summary, "parts": shown}


def _tell_all(tx: Transaction, ended: list[Ended], by: str | None) -> None:
    """One notice for each who must hear, of all that concerns it: a storm of failures is one mail."""
    lead = roster.lead(tx)[0] if any(each.state == "failed" for each in ended) else ""
    told: dict[str, list[Ended]] = {}
    for each in ended:
        for name in sorted(_hearers(each, lead) - {by}):
            told.setdefault(name, []).append(each)
    for name, theirs in told.items():
        _tell(tx, name, theirs)


def _hearers(ended: Ended, lead: str) -> set[str]:
    """Who is told: who gave it to another; of a failure its creator in any case, and the lead of what began it (K5). Pure."""
    row = ended.row
    if ended.state == "failed":
        return {row.created_by, *([lead] if ended.cause is None else [])} - {SYSTEM}
    gave_away = row.origin == "agent" and row.created_by != (row.holder or row.agent)
    return {row.created_by} - {SYSTEM, OPERATOR} if gave_away else set()


def _tell(tx: Transaction, name: str, ended: list[Ended]) -> None:
    """The end of a task that it gave to another wakes an agent (M4b)."""
    first, rest = ended[0], ended[1:]
    word = first.error or str((first.result or {}).get("summary", ""))
    lines = [f"The task {first.row.id} ({first.row.description[:500]}) is {first.state}. {fit(word, TOLD_BYTES)}"]
    lines += [
        f"{each.row.id} ({each.row.description[:100]}) is {each.state} too: {each.error or 'see its result'}"[:500]
        for each in rest[:TOLD_TASKS]
    ]
    if len(rest) > TOLD_TASKS:
        lines.append(f"… and {len(rest) - TOLD_TASKS} more.")
    failed = any(each.state == "failed" for each in ended)
    sending.notify(
        tx,
        name,
        f"Task {first.state}: {first.row.description[:200]}",
        "\n".join(lines),
        priority="high" if failed else "medium",
        related_tasks=[each.row.id for each in ended[:TOLD_TASKS]],
        prompts=any(each.row.created_by == name != (each.row.holder or each.row.agent) for each in ended),
    )
