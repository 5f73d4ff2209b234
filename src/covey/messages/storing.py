"""Store a message that passed all checks: its copies, the waits it begins or ends, its thread, and whom it wakes."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from covey.agents.model import OPERATOR, SYSTEM
from covey.base import tracing
from covey.base.rings import mail_of
from covey.base.tracing import NewSpan
from covey.messages import admitting, waiting
from covey.messages.admitting import Admission
from covey.messages.letters import Letter
from covey.messages.model import MESSAGE_LEVEL_S, Receipt, SendOutcome, dm_of, order_of, summed_up, wakes
from covey.store import Transaction, statement

ADD = statement(__package__, "add")
ADD_COPY = statement(__package__, "add_copy")
KEEP_OUTCOMES = statement(__package__, "keep_outcomes")


class Stored(NamedTuple):
    """What became of a letter."""

    receipt: Receipt
    paused: dict[str, str]
    """The receivers whose thread with the sender is paused from now on, and why (L10)."""


def store(tx: Transaction, letter: Letter, receivers: list[str], wait_s: float) -> Stored:
    """Store the message with a copy for each receiver that may get one; if none may, nothing is stored."""
    thread, is_dm = _thread(tx, letter, receivers)
    letter = letter._replace(span=_span_of(tx, letter))
    admitted = admitting.admit(tx, letter, receivers, thread)
    outcomes = {name: admission.outcome for name, admission in admitted.items()}
    reply = _answer(tx, letter, outcomes)
    stored = {name: admission for name, admission in admitted.items() if admission.outcome.stored}
    status, sentence = summed_up(outcomes)
    if stored:
        deadline = _deadline(tx, letter, wait_s)
        _write_message(tx, letter, stored, thread, is_dm, reply, deadline)
        if any(each.status != "delivered" for each in outcomes.values()):
            tx.run(KEEP_OUTCOMES, id=letter.ident, outcomes=_json(outcomes))
        _write_copies(tx, letter, stored, reply, deadline)
    _say(tx, letter, outcomes, thread, "message.sent" if stored else "message.refused")
    receipt = Receipt(letter.ident, thread, tx.now, status, sentence, outcomes, note=note_of(reply))
    return Stored(receipt, {name: admission.paused for name, admission in admitted.items() if admission.paused is not None})


def _span_of(tx: Transaction, letter: Letter) -> NewSpan | None:
    """Where it stands in its trace: below what its sender names, does, or replies to. Mail of the protocol begins none."""
    asked = letter.asked
    above = letter.draft.traceparent or (asked.traceparent if asked is not None and tx.trace is None else None)
    begins = above is None and tx.trace is None
    return None if begins and letter.sender == SYSTEM else tx.span(above)


def _thread(tx: Transaction, letter: Letter, receivers: list[str]) -> tuple[str, bool]:
    """Its thread, and whether that is the own conversation of two agents (M5a)."""
    given = letter.draft.context.thread_id or (letter.asked.thread_id if letter.asked is not None else None)
    if len(receivers) != 1:
        return given or tx.new_id("thread"), False
    (other,) = receivers
    dm = dm_of(letter.sender, other)
    return given or dm, given in (None, dm) and not {letter.sender, other} & {OPERATOR, SYSTEM}


def _answer(tx: Transaction, letter: Letter, outcomes: dict[str, SendOutcome]) -> waiting.Reply | None:
    """End the wait that this reply answers, if it goes to who asked (M4c, M7)."""
    asked = letter.asked
    if asked is None or not asked.requires_response or asked.sender not in outcomes or not outcomes[asked.sender].stored:
        return None
    return waiting.answer(tx, asked.id, letter.sender, letter.ident)


def _write_message(
    tx: Transaction,
    letter: Letter,
    stored: dict[str, Admission],
    thread: str,
    is_dm: bool,
    reply: waiting.Reply | None,
    deadline: float | None,
) -> None:
    draft, checked, asked = letter.draft, letter.checked, letter.asked
    content = draft.content
    tx.run(
        ADD,
        id=letter.ident,
        sender=letter.sender,
        addressed=_json(draft.to if draft.to is not None else next(iter(stored))),
        type=checked.type,
        priority=checked.priority,
        subject=content.subject,
        body=content.body,
        data=checked.data_json,
        requires_response=int(content.requires_response),
        deadline=deadline,
        thread_id=thread,
        is_peer_dm=int(is_dm),
        project_id=draft.context.project_id or (asked.project_id if asked is not None else None),
        related_tasks=_json(draft.context.related_tasks),
        in_reply_to=draft.in_reply_to or letter.answers_to,
        reply_note=note_of(reply),
        visited=_json(letter.visited),
        expires_at=draft.expires_at,
        traceparent=letter.span.header if letter.span is not None else draft.traceparent,
        now=tx.now,
        sent_at=draft.timestamp,
        digest=checked.digest,
        origin="protocol" if letter.sender == SYSTEM else letter.sender,
        turns=next(iter(stored.values())).turns,
    )


def _deadline(tx: Transaction, letter: Letter, wait_s: float) -> float | None:
    """When its sender gives up waiting for an answer; a wait that names none has `wait_s` (M7)."""
    content = letter.draft.content
    return tx.now + wait_s if content.requires_response and content.deadline is None else content.deadline


def _write_copies(
    tx: Transaction, letter: Letter, stored: dict[str, Admission], reply: waiting.Reply | None, deadline: float | None
) -> None:
    """A copy for each receiver, who is woken unless it waits for credit."""
    draft, checked, asked = letter.draft, letter.checked, letter.asked
    requires_response = draft.content.requires_response
    urgent, sort_key = order_of(checked.priority, tx.now, MESSAGE_LEVEL_S)
    answered = asked.sender if asked is not None and reply in ("first", "late") else None
    for name, admission in stored.items():
        wake = wakes(
            checked.type,
            checked.priority,
            letter.sender,
            requires_response=requires_response,
            answers=name == answered,
            prompts=letter.prompts,
        )
        tx.run(
            ADD_COPY,
            message_id=letter.ident,
            receiver=name,
            sender=letter.sender,
            wakes=int(wake),
            not_urgent=urgent,
            sort_key=sort_key,
            expires_at=draft.expires_at,
            answer_due=deadline if requires_response else None,
            state=admission.state,
            link_id=admission.link_id,
            deliver_at=admission.deliver_at,
            not_before=max(tx.now, letter.not_before or 0.0),
            delivered_at=tx.now if admission.deliver_at is None else None,
        )
        if admission.deliver_at is None:
            _wake(tx, name, admission)


def _wake(tx: Transaction, name: str, admission: Admission) -> None:
    """Ring the receiver's own process, and first the endpoint that its end of the link prefers (L2)."""
    if admission.wake_by not in (None, "http"):
        tx.ring(f"{admission.wake_by}:{name}")
    tx.ring(mail_of(name))


def note_of(reply: waiting.Reply | None) -> str | None:
    """How a reply is marked: `late`, `second`, or not at all. Pure."""
    return reply if reply in ("late", "second") else None


def _say(tx: Transaction, letter: Letter, outcomes: dict[str, SendOutcome], thread: str, kind: str) -> None:
    content = letter.draft.content
    tx.happened(
        kind,
        agent=letter.sender,
        subject=letter.ident,
        to={name: outcome.status for name, outcome in outcomes.items()},
        type=letter.checked.type,
        priority=letter.checked.priority,
        thread=thread,
        head=content.subject or content.body[:80],
        credits={name: outcome.remaining_credits for name, outcome in outcomes.items() if outcome.remaining_credits is not None},
        inReplyTo=letter.draft.in_reply_to,
        **tracing.told(letter.span),
    )


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
