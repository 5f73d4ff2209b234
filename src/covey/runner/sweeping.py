"""The sweep of due things: deadlines, expiry, claims that did not start, schedules, the search index. Two sweepers do no harm (H8a)."""

from __future__ import annotations

from typing import NamedTuple

from covey.agents.model import OPERATOR, SYSTEM
from covey.messages import handling, indexing, sending, waiting
from covey.messages.waiting import GivenUp
from covey.store import Transaction, statement
from covey.tasks import changing, scheduling, working

DUE = statement(__package__, "due")


class Due(NamedTuple):
    """What a look at the indexes found: whether anything is due, and whether leases have lapsed."""

    anything: bool
    lapsed: bool


def due(tx: Transaction, start_s: float) -> Due:
    """Whether the sweep has work: one indexed query."""
    row = tx.one(DUE, now=tx.now, not_started=tx.now - start_s)
    return Due(bool(row and row.anything), bool(row and row.lapsed))


def sweep(tx: Transaction, start_s: float) -> int:
    """How many due things were done, 100 of each kind at most."""
    done = len(working.return_not_started(tx, start_s=start_s)) + len(changing.fail_overdue(tx)) + len(scheduling.make_due(tx))
    for given_up in waiting.give_up_due(tx):
        _tell(tx, given_up)
        done += 1
    for row in handling.expire_due(tx):
        if row.requires_response and row.sender != SYSTEM:
            subject = f"Expired: {row.subject or row.message_id}"
            sending.notify(tx, row.sender, subject, f"{row.receiver} did not handle {row.message_id} before its expiresAt; it is closed as expired.",
                           in_reply_to=row.message_id, prompts=True)  # fmt: skip
        done += 1
    return done + indexing.index_new(tx)


def _tell(tx: Transaction, wait: GivenUp) -> None:
    """Wake the asker with the reason; an urgent one goes to the lead and the operator too (M7)."""
    text = f"{wait.silent} did not answer {wait.message_id} ({wait.subject}) in time. The wait is over; a late answer is still delivered, marked late."
    sending.notify(tx, wait.asker, f"No answer from {wait.silent}", text, in_reply_to=wait.message_id, prompts=True)
    if wait.priority == "urgent":
        for name in {waiting.escalates_to(tx, wait.silent), OPERATOR} - {wait.asker}:
            sending.notify(tx, name, f"{wait.silent} did not answer {wait.asker}", text, type="alert", priority="urgent", prompts=True)
