"""An incident closed by a person: nothing else changes, so what is still wrong opens a new one (H2)."""

from __future__ import annotations

from covey.agents import living
from covey.agents.model import Caller
from covey.base.errors import Conflict, Forbidden
from covey.healing import incidents, reading
from covey.healing.reading import IncidentShown
from covey.store import Transaction


def close(tx: Transaction, incident_id: str, by: Caller, reason: str = "") -> IncidentShown:
    """The incident, ended by hand.

    Raises:
        NotFound: There is none of this id.
        Forbidden: The caller is neither the operator nor the lead.
        Conflict: It has ended already.
    """
    if not living.may_command(tx, by):
        raise Forbidden(f"{by.name} may not close {incident_id}: only the operator and the lead may.")
    found = incidents.find(tx, incident_id)
    if found.ended_at is not None:
        raise Conflict(f"the incident {incident_id} has ended already: {found.outcome}.", outcome=found.outcome)
    incidents.end_incident(tx, incident_id, "closed", f"closed by {by.name}{': ' + reason if reason else ''}.")
    return reading.show(tx, incident_id)
