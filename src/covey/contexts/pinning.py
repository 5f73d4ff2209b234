"""What a context must keep even in an emergency: identity, current task, urgent and high queue, unanswered questions (C3). Read only."""

from __future__ import annotations

from typing import NamedTuple

from covey.agents import roster
from covey.contexts.summarising import shortened, when
from covey.messages import reading as mail
from covey.messages import waiting
from covey.store import Transaction
from covey.tasks import reading as tasks

ITEM_CHARS = 1000
MOST = 100


class Pinned(NamedTuple):
    """What has to stay: lines for people and models, and the ids of all that is open."""

    identity: str
    current: list[str]
    queue: list[str]
    questions: list[str]
    ids: frozenset[str]


def pinned(tx: Transaction, agent: str) -> Pinned:
    """What has to stay of an agent's context now. There are no handoffs yet."""
    found = roster.seek(tx, agent)
    task = tasks.current(tx, agent)
    queued = [each for each in tasks.queue_of_agent(tx, agent, limit=MOST) if each.priority in ("urgent", "high")]
    waits = tx.all(waiting.OPEN, sender=agent)[:MOST]
    unread = [each for each in mail.inbox(tx, agent, unread=True).items if each.priority in ("urgent", "high")] if found else []
    return Pinned(
        f"{agent}. {found.role}" if found is not None else agent,
        [f"{task.task_id} ({task.priority}): {shortened(task.description, ITEM_CHARS)}"] if task is not None else [],
        [f"{each.task_id} ({each.priority}, {each.state}): {shortened(each.description, ITEM_CHARS)}" for each in queued]
        + [f"{each.message_id} ({each.priority}) from {each.from_}: {shortened(each.body, ITEM_CHARS)}" for each in unread],
        [f"{row.message_id} to {row.receiver}, answer due {when(row.answer_due)}" for row in waits],
        frozenset(
            [*([task.task_id] if task is not None else []), *(each.task_id for each in queued), *(each.message_id for each in unread)]
            + [row.message_id for row in waits]
        ),
    )


def note_of(kept: Pinned, agent: str, emergency_at: float | None) -> str:
    """What must stay in words: the note of an emergency at this time, or a part of a checkpoint. Pure."""
    parts = [f"Identity: {kept.identity}"]
    if emergency_at is not None:
        head = f"What stays of the context of {agent} after its emergency of {when(emergency_at)}; recall finds the rest."
        parts.insert(0, head)
    for title, lines in (("Current task", kept.current), ("Urgent and high", kept.queue), ("Unanswered questions", kept.questions)):
        if lines:
            parts += [f"{title}:", *(f"- {line}" for line in lines)]
    return "\n".join(parts)
