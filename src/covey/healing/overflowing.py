"""The incident of a context whose pinned part alone is larger than its bound: opened and ended as the context says (C3, A3)."""

from __future__ import annotations

from covey.contexts import showing
from covey.contexts.emergency import recheck
from covey.contexts.reading import too_large
from covey.healing import incidents
from covey.store import Transaction

KIND = "context_overflow"


def follow(tx: Transaction, agent: str) -> None:
    """Have the agent's incident of this kind stand exactly while its context is too large. Doing it again changes nothing."""
    why = too_large(tx, agent)
    known = incidents.open_ids(tx, agent, KIND)
    if why is not None and not known:
        incidents.open_incident(tx, agent, KIND, why)
    if why is None:
        for ident in known:
            incidents.end_incident(tx, ident, "fits_again", "what its context must keep fits into its bound again.")


def overflowing(tx: Transaction) -> list[str]:
    """The agents whose context is too large."""
    return incidents.agents_with(tx, KIND)


def look_again(tx: Transaction, agent: str) -> None:
    """End the incident if what must be kept fits by now: what kept it from fitting may have been cancelled, or done by others."""
    recheck(tx, agent, showing.bound_of(tx, agent))
    follow(tx, agent)
