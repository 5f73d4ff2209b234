"""What waits for the person who runs the fleet: approvals, questions, alerts, incidents, dead letters, paused threads, ties. Read only."""

from __future__ import annotations

from typing import NamedTuple

from covey.agents.model import OPERATOR
from covey.messages import pausing
from covey.reports.phrases import head
from covey.store import Transaction, statement

APPROVALS = statement(__package__, "approvals_wanted")
CALLED = statement(__package__, "called_incidents")
MAIL = statement(__package__, "mail_for_a_person")
TIES = statement(__package__, "ties_to_decide")
DEAD_MAIL = statement(__package__, "dead_mail")

NAMED = 20
"""So many of each kind are named at most."""


class Need(NamedTuple):
    """One thing that a person is to do."""

    kind: str
    """approval, question, alert, incident, dead letter, paused thread, tie."""
    subject: str
    """The id of what it is about."""
    text: str
    since: float | None
    who: str = ""
    place: str = ""
    """The thread of a message."""


def needs(tx: Transaction) -> list[Need]:
    """What waits for the operator, the most pressing kind first; within a kind the oldest, of dead letters the newest."""
    return [*_incidents(tx), *_mail(tx), *_approvals(tx), *_ties(tx), *_threads(tx), *_dead(tx)]


def _incidents(tx: Transaction) -> list[Need]:
    return [Need("incident", row.id, head(row.cause, 300), row.called_at, row.agent) for row in tx.all(CALLED, limit=NAMED)]


def _mail(tx: Transaction) -> list[Need]:
    return [
        Need(
            "question" if row.requires_response else "alert",
            row.id,
            head(row.subject or row.body, 300),
            row.delivered_at,
            row.sender,
            row.thread_id,
        )
        for row in tx.all(MAIL, receiver=OPERATOR, limit=NAMED)
    ]


def _approvals(tx: Transaction) -> list[Need]:
    return [Need("approval", row.id, head(row.description, 300), row.created_at, row.created_by) for row in tx.all(APPROVALS, limit=NAMED)]


def _ties(tx: Transaction) -> list[Need]:
    return [Need("tie", row.id, head(row.topic, 300), row.due_at) for row in tx.all(TIES, decider=OPERATOR, limit=NAMED)]


def _threads(tx: Transaction) -> list[Need]:
    return [Need("paused thread", row.thread_id, head(row.reason, 300), row.at) for row in pausing.pauses(tx, limit=NAMED).items]


def _dead(tx: Transaction) -> list[Need]:
    return [
        Need("dead letter", row.message_id, head(row.reason or "", 300), row.ended_at, row.receiver)
        for row in tx.all(DEAD_MAIL, limit=NAMED)
    ]
