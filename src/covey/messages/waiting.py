"""Waits for an answer: replies end them, deadlines give them up, circles of them are refused (M7)."""

from __future__ import annotations

from typing import Literal, NamedTuple

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
STILL_OPEN = statement(__package__, "still_open")
CIRCLE_BOUND = 10_000

Reply = Literal["first", "late", "second"]
"""A reply in time, one after the wait was given up, any further one."""


def answer(tx: Transaction, asked: str, replier: str, reply_id: str) -> Reply | None:
    """What this reply is to the question, whose wait for this replier it ends; None: the replier was not asked (M4c).

    Of replies at the same time one is the first.
    """
    tx.lock("message", asked)
    row = tx.one(ANSWER, message_id=asked, receiver=replier, reply_id=reply_id, now=tx.now)
    if row is None:
        return "second" if tx.one(ANSWERED, message_id=asked, receiver=replier) is not None else None
    late = row.gave_up_at is not None
    tx.happened("message.answered", agent=replier, subject=asked, by=reply_id, late=late)
    return "late" if late else "first"


def is_unanswered(tx: Transaction, asked: str, replier: str) -> bool:
    """Whether the replier got this message and has not answered it yet; nobody else answers for it before the commit."""
    tx.lock("message", asked)
    row = tx.one(ANSWERED, message_id=asked, receiver=replier)
    return row is not None and row.answered_by is None


def check_circle(tx: Transaction, asker: str, answerer: str, *, answers: str | None = None) -> None:
    """Refuse a wait whose answerer waits, itself or through others, for the asker. `answers` is what the asker answers with it.

    Raises:
        Cycle: `details["circle"]` lists the agents, the asker first and last.
    """
    if asker in (OPERATOR, SYSTEM) or answerer == OPERATOR:
        return
    tx.lock("circle", "")
    path = _path(tx, answerer, asker, answers or "")
    if path:
        raise Cycle(
            f"{asker} would wait for {answerer}, which already waits for {' and so for '.join(path[1:])}: a circle in which nobody answers."
            " Answer what you were asked first, or send it without requiresResponse.",
            circle=[asker, *path],
        )


def _path(tx: Transaction, start: str, goal: str, answered: str) -> list[str]:
    """The shortest chain of waits from one agent to another, both included; empty if there is none. `answered` is no wait any more."""
    before: dict[str, str | None] = {start: None}
    line = [start]
    for here in line:
        for row in tx.all(WAITED_FOR, sender=here, answered=answered, replier=goal):
            if row.receiver in before:
                continue
            before[row.receiver] = here
            if row.receiver == goal:
                return _walk_back(before, goal)
            line.append(row.receiver)
        if len(before) > CIRCLE_BOUND:
            break
    return []


def _walk_back(before: dict[str, str | None], end: str) -> list[str]:
    path = [end]
    while (step := before[path[-1]]) is not None:
        path.append(step)
    return path[::-1]


class GivenUp(NamedTuple):
    """One wait whose deadline passed."""

    message_id: str
    asker: str
    silent: str
    priority: str
    subject: str


def give_up_due(tx: Transaction, limit: int = 100) -> list[GivenUp]:
    """End the waits whose deadline has passed, each once; `sweeping.give_up_waits` also tells the askers."""
    given_up = []
    for row in tx.all(DUE, now=tx.now, limit=limit):
        if tx.run(GIVE_UP, message_id=row.message_id, receiver=row.receiver, now=tx.now):
            tx.happened("message.unanswered", agent=row.receiver, subject=row.message_id, asker=row.sender)
            given_up.append(GivenUp(row.message_id, row.sender, row.receiver, row.priority, row.subject or row.body[:80]))
    return given_up


def open_waits(tx: Transaction, agent: str) -> list[Row]:
    """What this agent waits for: rows of message_id, receiver, answer_due."""
    return tx.all(OPEN, sender=agent)


def is_open(tx: Transaction, message_id: str) -> bool:
    """Whether somebody's answer to this message is still waited for; it can't end until the commit."""
    tx.lock("message", message_id)
    return tx.one(STILL_OPEN, message_id=message_id) is not None


def escalates_to(tx: Transaction, silent: str) -> str:
    """Who hears of an urgent wait given up: the lead, the deputy if the lead is the silent one (M7)."""
    lead, deputy = roster.lead(tx)
    return deputy if silent == lead else lead
