"""The form and the bounds of a message: what is refused before the store is asked, each by the name of its field (M1, M2, M10). Pure."""

from __future__ import annotations

import hashlib
import math
from typing import Any, NamedTuple, get_args

import msgspec

from covey.base.clock import LAST_DATE
from covey.base.errors import Invalid, TooLarge
from covey.base.ids import is_id
from covey.base.wire import check_text, check_value
from covey.messages.model import Content, Draft, MessageType, Priority, priority_of

BODY_BYTES = 256 * 1024
DATA_BYTES = 64 * 1024
SUBJECT_CHARS = 500
BATCH = 100
"""Bounds of M10."""
NAME_CHARS = 128
RELATED = 100
"""Names of receivers and projects are no longer, tasks related to a message no more."""

_TYPES = frozenset(get_args(MessageType))


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
    check_time("timestamp", draft.timestamp)
    for field, due in (("content.deadline", content.deadline), ("expiresAt", draft.expires_at)):
        check_due(field, due)


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


def check_due(field: str, at: float | None) -> None:
    """Refuse what is no point in time, or one that nobody waits for: most often milliseconds."""
    check_time(field, at)
    if at is not None and at > LAST_DATE:
        raise Invalid(f"{field} is {at:g}, which is after the year 9999; give Unix seconds, not milliseconds.", field=field)


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
