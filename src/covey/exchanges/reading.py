"""Exchanges as their givers may see them, read only. What is not the caller's is not there (NotFound), so that ids can't be tried out."""

from __future__ import annotations

from typing import NamedTuple

from covey.agents.model import Caller
from covey.base.errors import Invalid, NotFound
from covey.exchanges.model import HISTORY, MOST, PAGE, Exchange, News, Phase, phase_of
from covey.messages import reading as mail
from covey.messages.model import Message
from covey.store import Row, Transaction, events, statement
from covey.store.events import Bookmark, Event
from covey.tasks import reading as tasks
from covey.tasks.model import Task

FIND = statement(__package__, "find")
MESSAGES = statement(__package__, "messages")
CHANGED = statement(__package__, "changed")
PAGE_OF = statement(__package__, "page")
FOREVER = 1e18


class Page(NamedTuple):
    """A part of a list, how many there are in all, and the cursor of the next part (empty at the end)."""

    items: list[Exchange]
    total: int
    cursor: str


def seek(tx: Transaction, agent: str, task_id: str, by: Caller) -> Row:
    """The row of an exchange.

    Raises:
        NotFound: There is none of this agent under that id, or it is not the caller's.
    """
    row = tx.one(FIND, task_id=task_id)
    if row is None or row.agent != agent or not (by.commands or row.caller == by.name):
        raise not_found(task_id)
    return row


def not_found(task_id: str) -> NotFound:
    """The error for an id under which the caller has nothing."""
    return NotFound(f"there is no task {task_id[:200]!r} here, or it is not yours; list yours to see their ids.", field="id")


def show(tx: Transaction, agent: str, task_id: str, by: Caller, *, history: int | None = None) -> Exchange:
    """One exchange as it stands, with so many of its latest messages at most.

    Raises:
        NotFound: There is none, or it is not the caller's.
    """
    return shown(tx, seek(tx, agent, task_id, by), history=history)


def shown(tx: Transaction, row: Row, *, history: int | None = None) -> Exchange:
    """The exchange of a row, as it stands."""
    bookmark = events.last(tx)  # first: what is read below may be newer, never older
    stored = tasks.seek(tx, row.task_id)
    if stored is None:
        raise not_found(row.task_id)
    task = Task.from_row(stored)
    question = _question(tx, task, row.caller)
    changed = tx.one(CHANGED, task_id=row.task_id)
    phase = phase_of(task.state, task.attempts, asks=question is not None)
    return Exchange(
        task=task,
        agent=row.agent,
        caller=row.caller,
        thread_id=row.thread_id,
        phase=phase,
        said=_said(task, phase, question),
        question=question.message_id if question is not None else None,
        changed_at=task.finished_at or (changed.at if changed is not None else row.created_at),
        history=messages_of(tx, row.task_id, HISTORY if history is None else min(history, HISTORY)),
        bookmark=bookmark,
    )


def _question(tx: Transaction, task: Task, caller: str) -> Message | None:
    """The message that a blocked task waits for its giver's answer to."""
    if task.state != "blocked" or task.waiting_for is None:
        return None
    copies = mail.copies(tx, task.waiting_for)
    return next((copy for copy in copies if copy.receiver == caller and copy.answered_by is None), None)


def _said(task: Task, phase: Phase, question: Message | None) -> str:
    if question is not None:
        return question.body
    if phase in ("failed", "canceled"):
        return task.error or ""
    return (task.progress or "") if phase == "working" else ""


def messages_of(tx: Transaction, task_id: str, limit: int) -> list[Message]:
    """The latest messages of an exchange in order, each answer behind the question that it answers; those past their retention left out."""
    found: list[Message] = []
    for row in tx.all(MESSAGES, task_id=task_id, limit=limit) if limit > 0 else ():
        copies = mail.copies(tx, row.message_id)
        if not copies:
            continue
        found.append(copies[0])
        asked = mail.copies(tx, copies[0].in_reply_to) if copies[0].in_reply_to else []
        found.extend(asked[:1])
    return found[:limit][::-1]


def page(
    tx: Transaction,
    agent: str,
    by: Caller,
    *,
    thread_id: str | None = None,
    phase: Phase | None = None,
    since: float = 0.0,
    cursor: str = "",
    limit: int = PAGE,
    history: int = 0,
) -> Page:
    """Exchanges of one agent that the caller may see, the latest change first.

    Raises:
        Invalid: The cursor is none that was given out.
    """
    before, seq = _place(cursor)
    limit = max(1, min(limit, MOST))
    rows = tx.all(
        PAGE_OF,
        agent=agent,
        caller="" if by.commands else by.name,
        thread_id=thread_id or "",
        phase=phase or "",
        since=since,
        before=before,
        before_seq=seq,
        limit=limit + 1,
    )
    items = [shown(tx, tx.one(FIND, task_id=row.task_id), history=history) for row in rows[:limit]]
    total = rows[0].total if rows else 0
    return Page(items, total, f"{rows[limit - 1].changed_at!r}-{rows[limit - 1].seq}" if len(rows) > limit else "")


def _place(cursor: str) -> tuple[float, int]:
    """Where a page begins."""
    if not cursor:
        return FOREVER, 0
    at, _, seq = cursor.rpartition("-")
    try:
        return float(at), int(seq)
    except ValueError as error:
        raise Invalid(f"pageToken is {cursor[:60]!r}; give the nextPageToken of the page before.", field="pageToken") from error


class Heard(NamedTuple):
    """Some steps of an exchange, in order."""

    steps: list[News]
    bookmark: Bookmark
    """Where to read on."""
    seen: Bookmark
    """The fleet's last event when they were read: whoever has heard nothing waits for one after it."""


def news(tx: Transaction, agent: str, task_id: str, by: Caller, after: Bookmark, *, limit: int = 100) -> Heard:
    """The steps of an exchange after a bookmark: every reader gets the same ones, in the same order.

    Raises:
        NotFound: There is none, or it is not the caller's.
    """
    seen = events.last(tx)
    return Heard(*steps(tx, seek(tx, agent, task_id, by), after, limit=limit), seen)


def steps(tx: Transaction, row: Row, after: Bookmark, *, limit: int) -> tuple[list[News], Bookmark]:
    """As `news`, of an exchange's row."""
    found = events.of_subject_after(tx, row.task_id, after, limit=limit)
    told = [step for event in found if (step := _step(tx, row, event)) is not None]
    return told, found[-1].cursor if found else after


def _step(tx: Transaction, row: Row, event: Event) -> News | None:
    """What an event of the task is to its giver; None if it is nothing."""
    phase = _STEPS.get(event.kind)
    if phase is None:
        return None
    if event.kind == "task.waits":
        asked = [copy for copy in mail.copies(tx, str(event.data.get("message"))) if copy.receiver == row.caller]
        return News(event.cursor, event.at, phase, asked[0].body, asked[0].message_id) if asked else None
    if event.kind == "task.done":
        stored = tasks.seek(tx, row.task_id)
        return News(event.cursor, event.at, phase, done=Task.from_row(stored) if stored is not None else None)
    said = str(event.data.get("text") or event.data.get("error") or "")
    return News(event.cursor, event.at, phase, said, first=event.kind == "task.added")


_STEPS: dict[str, Phase] = {
    "task.added": "submitted",
    "task.claimed": "working",
    "task.progress": "working",
    "task.retried": "working",
    "task.split": "working",
    "task.returned": "submitted",
    "task.unblocked": "submitted",
    "task.requeued": "submitted",
    "task.waits": "input-required",
    "task.done": "completed",
    "task.failed": "failed",
    "task.cancelled": "canceled",
}
"""The events of a task that its giver is told of, and the phase that each begins."""
