"""Threads in which two agents took turns for too long: paused for all agents until the operator resumes them (L10)."""

from __future__ import annotations

from typing import NamedTuple

from covey.agents.model import Caller
from covey.base.errors import Forbidden, NotFound
from covey.links import loops
from covey.store import Row, Transaction, statement

PAUSE = statement(__package__, "pause_thread")
RESUME = statement(__package__, "resume_thread")
COUNT_ANEW = statement(__package__, "count_anew")
PAUSE_OF = statement(__package__, "pause_of")
PAUSES = statement(__package__, "pauses")
STREAK = statement(__package__, "streak")
TASK_MOVED = statement(__package__, "task_moved")


def got_somewhere(tx: Transaction, thread: str, pair: tuple[str, str]) -> bool:
    """Whether a task of either agent changed while they took turns in this thread, or does so in this very transaction."""
    row = tx.one(STREAK, thread_id=thread)
    since = row.created_at if row is not None else tx.now
    if any(event.agent in pair and event.kind.startswith("task.") and event.kind != "task.refused" for event in tx.events):
        return True
    return any(tx.one(TASK_MOVED, agent=agent, since=since) is not None for agent in pair)


def pause(tx: Transaction, thread: str, pair: tuple[str, str]) -> str:
    """Why the thread is paused from now on."""
    one, other = sorted(pair)
    reason = f"{one} and {other} took {loops.MOST_TURNS} turns in it with no task changed and nobody else"
    if tx.run(PAUSE, thread_id=thread, reason=reason, now=tx.now):
        tx.happened("thread.paused", agent=one, subject=thread, one=one, other=other, why=reason)
    return reason


def resume(tx: Transaction, thread: str, by: Caller) -> None:
    """Agents may send in the thread again; their turns are counted anew.

    Raises:
        Forbidden: The caller is not the operator.
        NotFound: It is not paused.
    """
    if not by.commands:
        raise Forbidden(f"only the operator resumes a thread, and the token is {by.name}'s.")
    if tx.run(RESUME, thread_id=thread) == 0:
        raise NotFound(f"the thread {thread[:200]!r} is not paused; `covey threads paused` lists those that are.", field="thread")
    tx.run(COUNT_ANEW, thread_id=thread)
    tx.happened("thread.resumed", subject=thread, by=by.name)


def reason_of(tx: Transaction, thread: str) -> str | None:
    """Why a thread is paused; None if it is not."""
    row = tx.one(PAUSE_OF, thread_id=thread)
    return row.reason if row is not None else None


class Pauses(NamedTuple):
    """Paused threads, as rows of thread_id, at, reason, and the cursor of the next ones."""

    items: list[Row]
    cursor: str | None


def pauses(tx: Transaction, *, after: str = "", limit: int = 50) -> Pauses:
    """The threads that are paused."""
    rows = tx.all(PAUSES, after=after, limit=limit + 1)
    return Pauses(rows[:limit], rows[limit - 1].thread_id if len(rows) > limit else None)
