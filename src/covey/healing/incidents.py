"""Incidents: opened with a cause, told step by step, ended with an outcome; one open at a time for each agent, kind and subject (H2).

They are the story and the memory of healing: a remedy looks at the steps, so that it is applied once per stall. Nothing here heals.
"""

from __future__ import annotations

from typing import Any

import msgspec

from covey.agents import living, roster
from covey.agents.model import OPERATOR, STALLS
from covey.base.errors import NotFound
from covey.base.wire import fit
from covey.healing.model import FOR_A_PERSON, Incident, Step, advice, title_of
from covey.messages import sending
from covey.store import Row, Transaction, statement

OPEN = statement(__package__, "open")
STEP = statement(__package__, "step")
END = statement(__package__, "end")
CALLED = statement(__package__, "called")
FIND = statement(__package__, "find")
FIND_OPEN = statement(__package__, "find_open")
OPEN_OF = statement(__package__, "open_of")
OPEN_IDS = statement(__package__, "open_ids")
OPEN_ABOUT = statement(__package__, "open_about")
OPEN_OF_KIND = statement(__package__, "open_of_kind")
STEPS_OF = statement(__package__, "steps_of")

CAUSE_BYTES = 4000
SENTENCE_BYTES = 2000


def open_incident(
    tx: Transaction, agent: str, kind: str, cause: str, *, subject: str | None = None, data: dict[str, Any] | None = None
) -> str:
    """The id of the open incident of this agent (empty: of the whole fleet), kind and subject: a new one, or the one there is, unchanged.

    One of a kind that needs a person calls the operator and the lead, once.
    """
    return opened(tx, agent, kind, cause, subject=subject, data=data)[0]


def opened(
    tx: Transaction, agent: str, kind: str, cause: str, *, subject: str | None = None, data: dict[str, Any] | None = None
) -> tuple[str, bool]:
    """As `open_incident`, and whether it is new."""
    cause, text = fit(cause, CAUSE_BYTES), msgspec.json.encode(data or {}).decode()
    row = tx.one(OPEN, id=tx.new_id("inc"), agent=agent, kind=kind, subject=subject or "", cause=cause, data=text, now=tx.now)
    if row is None:
        known: str = tx.one(FIND_OPEN, agent=agent, kind=kind, subject=subject or "").id  # type: ignore[union-attr]
        return known, False
    ident: str = row.id
    tx.happened("incident.opened", agent=agent or None, subject=ident, incident=kind, about=subject, cause=cause[:500])
    if kind in STALLS:
        living.stalled(tx, agent)
    if kind in FOR_A_PERSON:
        call_person(tx, ident)
    return ident, True


def step(tx: Transaction, incident_id: str, action: str, sentence: str) -> None:
    """Something was done about an open incident; on one that has ended, or is not there, nothing is written."""
    row = tx.one(FIND, id=incident_id)
    if row is None or row.ended_at is not None:
        return
    _add_step(tx, row, action, sentence)


def end_incident(tx: Transaction, incident_id: str, outcome: str, sentence: str) -> None:
    """It is over; the sentence is its last step. One that has ended stays as it ended."""
    row = tx.one(END, id=incident_id, outcome=outcome, now=tx.now)
    if row is None:
        return
    sentence = fit(sentence, SENTENCE_BYTES)
    tx.run(STEP, incident_id=incident_id, action=outcome, sentence=sentence, now=tx.now)
    took_s = round(tx.now - row.opened_at, 3)
    tx.happened(
        "incident.ended",
        agent=row.agent or None,
        subject=incident_id,
        incident=row.kind,
        outcome=outcome,
        took_s=took_s,
        why=sentence[:500],
    )


def call_person(tx: Transaction, incident_id: str) -> None:
    """The operator and the lead hear of an open incident, once: what happened, why, what to do next. The lead is not told of itself."""
    row = tx.one(FIND, id=incident_id)
    if row is None or row.ended_at is not None or tx.run(CALLED, id=incident_id, now=tx.now) == 0:
        return
    body = f"{row.cause}\n{advice(row.kind, row.agent, row.subject)}\n`covey incident show {incident_id}` tells the story."
    data: dict[str, object] = {"incidentId": incident_id, "agent": row.agent, "kind": row.kind}
    for who in sorted({OPERATOR, roster.lead(tx)[0]} - {row.agent}):
        sending.notify(tx, who, title_of(row.kind, row.agent), body, type="alert", priority="urgent", data=data, prompts=True)


def open_of(tx: Transaction, agent: str, kind: str | None = None) -> list[Incident]:
    """The open incidents of an agent (empty: of the whole fleet), oldest first, with their steps."""
    return [of_row(tx, row) for row in tx.all(OPEN_OF, agent=agent, kind=kind or "")]


def open_ids(tx: Transaction, agent: str, kind: str) -> list[str]:
    """The ids of the agent's open incidents of this kind; cheaper than `open_of`."""
    return [row.id for row in tx.all(OPEN_IDS, agent=agent, kind=kind)]


def open_about(tx: Transaction, subject: str, kind: str) -> list[str]:
    """The ids of the open incidents of this kind about something, whichever agent they concern."""
    return [row.id for row in tx.all(OPEN_ABOUT, subject=subject, kind=kind)]


def agents_with(tx: Transaction, kind: str, limit: int = 1000) -> list[str]:
    """The agents that have an open incident of this kind."""
    return [row.agent for row in tx.all(OPEN_OF_KIND, kind=kind, limit=limit)]


def find(tx: Transaction, incident_id: str) -> Incident:
    """One incident with its steps.

    Raises:
        NotFound: There is none of this id.
    """
    row = tx.one(FIND, id=incident_id)
    if row is None:
        raise NotFound(f"there is no incident {incident_id!r}; `covey incident list` shows the ids.", field="incidentId")
    return of_row(tx, row)


def _add_step(tx: Transaction, row: Row, action: str, sentence: str) -> None:
    sentence = fit(sentence, SENTENCE_BYTES)
    tx.run(STEP, incident_id=row.id, action=action, sentence=sentence, now=tx.now)
    tx.happened("incident.step", agent=row.agent or None, subject=row.id, incident=row.kind, action=action, why=sentence[:500])


def of_row(tx: Transaction, row: Row) -> Incident:
    """The incident of a row of `incidents`, with its steps."""
    steps = tuple(Step(each.at, each.action, each.sentence) for each in tx.all(STEPS_OF, incident_id=row.id))
    return Incident(*row)._replace(steps=steps, subject=row.subject or None, data=msgspec.json.decode(row.data))
