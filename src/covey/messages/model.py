"""What a message, its copies and its receipt are: data, bounds and the pure rules of M. No I/O."""

from __future__ import annotations

import hashlib
import math
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from covey.agents.model import OPERATOR
from covey.base.errors import FACES, Invalid, TooLarge
from covey.base.ids import is_id
from covey.base.wire import check_text, check_value

MessageType = Literal["task", "question", "update", "notification", "buddy-check", "request", "response", "handover", "feedback", "alert"]
Priority = Literal["urgent", "high", "medium", "low"]
CopyState = Literal["deferred", "delivered", "held", "seen", "handled", "expired", "dead"]

BODY_BYTES = 256 * 1024
DATA_BYTES = 64 * 1024
SUBJECT_CHARS = 500
BATCH = 100
"""Bounds of M10."""
NAME_CHARS = 128
RELATED = 100
"""Names of receivers and projects are no longer, tasks related to a message no more."""
MAX_ATTEMPTS = 5
"""How often a brain is tried on a message in all (M8)."""
MESSAGE_LEVEL_S = 3600.0
TASK_LEVEL_S = 6 * 3600.0
"""How much each level of priority is worth in waiting time (M4, K2)."""

_LEVELS: dict[str, int] = {"urgent": 0, "high": 0, "medium": 1, "low": 2}
_WAKING_TYPES = frozenset({"task", "request", "handover", "alert"})
_TYPES = frozenset(get_args(MessageType))


class Content(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """What is said."""

    body: str
    subject: str = ""
    data: dict[str, Any] = {}
    requires_response: bool = False
    deadline: float | None = None


class Context(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """What it belongs to."""

    thread_id: str | None = None
    project_id: str | None = None
    related_tasks: list[str] = []


class Draft(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """A message as somebody wants it sent (M1). Required: `to` (or `in_reply_to`) and `content.body`."""

    content: Content
    to: str | list[str] | None = None
    message_id: str | None = None
    from_: str | None = msgspec.field(default=None, name="from")
    type: str | None = None
    priority: str | int = "medium"
    timestamp: float | None = None
    context: Context = msgspec.field(default_factory=Context)
    in_reply_to: str | None = None
    visited: list[str] | None = None
    expires_at: float | None = None
    traceparent: str | None = None


def draft(to: str | list[str] | None, body: str, *, subject: str = "", type: str | None = None, priority: str | int = "medium",  # noqa: A002 - the field's own name
          requires_response: bool = False, deadline: float | None = None, data: dict[str, Any] | None = None, thread_id: str | None = None,
          in_reply_to: str | None = None, related_tasks: list[str] | None = None, message_id: str | None = None) -> Draft:  # fmt: skip
    """A draft from plain words."""
    content = Content(body=body, subject=subject, data=data or {}, requires_response=requires_response, deadline=deadline)
    context = Context(thread_id=thread_id, related_tasks=related_tasks or [])
    return Draft(to=to, content=content, context=context, type=type, priority=priority, in_reply_to=in_reply_to, message_id=message_id)


class SendOutcome(msgspec.Struct, rename="camel", omit_defaults=True):
    """What became of one copy at its sending (L13)."""

    status: str
    sentence: str
    retry_at: float | None = None
    remaining_credits: int | None = None

    @property
    def stored(self) -> bool:
        """Whether the copy is kept."""
        return self.status in ("delivered", "held", "deferred")


class Receipt(msgspec.Struct, rename="camel"):
    """What the sender is told: one outcome a receiver (M6). `delivered` says that it is on disk there, no more (M4a)."""

    message_id: str
    thread_id: str
    timestamp: float
    status: str
    sentence: str
    outcomes: dict[str, SendOutcome]
    known: bool = False
    """The same id had been sent before; nothing changed (T3)."""
    differs: bool = False
    note: str | None = None
    """`late` or `second` of a reply (M7, M4c)."""

    @property
    def http(self) -> int:
        """The HTTP status of the receipt."""
        return FACES[self.status].http if self.status in FACES else 207


def summed_up(outcomes: dict[str, SendOutcome]) -> tuple[str, str]:
    """One status and sentence for all copies: theirs if they agree, else `mixed`."""
    statuses = {outcome.status for outcome in outcomes.values()}
    if len(outcomes) == 1:
        (outcome,) = outcomes.values()
        return outcome.status, outcome.sentence
    stored = sum(outcome.stored for outcome in outcomes.values())
    sentence = f"{stored} of {len(outcomes)} copies are stored; `outcomes` says what became of each."
    return (statuses.pop(), sentence) if len(statuses) == 1 else ("mixed", sentence)


class Message(msgspec.Struct, rename="camel", kw_only=True):
    """A message as it is shown, with the state of one copy of it and the time of each state it was in (M4a)."""

    message_id: str
    from_: str = msgspec.field(name="from")
    to: str | list[str]
    type: str
    priority: str
    timestamp: float
    content: dict[str, Any]
    context: dict[str, Any]
    in_reply_to: str | None = None
    visited: list[str] = []
    expires_at: float | None = None
    traceparent: str | None = None
    sent_at: float | None = None
    reply_note: str | None = None
    receiver: str | None = None
    state: str | None = None
    attempts: int = 0
    delivered_at: float | None = None
    held_at: float | None = None
    seen_at: float | None = None
    handled_at: float | None = None
    ended_at: float | None = None
    deliver_at: float | None = None
    reason: str | None = None
    answered_by: str | None = None

    @property
    def body(self) -> str:
        """The text."""
        body: str = self.content["body"]
        return body

    @property
    def thread_id(self) -> str:
        """The thread it belongs to."""
        thread_id: str = self.context["threadId"]
        return thread_id

    @property
    def requires_response(self) -> bool:
        """Whether its sender waits for a reply."""
        return bool(self.content.get("requiresResponse"))

    @classmethod
    def from_row(cls, row: Any, *, flagged_at: float | None = None) -> Message:
        """The message of a row that joins a copy with its message; what waits for a receiver flagged since then shows as held (M5)."""
        held = flagged_at is not None and row.state == "delivered"
        content = {
            "subject": row.subject,
            "body": row.body,
            "data": msgspec.json.decode(row.data),
            "requiresResponse": bool(row.requires_response),
            "deadline": row.deadline,
        }
        context: dict[str, Any] = {
            "threadId": row.thread_id,
            "projectId": row.project_id,
            "relatedTasks": msgspec.json.decode(row.related_tasks),
            "isPeerDm": bool(row.is_peer_dm),
        }
        if row.is_peer_dm:
            context["peerAgentId"] = row.sender
            context["linkId"] = row.link_id
        return cls(
            message_id=row.id,
            from_=row.sender,
            to=msgspec.json.decode(row.addressed),
            type=row.type,
            priority=row.priority,
            timestamp=row.created_at,
            content=content,
            context=context,
            in_reply_to=row.in_reply_to,
            visited=msgspec.json.decode(row.visited),
            expires_at=row.expires_at,
            traceparent=row.traceparent,
            sent_at=row.sent_at,
            reply_note=row.reply_note,
            receiver=row.receiver,
            state="held" if held else row.state,
            attempts=row.attempts,
            delivered_at=row.delivered_at,
            held_at=max(flagged_at, row.delivered_at) if held and flagged_at is not None else None,
            seen_at=row.seen_at,
            handled_at=row.handled_at,
            ended_at=row.ended_at,
            deliver_at=row.deliver_at,
            reason=row.reason,
            answered_by=row.answered_by,
        )


class Checked(NamedTuple):
    """A draft that passed the rules that need no store."""

    type: str
    priority: Priority
    data_json: str
    digest: str


def check(draft: Draft) -> Checked:
    """The draft's derived parts, once its form and bounds are right (M1, M2, M10).

    Raises:
        Invalid: A value that is not allowed; `field` names it.
        TooLarge: A part over its bound.
    """
    content, context = draft.content, draft.context
    _check_types(draft)
    _check_words(content)
    data_json = data_text(content.data, "content.data")
    for field, ident in (("messageId", draft.message_id), ("context.threadId", context.thread_id), ("inReplyTo", draft.in_reply_to)):
        check_id(field, ident)
    check_name("context.projectId", context.project_id)
    check_name("traceparent", draft.traceparent)
    _check_lists(draft)
    if draft.visited is not None:
        raise Invalid(
            "visited is set by the server: the chain of agents that a conversation has passed through. Leave it out.", field="visited"
        )
    kind = draft.type or ("response" if draft.in_reply_to else "question" if content.requires_response else "notification")
    if kind not in _TYPES:
        raise Invalid(f"type is {kind[:100]!r}; it may be {', '.join(get_args(MessageType))}.", field="type")
    priority = priority_of(draft.priority)
    words = (
        *(content.subject, content.body, data_json, content.requires_response, content.deadline, draft.in_reply_to),
        *(kind, priority, draft.to, context.thread_id, context.project_id, context.related_tasks, draft.expires_at),
    )
    return Checked(kind, priority, data_json, hashlib.blake2b(repr(words).encode(), digest_size=12).hexdigest())


def _check_types(draft: Draft) -> None:
    """Refuse wrong types, which a Python caller can bring; other doors' decoding did so already."""
    content = draft.content
    for field, text in (("content.body", content.body), ("content.subject", content.subject)):
        if not isinstance(text, str):
            raise Invalid(f"{field} is a {type(text).__name__}; give text.", field=field)
    if not isinstance(content.data, dict):
        raise Invalid(f"content.data is a {type(content.data).__name__}; give an object.", field="content.data")
    if not isinstance(content.requires_response, bool):
        raise Invalid(f"content.requiresResponse is {content.requires_response!r}; give true or false.", field="content.requiresResponse")
    for field, number in (("content.deadline", content.deadline), ("timestamp", draft.timestamp), ("expiresAt", draft.expires_at)):
        check_time(field, number)


def _check_words(content: Content) -> None:
    """Refuse text over its bound, or that no database can hold."""
    if len(content.body) * 4 > BODY_BYTES:
        check_size("content.body", len(content.body.encode(errors="replace")), BODY_BYTES)
    if not content.body.strip():
        raise Invalid("content.body is empty; say something.", field="content.body")
    if len(content.subject) > SUBJECT_CHARS:
        raise TooLarge(
            f"content.subject has {len(content.subject):,} characters; at most {SUBJECT_CHARS} are taken.", field="content.subject"
        )
    check_text(content.body, "content.body")
    check_text(content.subject, "content.subject")


def _check_lists(draft: Draft) -> None:
    if draft.to is not None:
        names = [draft.to] if isinstance(draft.to, str) else draft.to
        if len(names) > BATCH:
            raise Invalid(f"to names {len(names)} receivers; at most {BATCH} are taken at once.", field="to")
        for name in names:
            check_name("to", name)
    related = draft.context.related_tasks
    if len(related) > RELATED:
        raise Invalid(f"context.relatedTasks names {len(related)} tasks; at most {RELATED} are taken.", field="context.relatedTasks")
    for ident in related:
        check_id("context.relatedTasks", ident)


def data_text(data: dict[str, Any], field: str) -> str:
    """The data as JSON text within its bound (M10)."""
    if not data:
        return "{}"
    check_value(data, field)
    try:
        text = msgspec.json.encode(data, order="sorted")
    except (TypeError, ValueError, OverflowError, msgspec.MsgspecError, RecursionError) as error:
        raise Invalid(f"{field} is not JSON: {error}.", field=field) from error
    check_size(field, len(text), DATA_BYTES)
    return text.decode()


def check_size(field: str, size: int, bound: int) -> None:
    """Refuse what is over its bound."""
    if size > bound:
        raise TooLarge(
            f"{field} is {size:,} bytes long; at most {bound:,} are taken. Put the rest into a file and send its path.", field=field
        )


def check_time(field: str, at: object) -> None:
    """Refuse what is no point in time."""
    if at is None:
        return
    if isinstance(at, bool) or not isinstance(at, int | float) or not math.isfinite(at):
        raise Invalid(f"{field} is {at!r}; give Unix seconds, a finite number.", field=field)


def check_name(field: str, name: object) -> None:
    """Refuse a name that nothing can bear: too long, or of characters that no terminal can show."""
    if name is None:
        return
    if not isinstance(name, str):
        raise Invalid(f"{field} is a {type(name).__name__}; give text.", field=field)
    if len(name) > NAME_CHARS:
        raise Invalid(f"{field} has {len(name):,} characters; at most {NAME_CHARS} are taken.", field=field)
    check_text(name, field)


def check_id(field: str, ident: object) -> None:
    """Refuse an id of the wrong form (T3)."""
    if ident is not None and not (isinstance(ident, str) and is_id(ident)):
        raise Invalid(f"{field} is {str(ident)[:200]!r}; an id is 1 to 128 of the characters A-Z a-z 0-9 . _ : -", field=field)


def priority_of(given: object, field: str = "priority") -> Priority:
    """The priority's word; seed 004's integers are 0 medium, 1 high, 2 and more urgent, negative low (M2)."""
    if isinstance(given, str):
        if given in _LEVELS:
            return given  # type: ignore[return-value]
        raise Invalid(f"{field} is {given[:100]!r}; it may be urgent, high, medium, low, or a whole number.", field=field)
    if isinstance(given, bool) or not isinstance(given, int):
        raise Invalid(f"{field} is {given!r}; it may be urgent, high, medium, low, or a whole number.", field=field)
    if given < 0:
        return "low"
    words: tuple[Priority, ...] = ("medium", "high", "urgent")
    return words[min(given, 2)]


def order_of(priority: str, created_at: float, level_s: float) -> tuple[int, float]:
    """Where it stands in line: (0 if urgent else 1, created + level × level_s), fixed when stored (M4, K2)."""
    return (0 if priority == "urgent" else 1), created_at + _LEVELS[priority] * level_s


def wakes(kind: str, priority: str, sender: str, *, requires_response: bool, answers: bool, prompts: bool = False) -> bool:
    """Whether it wakes an idle brain, or waits for the next turn or digest (M4b). Pure.

    `prompts` is set by verbs of the protocol for what must be acted on: the end of a task given to another, a wait given up.
    """
    return sender == OPERATOR or requires_response or answers or prompts or priority == "urgent" or kind in _WAKING_TYPES


def backoff_s(attempts: int) -> float:
    """How long the next try waits after so many failed ones: min(2^n, 60) s (M8, K5)."""
    return float(min(2**attempts, 60)) if attempts < 7 else 60.0


def dm_of(one: str, other: str) -> str:
    """The pair's own conversation (M5a)."""
    return "dm:" + ":".join(sorted((one, other)))
