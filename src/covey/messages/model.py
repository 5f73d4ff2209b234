"""What a message, its copies and its receipt are: data and the pure rules of M. No I/O."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from covey.agents.model import OPERATOR
from covey.base.errors import FACES, Invalid

MessageType = Literal["task", "question", "update", "notification", "buddy-check", "request", "response", "handover", "feedback", "alert"]
Priority = Literal["urgent", "high", "medium", "low"]
CopyState = Literal["deferred", "delivered", "held", "seen", "handled", "expired", "dead"]

MAX_ATTEMPTS = 5
"""How often a brain is tried on a message in all (M8)."""
MESSAGE_LEVEL_S = 3600.0
TASK_LEVEL_S = 6 * 3600.0
"""How much each level of priority is worth in waiting time (M4, K2)."""

_LEVELS: dict[str, int] = {"urgent": 0, "high": 0, "medium": 1, "low": 2}
_WAKING_TYPES = frozenset({"task", "request", "handover", "alert", "buddy-check"})


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


RETRYABLE = frozenset({"debounced", "exhausted"})
"""Outcomes for which waiting helps (L13)."""


class SendOutcome(msgspec.Struct, rename="camel", omit_defaults=True):
    """What became of one copy at its sending (L13)."""

    status: str
    sentence: str
    retry_at: float | None = None
    """When trying again may help."""
    remaining_credits: int | None = None
    """What is left of the sender's limit to this receiver; None: there is no limit."""
    deliver_at: float | None = None
    """When a deferred copy is delivered by itself."""
    retryable: bool | None = None
    """Whether the same message may be sent again, from `retry_at` on. Set by the status."""

    def __post_init__(self) -> None:
        self.retryable = self.status in RETRYABLE

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


def priority_of(given: object) -> Priority:
    """The priority's word; seed 004's integers are 0 medium, 1 high, 2 and more urgent, negative low (M2)."""
    if isinstance(given, str) and given in _LEVELS:
        return given  # type: ignore[return-value]
    if isinstance(given, bool) or not isinstance(given, int):
        raise Invalid(f"priority is {repr(given)[:100]}; it may be urgent, high, medium, low, or a whole number.", field="priority")
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
