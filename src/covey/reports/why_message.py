"""Why a message stands where it stands, copy by copy: behind what, with whose brain, handled, dead. From the store (K8, M4a)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from covey.agents import roster
from covey.agents.model import OPERATOR
from covey.messages.model import MAX_ATTEMPTS
from covey.reports import pulse, why_budget
from covey.reports.in_line import LINE_BOUND, Told
from covey.reports.phrases import count, head, listed, utc, when
from covey.reports.pulse import Pulse
from covey.store import Row, Transaction, statement

COPIES_OF = statement(__package__, "copies_of")
COPY_COUNTS = statement(__package__, "copy_counts")
MAIL_BEFORE = statement(__package__, "mail_before")
QUIET_DUE = statement(__package__, "quiet_due")

COPIES_SHOWN = 5
_NOTES = {"late": ", too late: the wait had been given up", "second": ", as a further reply"}


def explain(tx: Transaction, message: Row, stale_s: float | None, digest_s: float) -> Told:
    """What can be said of a message, given its row; of many copies the first five are told one by one."""
    copies = tx.all(COPIES_OF, id=message.id, limit=COPIES_SHOWN + 1)
    what = f"“{head(message.subject or message.body)}”, {message.type}, {message.priority}"
    said = [f"The message {message.id} ({what}) was sent by {message.sender} {when(message.created_at, tx.now)}."]
    if message.in_reply_to:
        said.append(f"It answers {message.in_reply_to}{_NOTES.get(message.reply_note, '')}.")
    if not copies:
        said.append("It has no copy: there was nobody to get one.")
    told = [_copy(tx, copy, stale_s, digest_s) for copy in copies[:COPIES_SHOWN]]
    said += [sentence for words, _ in told for sentence in words]
    counts = {row.state: row.copies for row in tx.all(COPY_COUNTS, id=message.id)}
    if len(copies) > COPIES_SHOWN:
        said.append(f"Over all its copies: {listed([f'{number:,} {state}' for state, number in sorted(counts.items())], most=10)}.")
    if message.paused_why:
        said.append(f"Its thread {message.thread_id} is paused: {message.paused_why}.")
    facts = {
        "from": message.sender,
        "type": message.type,
        "priority": message.priority,
        "sentAt": message.created_at,
        "threadId": message.thread_id,
        "requiresResponse": bool(message.requires_response),
        "copies": [shown for _, shown in told],
        "states": counts,
    }
    return said, facts


def _copy(tx: Transaction, copy: Row, stale_s: float | None, digest_s: float) -> Told:
    agent = roster.seek(tx, copy.receiver)
    state = "held" if copy.state == "delivered" and agent is not None and not agent.takes_work else copy.state
    facts: dict[str, Any] = {
        "receiver": copy.receiver,
        "state": state,
        "deliveredAt": copy.delivered_at,
        "seenAt": copy.seen_at,
        "handledAt": copy.handled_at,
        "endedAt": copy.ended_at,
        "attempts": copy.attempts,
        "reason": copy.reason,
        "answerDue": copy.answer_due,
        "answeredBy": copy.answered_by,
        "gaveUpAt": copy.gave_up_at,
    }
    waits = copy.state == "delivered"
    words = _waits(tx, copy, facts, stale_s, digest_s) if waits else _STATES[copy.state](copy, tx.now)
    return words + _answer(copy, tx.now), facts


def _waits(tx: Transaction, copy: Row, facts: dict[str, Any], stale_s: float | None, digest_s: float) -> list[str]:
    """What a copy in the mailbox waits for."""
    now, who = tx.now, copy.receiver
    said = [f"It has been in {who}'s mailbox since {when(copy.delivered_at, now)}."]
    facts["notBefore"] = copy.not_before if copy.not_before > now else None
    if copy.attempts and copy.reason:
        again = f"; it is tried again {when(copy.not_before, now)}" if copy.not_before > now else ""
        said.append(f"Attempt {copy.attempts} of {MAX_ATTEMPTS} failed: {_reason(copy)}{again}.")
    if copy.expires_at is not None:
        said.append(f"It expires {when(copy.expires_at, now)}.")
    if who == OPERATOR:
        return [*said, "The operator has not acknowledged it."]
    agent = roster.seek(tx, who)
    if agent is None or agent.removed_at is not None:
        return [*said, f"{who} was removed from the fleet."]
    found = pulse.of_one(tx, who, stale_s)
    why_not = found.why_not_able
    if why_not is not None:
        return [*said, f"It {'is held' if facts['state'] == 'held' else 'waits'} there, since {who} {why_not}."]
    said += why_budget.holds_mail(tx, agent, copy.sender)
    return said + (_in_line(tx, copy, facts, found) if copy.wakes else _quiet(tx, copy, facts, digest_s))


def _reason(copy: Row) -> str:
    return head(copy.reason or "no reason is recorded", 300).rstrip(".")


def _in_line(tx: Transaction, copy: Row, facts: dict[str, Any], found: Pulse) -> list[str]:
    row = tx.one(MAIL_BEFORE, receiver=copy.receiver, not_urgent=copy.not_urgent, sort_key=copy.sort_key, seq=copy.seq, limit=LINE_BOUND)
    before = int(row.messages) if row else 0
    facts["before"] = before
    at_least = "at least " if before >= LINE_BOUND else ""
    line = f"{at_least}{count(before, 'message')} {'is' if before == 1 else 'are'} before it" if before else "it is the next to be handled"
    busy = f"; {copy.receiver}'s brain is at other mail" if found.mail_at_work else ""
    return [f"In line, {line}{busy}."]


def _quiet(tx: Transaction, copy: Row, facts: dict[str, Any], digest_s: float) -> list[str]:
    """When mail that wakes nobody is handed over (M4b)."""
    row = tx.one(QUIET_DUE, receiver=copy.receiver, now=tx.now)
    due = max(row.since, row.last_digest_at) + digest_s if row is not None and row.since is not None else None
    facts["digestAt"] = due
    at_latest = f", or with a digest {'that is due now' if due <= tx.now else when(due, tx.now)}" if due is not None else ""
    return [f"It is quiet mail: it wakes nobody and rides along with {copy.receiver}'s next turn{at_latest}."]


def _seen(copy: Row, now: float) -> list[str]:
    lease = f"its lease ended {when(copy.lease_ends, now)}" if copy.lease_ends < now else f"the lease stands until {utc(copy.lease_ends)}"
    return [f"{copy.receiver}'s brain has it, first seen {when(copy.seen_at, now)}, in attempt {copy.attempts} of {MAX_ATTEMPTS}; {lease}."]


def _handled(copy: Row, now: float) -> list[str]:
    seen = f", seen {utc(copy.seen_at)}" if copy.seen_at is not None else ""
    return [f"It was put into {copy.receiver}'s mailbox {utc(copy.delivered_at)}{seen} and handled {when(copy.handled_at, now)}."]


def _dead(copy: Row, now: float) -> list[str]:
    return [
        f"{copy.receiver} failed on it {copy.attempts} times and it became a dead letter {when(copy.ended_at, now)}: {_reason(copy)}.",
        f"`covey dead requeue {copy.message_id}` tries it again, `covey dead drop {copy.message_id}` drops it.",
    ]


def _expired(copy: Row, now: float) -> list[str]:
    if copy.expires_at is None or copy.expires_at > copy.ended_at:
        return [f"{copy.receiver}'s copy was closed unhandled {when(copy.ended_at, now)}: {_reason(copy)}."]
    return [f"{copy.receiver} did not handle it before it expired {when(copy.expires_at, now)}."]


def _deferred(copy: Row, now: float) -> list[str]:
    until = f"it is delivered {when(copy.deliver_at, now)}" if copy.deliver_at is not None else "it waits for credit"
    return [f"The copy for {copy.receiver} is deferred, since the link is out of credit; {until}."]


_STATES: dict[str, Callable[[Row, float], list[str]]] = {
    "seen": _seen,
    "handled": _handled,
    "dead": _dead,
    "expired": _expired,
    "deferred": _deferred,
}


def _answer(copy: Row, now: float) -> list[str]:
    """Who waits for an answer to it, and whether it came."""
    if copy.answered_by is not None:
        return [f"{copy.receiver} answered with {copy.answered_by} {when(copy.answered_at, now)}."]
    if copy.gave_up_at is not None:
        return [f"{copy.sender} waited for {copy.receiver}'s answer in vain and gave up {when(copy.gave_up_at, now)}."]
    if copy.answer_due is not None:
        return [f"{copy.sender} waits for {copy.receiver}'s answer and gives up {when(copy.answer_due, now)}."]
    return []
