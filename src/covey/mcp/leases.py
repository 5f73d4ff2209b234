"""What the tools about work share: the lease's token and length, and how what is held is settled."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from covey.brains.model import Outcome
from covey.mcp.tooling import Call, Given, Ident
from covey.runner import joining
from covey.runner.work import Limits

LEASE_S = 600.0
"""So long a lease lasts here unless told otherwise: an assistant thinks for minutes between two calls."""
Token = Annotated[Ident, Meta(description="the token that claim_task gave")]
Lease = Annotated[float, Meta(ge=10, le=3600, description="seconds that the lease lasts")]


class Settled(Given):
    """What became of it."""

    item: str
    kind: str


def limits_of(call: Call[Any], lease_s: float = LEASE_S) -> Limits:
    """The times and bounds that an agent's work goes by here."""
    return Limits.of(call.door.settings, call.settings)._replace(lease_s=lease_s)


async def settle(call: Call[Any], token: str, outcome: Outcome) -> Settled:
    """What was settled as this outcome says."""
    work = await call.door.store.write(joining.settle, call.agent, token, outcome, limits_of(call))
    return Settled(item=work.item, kind=outcome.kind)
