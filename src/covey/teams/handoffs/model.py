"""What an offer of a task is: its form, its bounds, whom a task has passed through. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from covey.base.errors import Invalid
from covey.base.wire import check_json, check_text, convert
from covey.brains.model import Parcel, Passed
from covey.messages.checking import BODY_BYTES, check_id, check_name, check_size, check_time, data_text

HandoffState = Literal["offered", "accepted", "declined", "expired", "withdrawn"]
DEADLINE_S = 600.0
LONGEST_S = 7 * 86400.0
MOST_HOPS = 5
REASON_BYTES = 10_000
CONTEXT = 100
"""Bounds and defaults of an offer."""


class HandoffDraft(Parcel, rename="camel", omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """An offer as somebody wants it made. Required: `taskId` and `to`."""

    task_id: str
    deadline: float | None = None
    """Until when it may be accepted, in Unix seconds; ten minutes if not given."""


class Handoff(msgspec.Struct, rename="camel", kw_only=True):
    """An offer of a task, and what came of it.

    `path` is whom the task has passed through so far, its giver last. `returns`: it has been the receiver's before, who has to
    consent. `known`: the same was offered, or answered so, before; nothing changed.
    """

    handoff_id: str
    task_id: str
    from_: str = msgspec.field(name="from")
    to: str
    state: HandoffState
    offered_by: str
    offered_at: float
    deadline: float
    reason: str = ""
    task_state: dict[str, Any] = {}
    progress: float | None = None
    context: list[dict[str, Any]] = []
    path: list[str] = []
    returns: bool = False
    ended_at: float | None = None
    ended_by: str | None = None
    why: str | None = None
    known: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it can still be accepted."""
        return self.state == "offered"

    @classmethod
    def from_row(cls, row: Any) -> Handoff:
        """The handoff of a row of `handoffs`."""
        return cls(
            handoff_id=row.id,
            task_id=row.task_id,
            from_=row.giver,
            to=row.receiver,
            state=row.state,
            offered_by=row.offered_by,
            offered_at=row.offered_at,
            deadline=row.deadline,
            path=msgspec.json.decode(row.path),
            returns=bool(row.returns),
            ended_at=row.ended_at,
            ended_by=row.ended_by,
            why=row.why,
            **msgspec.json.decode(row.package),
        )


def check(draft: Parcel, now: float) -> Parcel:
    """The draft, once it is known to be of the right form: JSON all through, and within its bounds (M10).

    Raises:
        Invalid, TooLarge: `field` is the path of what is wrong; nothing is stored.
    """
    for field, value in (("taskState", draft.task_state), ("context", _plain(draft.context))):
        check_json(value, field)
    found = convert(type(draft), msgspec.to_builtins(draft))
    check_name("to", found.to)
    check_text(found.reason, "reason")
    check_size("reason", len(found.reason.encode()), REASON_BYTES)
    data_text(found.task_state, "taskState")
    if found.progress is not None and not (math.isfinite(found.progress) and 0 <= found.progress <= 1):
        raise Invalid(f"progress is {found.progress!r}; give a number from 0 to 1.", field="progress")
    _check_context(found.context)
    if isinstance(found, HandoffDraft):
        check_id("taskId", found.task_id)
        _check_deadline(found.deadline, now)
    return found


def _plain(context: object) -> object:
    """The context as plain values, as far as it is what it should be."""
    if not isinstance(context, list):
        return context
    return [{"text": each.text, "kind": each.kind, "at": each.at} if isinstance(each, Passed) else each for each in context]


def _check_context(context: Sequence[Passed]) -> None:
    if len(context) > CONTEXT:
        raise Invalid(f"context has {len(context)} entries; at most {CONTEXT} go with a task.", field="context")
    for place, entry in enumerate(context):
        check_time(f"context[{place}].at", entry.at)
        if not entry.text.strip():
            raise Invalid(f"context[{place}].text is empty; say what is to be remembered.", field=f"context[{place}].text")
    check_size("context", sum(len(entry.text.encode()) for entry in context), BODY_BYTES)


def _check_deadline(deadline: float | None, now: float) -> None:
    check_time("deadline", deadline)
    if deadline is not None and not now < deadline <= now + LONGEST_S:
        raise Invalid(
            f"deadline is {deadline:.12g}; give Unix seconds: it is {now:.0f} now, and {LONGEST_S / 86400:g} days ahead are the most.",
            field="deadline",
        )


def circle(path: Sequence[str], to: str) -> list[str]:
    """The circle that a task would close by going to `to`: from there back to there; empty if it closes none. Pure."""
    if to not in path:
        return []
    latest = len(path) - 1 - list(path)[::-1].index(to)
    return [*path[latest:], to]
