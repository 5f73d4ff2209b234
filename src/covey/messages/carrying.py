"""Messages of another store put in as they stood (S4): outside quotas, with their ids, times, senders and states.

Each is stored once, however often it is put in. It checks what `send` checks of a message's form; not what depends on the moment, such
as a deadline that has passed since.
"""

from __future__ import annotations

import msgspec

from covey.agents import roster
from covey.agents.model import OPERATOR, RESERVED, SYSTEM
from covey.base.errors import IdTaken, Invalid
from covey.base.ids import is_agent_name
from covey.base.rings import mail_of
from covey.messages.carried import OPEN, CarriedCopy, CarriedMessage, Put
from covey.messages.checking import Checked, check
from covey.messages.indexing import TEXT
from covey.messages.model import MAX_ATTEMPTS, MESSAGE_LEVEL_S, Content, Context, Draft, dm_of, order_of, wakes
from covey.messages.sending import FIND, ID_OF_TASK, LOCK_ID
from covey.store import Transaction, statement

IMPORT_MESSAGE = statement(__package__, "import_message")
IMPORT_COPY = statement(__package__, "import_copy")
AWAITED = statement(__package__, "awaited")


def put(tx: Transaction, message: CarriedMessage) -> Put:
    """Store a message that comes from elsewhere, with its copies as they stood; open ones are under no lease now.

    Raises:
        Invalid, TooLarge: It is of the wrong form, or nobody who is to have it is of this fleet; nothing is stored.
        IdTaken: Its id names another sender's message, a task, or a message that says something else.
    """
    checked = _checked(message)
    if _is_known(tx, message):
        return Put(taken=False)
    copies, notes = _copies_for_us(tx, message)
    at = min(message.timestamp, tx.now) if message.timestamp is not None else tx.now
    thread = message.context.thread_id or (dm_of(message.from_, copies[0].receiver) if len(copies) == 1 else tx.new_id("thread"))
    _add(tx, message, checked, thread, at, is_dm=len(copies) == 1 and thread == dm_of(message.from_, copies[0].receiver))
    for copy in copies:
        _add_copy(tx, message, copy, checked, at)
    tx.happened(
        "message.sent",
        agent=message.from_,
        subject=message.message_id,
        to={copy.receiver: copy.state for copy in copies},
        type=checked.type,
        priority=checked.priority,
        thread=thread,
        head=message.content.subject or message.content.body[:80],
        imported=True,
    )
    return Put(True, notes)


def _checked(message: CarriedMessage) -> Checked:
    content, context = message.content, message.context
    draft = Draft(
        content=Content(
            body=content.body,
            subject=content.subject,
            data=content.data,
            requires_response=content.requires_response,
            deadline=content.deadline,
        ),
        to=message.to,
        message_id=message.message_id,
        type=message.type,
        priority=message.priority,
        timestamp=message.timestamp,
        context=Context(thread_id=context.thread_id, project_id=context.project_id, related_tasks=context.related_tasks),
        in_reply_to=message.in_reply_to,
        expires_at=message.expires_at,
        traceparent=message.traceparent,
    )
    if message.from_ not in RESERVED and not is_agent_name(message.from_):
        raise Invalid(f"from is {message.from_[:60]!r}, which no agent can be called.", field="from")
    return check(draft)


def _is_known(tx: Transaction, message: CarriedMessage) -> bool:
    tx.one(LOCK_ID, id=message.message_id)
    if tx.one(ID_OF_TASK, id=message.message_id) is not None:
        raise IdTaken(f"messageId {message.message_id!r} is a task's id already.", field="messageId")
    row, text = tx.one(FIND, id=message.message_id), tx.one(TEXT, id=message.message_id)
    if row is None or text is None:
        return False
    if (row.sender, text.subject, text.body) != (message.from_, message.content.subject, message.content.body):
        raise IdTaken(
            f"messageId {message.message_id!r} is there already, from {row.sender} or with another text; this one was left out.",
            field="messageId",
        )
    return True


def _copies_for_us(tx: Transaction, message: CarriedMessage) -> tuple[list[CarriedCopy], list[str]]:
    """The copies whose receivers are of this fleet, and a sentence for each that is not."""
    wanted = message.copies or [_quiet_copy(tx, message, name) for name in _addressed(tx, message)]
    kept, notes = [], []
    for copy in {each.receiver: each for each in wanted}.values():
        if _is_of_the_fleet(tx, copy.receiver) or (copy.state not in OPEN and is_agent_name(copy.receiver)):
            kept.append(copy)
        else:
            notes.append(f"{copy.receiver[:60]!r} is not of this fleet; its copy was left out.")
    if not kept:
        raise Invalid(f"to is {', '.join(repr(each.receiver[:60]) for each in wanted[:5])}: nobody of this fleet.", field="to")
    if message.from_ != SYSTEM and not _is_of_the_fleet(tx, message.from_):
        notes.append(f"its sender {message.from_!r} is not of this fleet; it was taken, a reply to it will be refused.")
    return kept, notes


def _is_of_the_fleet(tx: Transaction, name: str) -> bool:
    agent = roster.seek(tx, name)
    return name == OPERATOR or (agent is not None and agent.removed_at is None)


def _quiet_copy(tx: Transaction, message: CarriedMessage, receiver: str) -> CarriedCopy:
    """Whether it was handled nobody knows: it waits, and wakes only if there is still time for the answer that it asks for."""
    due = message.content.deadline if message.content.requires_response else None
    in_time = due is not None and due > tx.now
    return CarriedCopy(receiver=receiver, wakes=in_time, answer_due=due if in_time else None)


def _addressed(tx: Transaction, message: CarriedMessage) -> list[str]:
    """Who it is for, where it does not say so copy by copy."""
    if isinstance(message.to, list):
        return message.to
    if message.to == "*":
        return [name for name in roster.all_names(tx) if name != message.from_]
    if message.to.startswith("@"):
        return [agent.id for agent in roster.with_capability(tx, message.to[1:]) if agent.id != message.from_]
    return [message.to]


def _add(tx: Transaction, message: CarriedMessage, checked: Checked, thread: str, at: float, *, is_dm: bool) -> None:
    content, context = message.content, message.context
    dm = context.is_peer_dm if context.is_peer_dm is not None else is_dm and message.from_ not in RESERVED and message.to != OPERATOR
    tx.run(
        IMPORT_MESSAGE,
        id=message.message_id,
        sender=message.from_,
        addressed=msgspec.json.encode(message.to).decode(),
        type=checked.type,
        priority=checked.priority,
        subject=content.subject,
        body=content.body,
        data=checked.data_json,
        requires_response=int(content.requires_response),
        deadline=content.deadline,
        thread_id=thread,
        is_peer_dm=int(dm),
        project_id=context.project_id,
        related_tasks=msgspec.json.encode(context.related_tasks).decode(),
        in_reply_to=message.in_reply_to,
        reply_note=message.reply_note,
        visited=msgspec.json.encode(message.visited).decode(),
        expires_at=message.expires_at,
        traceparent=message.traceparent,
        created_at=at,
        sent_at=message.sent_at if message.sent_at is not None else message.timestamp,
        digest=message.digest or checked.digest,
    )


def _add_copy(tx: Transaction, message: CarriedMessage, copy: CarriedCopy, checked: Checked, at: float) -> None:
    urgent, sort_key = order_of(checked.priority, at, MESSAGE_LEVEL_S)
    is_open = copy.state in OPEN
    by_rule = wakes(checked.type, checked.priority, message.from_, requires_response=message.content.requires_response, answers=False)
    tx.run(
        IMPORT_COPY,
        message_id=message.message_id,
        receiver=copy.receiver,
        sender=message.from_,
        state="delivered" if is_open else copy.state,
        wakes=int(by_rule if copy.wakes is None else copy.wakes),
        not_urgent=urgent,
        sort_key=sort_key,
        not_before=copy.not_before if is_open and copy.not_before is not None else at,
        attempts=max(0, min(copy.attempts - (copy.state == "seen"), MAX_ATTEMPTS)),
        expires_at=message.expires_at,
        delivered_at=copy.delivered_at if copy.delivered_at is not None else at,
        seen_at=copy.seen_at,
        handled_at=copy.handled_at,
        ended_at=copy.ended_at,
        reason=copy.reason[:10_000] if copy.reason else None,
        answer_due=copy.answer_due,
        answered_at=copy.answered_at,
        answered_by=copy.answered_by,
        link_id=copy.link_id,
        gave_up_at=copy.gave_up_at,
    )
    if is_open:
        tx.ring(mail_of(copy.receiver))


def is_awaited(tx: Transaction, ident: str) -> bool:
    """Whether the answer to this message may still come to its sender."""
    return tx.one(AWAITED, id=ident) is not None
