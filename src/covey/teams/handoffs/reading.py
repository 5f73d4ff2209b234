"""Handoffs as they stand, read only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from covey.agents.model import SYSTEM
from covey.base.errors import NotFound
from covey.messages.model import Message
from covey.store import Row, Transaction, statement
from covey.teams.handoffs.model import Handoff

FIND = statement(__package__, "find")
OPEN_OF = statement(__package__, "open_of")
OF_TASK = statement(__package__, "of_task")
PAGE = statement(__package__, "page")

HANDOVER = "handover"
OFFER = "handoffId"
"""The type of the mail that says that a task is offered, and where in its data the offer's id stands."""


class Page(NamedTuple):
    """A part of a list, and the cursor of the next part (None at the end)."""

    items: list[Handoff]
    cursor: int | None


def seek(tx: Transaction, ident: str) -> Row:
    """The row of a handoff.

    Raises:
        NotFound: There is none with this id.
    """
    row = tx.one(FIND, id=ident)
    if row is None:
        raise NotFound(f"there is no handoff {ident[:200]!r}; `covey handoff list` lists them.", field="id")
    return row


def show(tx: Transaction, ident: str) -> Handoff:
    """One handoff, whatever became of it.

    Raises:
        NotFound: There is none with this id.
    """
    return Handoff.from_row(seek(tx, ident))


def open_of(tx: Transaction, task_id: str) -> Handoff | None:
    """The offer of a task that can still be accepted."""
    row = tx.one(OPEN_OF, task_id=task_id)
    return Handoff.from_row(row) if row is not None else None


def of_task(tx: Transaction, task_id: str) -> list[Handoff]:
    """All offers of a task, in order."""
    return [Handoff.from_row(row) for row in tx.all(OF_TASK, task_id=task_id)]


def listed(
    tx: Transaction,
    *,
    task: str | None = None,
    agent: str | None = None,
    state: str | None = None,
    before: int | None = None,
    limit: int = 50,
) -> Page:
    """Handoffs, newest first: all, or those of one task, of one agent on either side, in one state."""
    rows = tx.all(PAGE, task_id=task or "", agent=agent or "", state=state or "", before=before or 1 << 62, limit=limit + 1)
    return Page([Handoff.from_row(row) for row in rows[:limit]], rows[limit - 1].seq if len(rows) > limit else None)


def offered_by(message: Message | None) -> str | None:
    """The id of the handoff that this mail offers; None if it offers none. Only the fleet itself can offer one. Pure."""
    if message is None or message.type != HANDOVER or message.from_ != SYSTEM:
        return None
    data = message.content.get("data")
    found = data.get(OFFER) if isinstance(data, Mapping) else None
    return found if isinstance(found, str) else None


def of_mail(tx: Transaction, message: Message | None) -> Handoff | None:
    """The handoff that this mail offers, whatever became of it."""
    ident = offered_by(message)
    row = tx.one(FIND, id=ident) if ident is not None else None
    return Handoff.from_row(row) if row is not None else None


def came_with(tx: Transaction, task_id: str, agent: str) -> Handoff | None:
    """How a task came to this agent, if it was handed over to it."""
    accepted = [each for each in of_task(tx, task_id) if each.state == "accepted"]
    return accepted[-1] if accepted and accepted[-1].to == agent else None


def for_turn(found: Handoff | None) -> dict[str, Any] | None:
    """A handoff as a brain is told of it."""
    return msgspec.to_builtins(found) if found is not None else None
