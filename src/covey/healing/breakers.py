"""The story of an agent's breaker: opened after failures, one let through and failed, closed by a success (H6). The breaker itself decides.

Call it in the transaction in which a brain failed or succeeded.
"""

from __future__ import annotations

from covey.agents import breaking
from covey.agents.breaker import OPEN_S
from covey.healing import incidents, lending
from covey.store import Transaction
from covey.tasks import reading

KIND = "breaker_open"
HELD = "held"


def failed(tx: Transaction, agent: str) -> None:
    """A brain failed: if that opened its agent's breaker, an incident says so, with the failure's own words as the cause."""
    breaker = breaking.open_of(tx, agent)
    if breaker is None:
        return
    reason = " ".join(breaker.reason.split())
    often = f"its brain failed {breaker.failures} times in a row" if breaker.failures > 1 else "its brain can't start"
    data = {"failures": breaker.failures, "reason": breaker.reason}
    ident, new = incidents.opened(tx, agent, KIND, f"{often}, at last: {reason}", data=data)
    if new or sum(each.action == HELD for each in incidents.find(tx, ident).steps) < breaker.openings:
        why = "" if new else f"what was let through failed too ({reason}): "
        incidents.step(tx, ident, HELD, f"{why}for {OPEN_S:g} s it gets neither mail nor work; then one is let through.")
    if new:
        _reroute(tx, agent, ident)


def _reroute(tx: Transaction, agent: str, ident: str) -> None:
    """What waits in its own queue and names a capability goes to a live, able agent, or to nobody, said aloud."""
    heirs = lending.give_barred(tx, agent)
    left = reading.queue_of_agent(tx, agent, limit=100)
    if heirs:
        to = ", ".join(f"{name} ({count})" for name, count in sorted(heirs.items())[:20])
        incidents.step(tx, ident, "rerouted", f"what waited for it went to who is able and has least to do: {to}.")
    if left:
        incidents.step(tx, ident, "waits", f"{len(left)}{' or more' if len(left) == 100 else ''} of its tasks wait for it.")


def worked(tx: Transaction, agent: str) -> None:
    """A brain succeeded, which closes its breaker: the incident ends."""
    for ident in incidents.open_ids(tx, agent, KIND):
        back = lending.take_back(tx, agent)
        returned = f" {len(back)} tasks that nobody had begun are its own again." if back else ""
        incidents.end_incident(tx, ident, "cured", f"its brain succeeded, so the breaker is closed.{returned}")
