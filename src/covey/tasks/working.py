"""A task in its holder's hands: claimed by compare-and-swap under a lease, renewed, ended under its token (K4, K5).

An old token changes nothing.
"""

from __future__ import annotations

import msgspec

from covey.agents import breaking, living
from covey.agents.model import Caller
from covey.base.errors import Conflict, LeaseLost
from covey.base.wire import fit
from covey.messages import waiting
from covey.messages.checking import data_text
from covey.messages.model import backoff_s
from covey.store import Row, Transaction, locking, relaxed, statement
from covey.store.bell import NEWS
from covey.tasks import adding, ending, reading, refusing, splitting
from covey.tasks.ending import ERROR_BYTES, RESULT_BYTES
from covey.tasks.model import ONLY, Only, Task, TaskDraft, after_move

CLAIM = statement(__package__, "claim")
PRESSING = statement(__package__, "pressing")
STARTED = statement(__package__, "started")
RENEW = statement(__package__, "renew")
PROGRESS = statement(__package__, "progress")
HELD = statement(__package__, "held")
REQUEUE = statement(__package__, "requeue")
BLOCK = statement(__package__, "block")
LAPSED = statement(__package__, "lapsed")
NOT_STARTED = statement(__package__, "not_started")
OF_HOLDER = statement(__package__, "of_holder")
AWAITS = statement(__package__, "awaits")
ANSWERED = statement(__package__, "answered")
SHIFT = statement(__package__, "shift_leases")
PROGRESS_BYTES = 2000
LEFT_LYING_S = 60.0
"""An answer that nobody fetched for a task after so long sets it free all the same."""


@relaxed
def claim(
    tx: Transaction, agent: str, run_id: str, *, lease_s: float, only: Only = "all", pressing: bool = False, starts: bool = False
) -> tuple[Task, str] | None:
    """The best waiting task of the agent's queues, running under a lease, and its token; None if nothing waits (K2, K4).

    Of any number of claimers one wins. `attempts` rises here and nowhere else. An agent that is paused or stopped gets nothing; one
    behind an open breaker neither, but the one that is let through when it is half-open (H6).
    `only`: the rest waits, since it would cost money that nobody granted (P3). `pressing`: what is neither urgent nor high waits, since
    the machine is short of something (H10). `starts`: the brain is in the process that claims, so it starts with the claim (K4a).
    """
    if pressing and tx.one(PRESSING, agent=agent, now=tx.now) is None:
        return None
    token = tx.new_token()
    given = {
        "agent": agent, "token": token, "run_id": run_id, "lease_ends": tx.now + lease_s, "now": tx.now,
        "started_at": tx.now if starts else None, "only": ONLY.index(only), "me": f"%{refusing.mark(agent)}%", "pressing": int(pressing),
    }  # fmt: skip
    row = tx.one(CLAIM, **given, through=0)
    if row is None and breaking.open_of(tx, agent) is not None and breaking.lets_through(tx, agent, run_id):
        row = tx.one(CLAIM, **given, through=1)
    if row is None:
        return None
    tx.happened("task.claimed", agent=agent, subject=row.id, attempt=row.attempts, run=run_id, trace=row.traceparent)
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
    text = fit(text, PROGRESS_BYTES)
    tx.run(PROGRESS, token=token, progress=text, now=tx.now)
    tx.happened("task.progress", agent=agent, subject=row.id, text=text[:500])
    tx.ring(NEWS)


def finish(tx: Transaction, agent: str, token: str, summary: str, data: dict[str, object] | None = None) -> Task:
    """The task, done with its result; what needed it moves on in the same commit (K3).

    Raises:
        LeaseLost: The token is not current; drop the outcome.
        Invalid, TooLarge: The data is not JSON, or over 64 KiB; the task still runs.
    """
    row = _held(tx, agent, token)
    result = {"summary": fit(summary, RESULT_BYTES), "data": msgspec.json.decode(data_text(data, "data")) if data else {}, "by": agent}
    done = ending.end(tx, row, "finish", result=result)
    living.acted(tx, agent, tasks=1, task_s=max(0.0, tx.now - (row.started_at or row.claimed_at)))
    return reading.with_needs(tx, done)


def fail(
    tx: Transaction, agent: str, token: str, error: str, *, permanent: bool = False, not_started: bool = False, poisonous: bool = False
) -> Task:
    """The task, queued again after a backoff, or failed after its last attempt (K5). A permanent error is not tried again.

    A brain that could not even start says nothing of the task: one of a shared queue, or of a team run, is for others to try (H6); so is
    a shared one that this brain says it can't do (A1a), but not a `poisonous` one, which is permanent too (H7a).

    Raises:
        LeaseLost: The token is not current.
    """
    row = _held(tx, agent, token)
    error = fit(error, ERROR_BYTES)
    failed_by = msgspec.json.encode([*msgspec.json.decode(row.failed_by), agent]).decode()
    living.failed_once(tx, agent, row.id, error, tasks=1, refused=permanent, not_started=not_started)
    if permanent and not (not_started or poisonous) and refusing.pass_on(tx, row, agent, error, failed_by):
        return reading.show(tx, row.id)
    if (permanent and not (not_started and (row.agent is None or row.origin == "workflow"))) or row.attempts >= row.max_attempts:
        ending.end(tx, row, "fail", error=error, failed_by=failed_by)
    else:
        wait = jittered(backoff_s(row.attempts), tx.new_token())
        after_move(row.state, "retry")
        tx.run(REQUEUE, id=row.id, not_before=tx.now + wait, error=error, failed_by=failed_by, back=0)
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
    tx.happened("task.returned", agent=row.holder, subject=row.id, reason=fit(reason, 500))
    adding.ring_queue(tx, row.queue)
    ident: str = row.id
    return ident


def wait_for_answer(tx: Transaction, agent: str, token: str, message_id: str) -> Task:
    """The task, blocked until the answer to a message comes or is given up; the attempt does not count.

    Raises:
        LeaseLost: The token is not current.
        Conflict: Nobody's answer to that message is waited for, so the wait would have no end.
    """
    row = _held(tx, agent, token)
    if not waiting.is_open(tx, message_id):
        raise Conflict(
            f"nobody's answer to {message_id!r} is waited for: it needs requiresResponse, a receiver, and no answer yet.", field="messages"
        )
    after_move(row.state, "wait")
    tx.run(BLOCK, id=row.id, blockers=1, waiting_for=message_id, split_at=None, attempts=row.attempts - 1)
    tx.happened("task.waits", agent=agent, subject=row.id, message=message_id)
    tx.ring(NEWS)
    return reading.show(tx, row.id)


def answer_came(tx: Transaction, _agent: str, message_id: str) -> list[str]:
    """The tasks that waited for the answer to this message; they are queued again."""
    return _resume(tx, [row.id for row in tx.all(AWAITS, message_id=message_id)], message_id)


def resume_answered(tx: Transaction, limit: int = 100) -> list[str]:
    """Tasks whose answer came a while ago and was not fetched for them (closed by hand, or sent to an agent that is gone); queued again."""
    rows = tx.all(ANSWERED, before=tx.now - LEFT_LYING_S, limit=limit)
    return [ident for row in rows for ident in _resume(tx, [row.id], row.waiting_for)]


def _resume(tx: Transaction, idents: list[str], message_id: str) -> list[str]:
    found = []
    for ident in sorted(idents):
        tx.lock("task", ident)
        row = reading.seek(tx, ident)
        if row is not None and row.state == "blocked" and row.waiting_for == message_id:
            ending.unblock(tx, ident)
            found.append(ident)
    return found


@locking(lambda *_, **__: [("dependencies", "")])
def split(tx: Transaction, agent: str, token: str, parts: list[TaskDraft]) -> list[Task]:
    """The parts that stand for the task from now on; it waits for them and is done when they are (K1, H3).

    Raises:
        LeaseLost: The token is not current.
        Invalid: A part is of the wrong form; nothing changed.
    """
    tx.lock("dependencies", "")  # before the task itself, else two that split at once wait for each other
    row = _held(tx, agent, token)
    return splitting.split(tx, row, parts, Caller("agent", agent), attempts=row.attempts - 1)


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


def shift_leases(tx: Transaction, seconds: float) -> None:
    """Store time stepped forward by so much: live leases move with it (T2)."""
    tx.run(SHIFT, seconds=seconds)


def _held(tx: Transaction, agent: str, token: str) -> Row:
    """The running task of this token; nobody else changes it before the commit."""
    row = tx.one(HELD, token=token)
    if row is None or row.holder != agent:
        raise lost(agent)
    return row


def lost(agent: str) -> LeaseLost:
    """The error for a token that is not current."""
    return LeaseLost(
        f"{agent}'s lease on this task has ended and its token is void: it was cancelled, given back or taken over. Drop the outcome."
    )
