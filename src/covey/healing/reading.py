"""Incidents as they are shown: one with its story, or a list with a cursor (H2). Reads only."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from covey.base.errors import Invalid
from covey.healing import incidents
from covey.healing.model import KINDS, Incident, advice
from covey.store import Transaction, statement

LISTED = statement(__package__, "listed")
LISTED_OF = statement(__package__, "listed_of")
LISTED_OPEN = statement(__package__, "listed_open")

END = 1 << 62


class StepShown(msgspec.Struct, rename="camel"):
    """One thing that was done, and how many seconds after the incident was opened."""

    at: float
    after_s: float
    action: str
    sentence: str


class IncidentShown(msgspec.Struct, rename="camel"):
    """What befell an agent (null: the whole fleet): the cause, each step with its time, the end, and how long it took in seconds."""

    incident_id: str
    agent: str | None
    kind: str
    subject: str | None
    cause: str
    data: dict[str, Any]
    opened_at: float
    called_at: float | None
    """When a person was called; null if nobody was."""
    ended_at: float | None
    outcome: str | None
    took_s: float | None
    """From cause to cure; null while it is open."""
    next: str | None
    """What a person can do about it, while it is open."""
    steps: list[StepShown]


class Page(NamedTuple):
    """A part of a list, and the cursor of the next part (None at the end)."""

    items: list[IncidentShown]
    cursor: int | None


def show(tx: Transaction, incident_id: str) -> IncidentShown:
    """One incident with its story.

    Raises:
        NotFound: There is none of this id.
    """
    return shown(incidents.find(tx, incident_id))


def page(
    tx: Transaction,
    *,
    agent: str | None = None,
    kind: str | None = None,
    only_open: bool = False,
    only_ended: bool = False,
    before: int | None = None,
    limit: int = 50,
) -> Page:
    """Incidents, newest first: of one agent, of one kind, the open ones alone, or those that have ended.

    Raises:
        Invalid: There is no such kind.
    """
    if kind is not None and kind not in KINDS:
        raise Invalid(f"kind is {kind!r}; it is one of: {', '.join(sorted(KINDS))}.", field="kind")
    wanted = LISTED_OPEN if only_open else LISTED_OF if agent else LISTED
    rows = tx.all(wanted, agent=agent or "", kind=kind or "", ended=int(only_ended), before=before or END, limit=limit + 1)
    items = [shown(incidents.of_row(tx, row)) for row in rows[:limit]]
    return Page(items, rows[limit - 1].seq if len(rows) > limit else None)


def shown(incident: Incident) -> IncidentShown:
    """An incident as it is shown. Pure."""
    since = incident.opened_at
    return IncidentShown(
        incident_id=incident.incident_id,
        agent=incident.agent or None,
        kind=incident.kind,
        subject=incident.subject,
        cause=incident.cause,
        data=incident.data,
        opened_at=since,
        called_at=incident.called_at,
        ended_at=incident.ended_at,
        outcome=incident.outcome,
        took_s=round(incident.cured_in_s, 3) if incident.cured_in_s is not None else None,
        next=advice(incident.kind, incident.agent, incident.subject) if incident.ended_at is None else None,
        steps=[StepShown(each.at, round(each.at - since, 3), each.action, each.sentence) for each in incident.steps],
    )
