"""Tools about work in hand: say how far it is, finish it, fail it."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from covey.brains.model import Cost, Outcome, failure
from covey.mcp.leases import LEASE_S, Lease, Settled, Token, settle
from covey.mcp.tooling import Asking, Call, Given, Tool
from covey.runner import joining


class ProgressAsked(Asking):
    """How far it is."""

    token: Token
    text: Annotated[str, Meta(min_length=1, max_length=2000, description="one line: what is done, what comes next")]
    lease_s: Lease = LEASE_S


class Renewed(Given):
    """Until when the lease stands now, in Unix seconds."""

    lease_ends: float


class FinishAsked(Asking):
    """What came of it."""

    token: Token
    summary: Annotated[str, Meta(description="the result, in words; of a message the reply to it")]
    data: Annotated[dict[str, Any], Meta(description="results for programs, at most 64 KiB")] = {}
    decisions: Annotated[list[str], Meta(max_length=20, description="what was decided on the way, to be remembered")] = []
    accept: Annotated[bool, Meta(description="of mail that offers a task: whether you take it over")] | None = None
    consent: Annotated[bool, Meta(description="with accept: also if the task was yours before")] = False
    cost: Cost | None = None


class FailAsked(Asking):
    """Why it failed."""

    token: Token
    error: Annotated[str, Meta(min_length=1, max_length=10_000)]
    permanent: Annotated[bool, Meta(description="trying again is no use, for you at least")] = False


async def progress(call: Call[ProgressAsked]) -> Renewed:
    """Say how far your work is, and keep it: the lease is renewed by this call."""
    asked = call.args
    ends = await call.door.store.write(joining.progress, call.agent, asked.token, asked.text, asked.lease_s)
    return Renewed(lease_ends=ends)


async def finish_task(call: Call[FinishAsked]) -> Settled:
    """Settle what you took as done. `summary` is the result of a task, or your reply to a message.

    An error with the code lease_lost means that it is no longer yours: drop the result and don't try again.
    """
    asked = call.args
    outcome = Outcome(
        summary=asked.summary,
        data=asked.data,
        decisions=asked.decisions,
        accept=asked.accept,
        consent=asked.consent,
        cost=asked.cost,
    )
    return await settle(call, asked.token, outcome)


async def fail_task(call: Call[FailAsked]) -> Settled:
    """Say that you could not do it and why. It is tried again later, by somebody else if it can be, unless it is `permanent`."""
    asked = call.args
    return await settle(call, asked.token, failure(asked.error, permanent=asked.permanent))


TOOLS: tuple[Tool[Any], ...] = (
    Tool(handler=progress, takes=ProgressAsked, gives=Renewed, title="Say how far it is", profile="worker", effect="adds"),
    Tool(handler=finish_task, takes=FinishAsked, gives=Settled, title="Finish work", profile="worker", effect="settles"),
    Tool(handler=fail_task, takes=FailAsked, gives=Settled, title="Fail work", profile="worker", effect="settles"),
)
