"""Waits given up, mail expired, letters dead: closed, and everybody told who has to hear of it (M7, M8, M9)."""

from __future__ import annotations

from covey.agents.model import OPERATOR, SYSTEM
from covey.messages import handling, waiting
from covey.messages.model import Message
from covey.messages.sending import notify
from covey.messages.waiting import GivenUp
from covey.store import Transaction, statement

WAIT_ENDED = statement(__package__, "wait_ended")
WORDS = 2000


def give_up_waits(tx: Transaction, limit: int = 100) -> list[GivenUp]:
    """The waits whose deadline has passed, ended: each asker is woken; an urgent one goes to the lead and the operator too (M7)."""
    given_up = waiting.give_up_due(tx, limit)
    for wait in given_up:
        text = (
            f"{wait.silent} did not answer {wait.message_id} ({wait.subject}) in time."
            " The wait is over; a late answer is still delivered, marked late."
        )
        notify(tx, wait.asker, f"No answer from {wait.silent}: {wait.subject}", text, in_reply_to=wait.message_id, prompts=True)
        if wait.priority == "urgent":
            _escalate(tx, wait)
    return given_up


def _escalate(tx: Transaction, wait: GivenUp) -> None:
    """Tell the lead (the deputy, if the lead is the silent one) and the operator; the asker knows already."""
    text = f"{wait.silent} did not answer the urgent message {wait.message_id} of {wait.asker} ({wait.subject}) in time."
    for name in sorted({waiting.escalates_to(tx, wait.silent), OPERATOR} - {wait.asker, wait.silent}):
        notify(
            tx,
            name,
            f"{wait.silent} did not answer {wait.asker}",
            text,
            type="alert",
            priority="urgent",
            data={"messageId": wait.message_id},
            prompts=True,
        )


def expire_mail(tx: Transaction, limit: int = 100) -> int:
    """How much mail was past its expiresAt and is closed; a sender that waited for an answer is told (M9)."""
    rows = handling.expire_due(tx, limit)
    for row in rows:
        if row.answer_due is not None:
            subject = row.subject or row.body[:80]
            text = f"{row.receiver} did not handle {row.message_id} before its expiresAt; it is closed as expired, and with it the wait."
            notify(tx, row.sender, f"Expired: {subject}", text, in_reply_to=row.message_id, prompts=True)
    return len(rows)


def bury(tx: Transaction, agent: str, dead: Message, reason: str) -> None:
    """Tell of a dead letter: who waited for its answer until now, and the operator (M8)."""
    words = f"{agent} could not handle the message {dead.message_id} in {dead.attempts} tries: {reason[:WORDS]}"
    ended = tx.one(WAIT_ENDED, message_id=dead.message_id, receiver=agent)
    if ended is not None and ended.gave_up_at == tx.now and dead.from_ not in (SYSTEM, OPERATOR):
        notify(tx, dead.from_, f"No answer: {dead.content['subject'] or dead.body[:80]}", words, in_reply_to=dead.message_id, prompts=True)
    notify(
        tx,
        OPERATOR,
        f"Dead letter at {agent}",
        f"{words}. `covey dead requeue {dead.message_id}` tries it again, `covey dead drop {dead.message_id}` drops it.",
        type="alert",
        priority="high",
        in_reply_to=dead.message_id if dead.from_ == OPERATOR else None,
    )
