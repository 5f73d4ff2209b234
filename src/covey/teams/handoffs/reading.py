"""Handoffs as they stand, read only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from covey.agents import living
from covey.agents.model import SYSTEM, THE_SYSTEM, Caller
from covey.base.errors import NotFound
from covey.messages.model import Message
from covey.store import Row, Transaction, statement
from covey.tasks import reading as tasks
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


def show(tx: Transaction, ident: str, by: Caller = THE_SYSTEM) -> Handoff:
    """One handoff, whatever became of it. What goes with it is shown to its two sides, the lead and the operator.

    Raises:
        NotFound: There is none with this id.
    """
    return _for(Handoff.from_row(seek(tx, ident)), by, whole=living.may_command(tx, by))


def _for(found: Handoff, by: Caller, *, whole: bool) -> Handoff:
    """As this caller may see it: that a task is offered is everybody's to see, what was said of it is not."""
    if not whole and by.name not in (found.from_, found.to):
        found.reason, found.task_state, found.progress, found.context = "", {}, None, []
    return found


def open_of(tx: Transaction, task_id: str) -> Handoff | None:
    """The offer of a task that can still be accepted."""
    row = tx.one(OPEN_OF, task_id=task_id)
    return Handoff.from_row(row) if row is not None else None


def of_task(tx: Transaction, task_id: str) -> list[Handoff]:
    """All offers of a task, in order."""
    return [Handoff.from_row(row) for row in tx.all(OF_TASK, task_id=task_id)]


def listed(
    tx: Transaction,
    by: Caller = THE_SYSTEM,
    *,
    task: str | None = None,
    agent: str | None = None,
    state: str | None = None,
    before: int | None = None,
    limit: int = 50,
) -> Page:
    """Handoffs, newest first: all, or those of one task, of one agent on either side, in one state; each as the caller may see it."""
    whole = living.may_command(tx, by)
    rows = tx.all(PAGE, task_id=task or "", agent=agent or "", state=state or "", before=before or 1 << 62, limit=limit + 1)
    return Page([_for(Handoff.from_row(row), by, whole=whole) for row in rows[:limit]], rows[limit - 1].seq if len(rows) > limit else None)


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


def for_turn(tx: Transaction, agent: str, task_id: str | None, message: Message | None) -> dict[str, Any] | None:
    """A handoff as a brain is told of it: how its task came to it; or what its mail offers, with the task itself."""
    if task_id is not None:
        found = came_with(tx, task_id, agent)
        return {**msgspec.to_builtins(found), "context": []} if found is not None else None  # the agent's own context has it
    offer = of_mail(tx, message)
    task = tasks.seek(tx, offer.task_id) if offer is not None else None
    if offer is None or task is None:
        return None
    return {**msgspec.to_builtins(offer), "task": msgspec.to_builtins(tasks.with_needs(tx, task))}
