"""Why an incident stands where it stands: what happened, what was done when, how it ended; from the store (K8, H2)."""

from __future__ import annotations

from covey.reports.in_line import Told
from covey.reports.phrases import listed, span, when
from covey.store import Row, Transaction, statement

INCIDENT = statement(__package__, "incident")
STEPS = statement(__package__, "incident_steps")
ABOUT = statement(__package__, "incidents_about")

STEPS_SHOWN = 20


def explain(tx: Transaction, incident: Row) -> Told:
    """What can be said of an incident, given its row."""
    since = incident.opened_at
    whose = f"of {incident.agent}" if incident.agent else "of the whole fleet"
    about = f" about {incident.subject}" if incident.subject else ""
    said = [f"The incident {incident.id} ({incident.kind} {whose}{about}) was opened {when(since, tx.now)}: {_sentence(incident.cause)}"]
    steps = tx.all(STEPS, id=incident.id)
    said += [f"After {span(each.at - since)}: {_sentence(each.sentence)}" for each in steps[:STEPS_SHOWN]]
    if len(steps) > STEPS_SHOWN:
        said.append(f"{len(steps) - STEPS_SHOWN} more steps followed; `covey incident show {incident.id}` has them.")
    if incident.ended_at is not None:
        said.append(f"It ended with `{incident.outcome}`, {span(incident.ended_at - since)} after it was opened.")
    else:
        said.append("It is open.")
    if incident.called_at is not None:
        said.append(f"The operator was told {when(incident.called_at, tx.now)}.")
    facts = {
        "agent": incident.agent or None,
        "kind": incident.kind,
        "subject": incident.subject or None,
        "openedAt": since,
        "endedAt": incident.ended_at,
        "outcome": incident.outcome,
        "tookS": round(incident.ended_at - since, 3) if incident.ended_at is not None else None,
        "steps": [{"at": each.at, "action": each.action, "sentence": each.sentence} for each in steps],
    }
    return said, facts


def _sentence(text: str) -> str:
    return f"{text.rstrip('.')}."


def about(tx: Transaction, ident: str) -> list[str]:
    """What the open incidents about a task or message say of it."""
    rows = tx.all(ABOUT, subject=ident)
    if not rows:
        return []
    named = [f"{row.id} ({row.kind}, since {when(row.opened_at, tx.now)})" for row in rows]
    return [f"Open incidents about it: {listed(named)}; `covey why INCIDENT` tells more."]
