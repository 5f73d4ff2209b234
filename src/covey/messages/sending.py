"""Send a message: one verb for every door. Checks, stores the message and a copy for each receiver, says what became of each."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from covey.agents import configuring, roster
from covey.agents.model import OPERATOR, SYSTEM, Agent, Caller
from covey.base.errors import CoveyError, Forbidden, IdTaken, Invalid, NotFound
from covey.messages import waiting
from covey.messages.model import (
    BATCH,
    MESSAGE_LEVEL_S,
    Checked,
    Draft,
    SendOutcome,
    Receipt,
    check,
    dm_of,
    draft as draft_of,
    order_of,
    summed_up,
    wakes,
)
from covey.store import Row, Transaction, statement

ADD = statement(__package__, "add")
ADD_COPY = statement(__package__, "add_copy")
FIND = statement(__package__, "find")
OUTCOMES = statement(__package__, "outcomes")
ID_OF_TASK = statement(__package__, "id_of_task")

WAIT_S = 3600.0
"""The deadline of a wait that names none (M7)."""


class Prompt(NamedTuple):
    """What made somebody send: the message being handled, whose chain goes on (L10)."""

    visited: tuple[str, ...] = ()
    related_tasks: tuple[str, ...] = ()


def send(tx: Transaction, draft: Draft, by: Caller, prompt: Prompt | None = None, *, wait_s: float = WAIT_S) -> Receipt:
    """The receipt of a message that is on disk once this is committed (M3). A refused copy is an outcome, not an error (M6).

    Raises:
        Invalid, TooLarge: The draft is of the wrong form; nothing is stored (M10).
        IdTaken: Its id is somebody else's (T3).
        Forbidden: `from` is not who the caller is (M11).
        Unknown, Gone: Its only receiver is not there (M4c).
        Cycle: The answer it wants would close a circle of waits (M7).
    """
    checked = check(draft)
    sender = _sender_of(draft, by)
    if draft.message_id is not None:
        known = _known(tx, draft.message_id, sender, checked)
        if known is not None:
            return known
    configuring.check_project(tx, draft.context.project_id, "context.projectId")
    asked = _asked(tx, draft, sender)
    receivers = _receivers(tx, draft, sender, asked)
    return _store(tx, draft, checked, sender, receivers, asked, prompt, wait_s)


def notify(tx: Transaction, to: str, subject: str, body: str, *, type: str = "notification", priority: str = "medium", in_reply_to: str | None = None,  # noqa: A002 - the field's own name
           related_tasks: list[str] | None = None, data: dict[str, object] | None = None, prompts: bool = False) -> None:  # fmt: skip
    """Mail of the protocol itself, from `system`; one to somebody who is gone is left out (L12)."""
    if to == SYSTEM:
        return
    receiver = None if to == OPERATOR else roster.seek(tx, to)
    if to != OPERATOR and (receiver is None or receiver.removed_at is not None):
        return
    words = draft_of(to, body[:200_000], subject=subject[:500], type=type, priority=priority, data=data, related_tasks=related_tasks)
    checked = check(words)
    _store(tx, words, checked, SYSTEM, {to: receiver}, None, None, WAIT_S, prompts=prompts, answers_to=in_reply_to)


def _sender_of(draft: Draft, by: Caller) -> str:
    if draft.from_ is not None and draft.from_ != by.name:
        raise Forbidden(f"from is {draft.from_!r}, but the token is {by.name}'s; leave `from` out or use the right token.", field="from")
    return by.name


def _known(tx: Transaction, ident: str, sender: str, checked: Checked) -> Receipt | None:
    """The first receipt of an id that was used before (T3)."""
    if tx.one(ID_OF_TASK, id=ident) is not None:
        raise IdTaken(f"messageId {ident!r} is a task's id already; bring another one or none.", field="messageId")
    row = tx.one(FIND, id=ident)
    if row is None:
        return None
    if row.sender != sender:
        raise IdTaken(f"messageId {ident!r} is taken by a message of {row.sender}; bring another one or none.", field="messageId")
    outcomes = {copy.receiver: SendOutcome("delivered", f"known: it was stored before and is {copy.state} now.") for copy in tx.all(OUTCOMES, id=ident)}
    status, sentence = summed_up(outcomes)
    differs = row.digest != checked.digest
    if differs:
        sentence = "this id was sent before with other content; nothing was changed. Bring a new id for new content."
    return Receipt(ident, row.thread_id, row.created_at, status, sentence, outcomes, known=True, differs=differs, note=row.reply_note)


def _asked(tx: Transaction, draft: Draft, sender: str) -> Row | None:
    """The message this one replies to."""
    if draft.in_reply_to is None:
        return None
    asked = tx.one(FIND, id=draft.in_reply_to)
    if asked is None:
        raise NotFound(f"inReplyTo is {draft.in_reply_to!r}, and there is no such message; `covey inbox {sender}` lists ids.", field="inReplyTo")
    return asked


def _receivers(tx: Transaction, draft: Draft, sender: str, asked: Row | None) -> dict[str, Agent | None]:
    """Each receiver's name with its agent; None is the operator, or a name that is refused copy by copy."""
    to = draft.to if draft.to is not None else asked.sender if asked is not None else None
    if to is None or to == []:
        raise Invalid("to is missing: name an agent, a list of agents, `*` or `@capability`.", field="to")
    if isinstance(to, str):
        return _addressed(tx, to, sender)
    if len(to) > BATCH:
        raise Invalid(f"to names {len(to)} receivers; at most {BATCH} are taken at once.", field="to")
    return {name: (None if name == OPERATOR else roster.seek(tx, name)) for name in to}


def _addressed(tx: Transaction, to: str, sender: str) -> dict[str, Agent | None]:
    if to == "*":
        return {agent.id: agent for agent in roster.everyone(tx) if agent.id != sender}
    if to.startswith("@"):
        able = {agent.id: agent for agent in roster.with_capability(tx, to[1:]) if agent.id != sender}
        if not able:
            raise Invalid(f"nobody else has the capability {to[1:]!r}; the fleet has: {', '.join(roster.capabilities(tx))}.", field="to")
        return dict(able)
    if to == sender:
        raise Invalid(f"to is {to!r}, the sender itself; nobody sends to itself.", field="to")
    if to == SYSTEM:
        raise Invalid("to is 'system', which only sends; ask the lead or the operator.", field="to")
    return {to: None if to == OPERATOR else roster.find(tx, to, field="to")}


def _store(tx: Transaction, draft: Draft, checked: Checked, sender: str, receivers: dict[str, Agent | None], asked: Row | None, prompt: Prompt | None,
           wait_s: float, *, prompts: bool = False, answers_to: str | None = None) -> Receipt:  # fmt: skip
    content = draft.content
    ident = draft.message_id or tx.new_id("msg")
    thread, is_dm = _thread(tx, draft, sender, receivers, asked)
    note = waiting.note_of_reply(tx, asked, sender, ident, thread) if asked is not None else None
    answers = asked is not None and asked.requires_response and note != "second"
    visited = _chain(sender, asked, prompt)
    urgent, sort_key = order_of(checked.priority, tx.now, MESSAGE_LEVEL_S)
    _check_times(tx, draft)
    due = (content.deadline or tx.now + wait_s) if content.requires_response else None
    outcomes: dict[str, SendOutcome] = {}
    if due is not None:
        waiting.check_circle(tx, sender, [name for name in receivers])
    tx.run(
        ADD,
        id=ident,
        sender=sender,
        addressed=msgspec.json.encode(draft.to if draft.to is not None else next(iter(receivers))).decode(),
        type=checked.type,
        priority=checked.priority,
        subject=content.subject,
        body=content.body,
        data=checked.data_json,
        requires_response=int(content.requires_response),
        deadline=due,
        thread_id=thread,
        is_peer_dm=int(is_dm),
        project_id=draft.context.project_id or (asked.project_id if asked else None),
        related_tasks=msgspec.json.encode(draft.context.related_tasks).decode(),
        in_reply_to=draft.in_reply_to or answers_to,
        reply_note=note,
        visited=msgspec.json.encode(visited).decode(),
        expires_at=draft.expires_at,
        traceparent=draft.traceparent,
        now=tx.now,
        sent_at=draft.timestamp,
        digest=checked.digest,
        origin="protocol" if sender == SYSTEM else sender,
    )
    for name, agent in receivers.items():
        outcome = _admit(tx, name, agent, sender)
        outcomes[name] = outcome
        if not outcome.stored:
            continue
        tx.run(
            ADD_COPY,
            message_id=ident,
            receiver=name,
            sender=sender,
            wakes=int(wakes(checked.type, checked.priority, sender, requires_response=content.requires_response, answers=answers, prompts=prompts)),
            not_urgent=urgent,
            sort_key=sort_key,
            expires_at=draft.expires_at,
            answer_due=due,
            now=tx.now,
        )
        tx.ring(name)
    status, sentence = summed_up(outcomes) if outcomes else ("delivered", "there is nobody else in the fleet; no copy was made.")
    head = content.subject or content.body[:80]
    tx.happened(
        "message.sent",
        agent=sender,
        subject=ident,
        to={name: outcome.status for name, outcome in outcomes.items()},
        type=checked.type,
        priority=checked.priority,
        thread=thread,
        head=head,
        inReplyTo=draft.in_reply_to,
    )
    return Receipt(ident, thread, tx.now, status, sentence, outcomes, note=note)


def _check_times(tx: Transaction, draft: Draft) -> None:
    for field, at in (("content.deadline", draft.content.deadline), ("expiresAt", draft.expires_at)):
        if at is not None and at <= tx.now:
            raise Invalid(f"{field} is {at:.3f}, {tx.now - at:.0f} s ago; give a time that is still to come.", field=field)


def _thread(tx: Transaction, draft: Draft, sender: str, receivers: dict[str, Agent | None], asked: Row | None) -> tuple[str, bool]:
    """Its thread, and whether that is the own conversation of two agents (M5a)."""
    given = draft.context.thread_id or (asked.thread_id if asked is not None else None)
    if len(receivers) != 1:
        return given or tx.new_id("thread"), False
    (other,) = receivers
    dm = dm_of(sender, other)
    return given or dm, given in (None, dm) and not {sender, other} & {OPERATOR, SYSTEM}


def _chain(sender: str, asked: Row | None, prompt: Prompt | None) -> list[str]:
    """Whom the conversation has passed through: the chain of what is being handled, and the sender. Set here, never by a caller (L10)."""
    if sender in (OPERATOR, SYSTEM):
        return []
    before = list(prompt.visited) if prompt is not None else msgspec.json.decode(asked.visited) if asked is not None else []
    return [*before, sender]


def _admit(tx: Transaction, name: str, agent: Agent | None, sender: str) -> SendOutcome:
    """Whether this receiver gets its copy (L3); links come on top of it."""
    if name == sender:
        return SendOutcome("invalid", f"{name} is the sender itself; nobody sends to itself.")
    if name == OPERATOR:
        return SendOutcome("delivered", "it is on disk in the operator's inbox.")
    if agent is None:
        error: CoveyError = roster.unknown(tx, name)
        return SendOutcome("unknown", error.message)
    if agent.removed_at is not None:
        return SendOutcome("gone", f"{name} was removed from the fleet.")
    if not agent.takes_work:
        flag = "stopped" if agent.stopped_at is not None else "paused"
        return SendOutcome("held", f"it is on disk in {name}'s mailbox and held there, since {name} is {flag}; it is handed over at `covey resume {name}`.")
    return SendOutcome("delivered", f"it is on disk in {name}'s mailbox; {name} has not seen it yet.")


