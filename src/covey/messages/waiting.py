"""Waits for an answer: replies end them, deadlines give them up, circles of them are refused (M7)."""

from __future__ import annotations

from covey.agents import roster
from covey.agents.model import OPERATOR, SYSTEM
from covey.base.errors import Cycle
from covey.store import Row, Transaction, statement

ANSWER = statement(__package__, "answer")
ANSWERED = statement(__package__, "answered")
WAITED_FOR = statement(__package__, "waited_for")
DUE = statement(__package__, "answers_due")
GIVE_UP = statement(__package__, "give_up")
OPEN = statement(__package__, "open_waits")
CIRCLE_BOUND = 10_000


def note_of_reply(tx: Transaction, asked: Row, replier: str, reply_id: str, thread: str) -> str | None:
    """End the wait that this reply answers: None for the first in time, `late` after it was given up, `second` for any further one (M4c)."""
    if not asked.requires_response:
        return None
    copy = tx.one(ANSWERED, message_id=asked.id, receiver=replier)
    if copy is None:
        return None
    if copy.answered_by is not None:
        return "second"
    tx.run(ANSWER, message_id=asked.id, receiver=replier, reply_id=reply_id, now=tx.now)
    tx.happened("message.answered", agent=replier, subject=asked.id, by=reply_id, late=copy.gave_up_at is not None)
    return "late" if copy.gave_up_at is not None else None


def check_circle(tx: Transaction, asker: str, answerers: list[str]) -> None:
    """Refuse a wait whose answerer waits, itself or through others, for the asker.

    Raises:
        Cycle: `details["circle"]` lists the agents, the asker first and last.
    """
    if asker in (OPERATOR, SYSTEM):
        return
    tx.lock("circle", "")
    for answerer in answerers:
        path = _path(tx, answerer, asker)
        if path:
            circle = [asker, *path]
            raise Cycle(
                f"{asker} would wait for {answerer}, which already waits for {' and so for '.join(path[1:])}: a circle in which nobody answers."
                " Answer what you were asked first, or send it without requiresResponse.",
                circle=circle,
            )


def _path(tx: Transaction, start: str, goal: str) -> list[str]:
    """The chain of waits from one agent to another, both included; empty if there is none."""
    before: dict[str, str | None] = {start: None}
    line = [start]
    while line and len(before) < CIRCLE_BOUND:
        here = line.pop()
        for row in tx.all(WAITED_FOR, sender=here):
            if row.receiver in before:
                continue
            before[row.receiver] = here
            if row.receiver == goal:
                return _walk_back(before, goal)
            line.append(row.receiver)
    return []


def _walk_back(before: dict[str, str | None], end: str) -> list[str]:
    path = [end]
    while (step := before[path[-1]]) is not None:
        path.append(step)
    return path[::-1]


class GivenUp:
    """One wait whose deadline passed."""

    __slots__ = ("asker", "message_id", "priority", "silent", "subject")

    def __init__(self, row: Row) -> None:
        self.message_id: str = row.message_id
        self.asker: str = row.sender
        self.silent: str = row.receiver
        self.priority: str = row.priority
        self.subject: str = row.subject or row.body[:80]


def give_up_due(tx: Transaction, limit: int = 100) -> list[GivenUp]:
    """End the waits whose deadline has passed; the caller tells the askers (`sending.notify`)."""
    given_up = [GivenUp(row) for row in tx.all(DUE, now=tx.now, limit=limit)]
    for wait in given_up:
        tx.run(GIVE_UP, message_id=wait.message_id, receiver=wait.silent, now=tx.now)
        tx.happened("message.unanswered", agent=wait.silent, subject=wait.message_id, asker=wait.asker)
    return given_up


def open_waits(tx: Transaction, agent: str) -> list[Row]:
    """What this agent waits for: rows of message_id, receiver, answer_due."""
    return tx.all(OPEN, sender=agent)


def escalates_to(tx: Transaction, silent: str) -> str:
    """Who hears of an urgent wait given up: the lead, the deputy if the lead is the silent one (M7)."""
    lead, deputy = roster.lead(tx)
    return deputy if silent == lead else lead
