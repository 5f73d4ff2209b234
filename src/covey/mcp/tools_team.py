"""Tools about working together: hand a task over, answer such an offer, cast a ballot."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from covey.base.errors import Invalid
from covey.brains.model import Outcome, Parcel, Passed
from covey.mcp.leases import settle
from covey.mcp.tooling import Asking, Call, Given, Ident, Receiver, Tool
from covey.teams.handoffs import answering
from covey.teams.votes import casting
from covey.teams.votes.model import ARGUMENT_CHARS


class HandoffAsked(Asking):
    """An offer to make, or the answer to one."""

    token: Annotated[Ident, Meta(description="to offer the task you took: its token")] | None = None
    to: Annotated[Receiver, Meta(description="to whom it is offered")] | None = None
    reason: Annotated[str, Meta(max_length=2000)] = ""
    progress: Annotated[float, Meta(ge=0, le=1, description="how much of it is done")] | None = None
    task_state: Annotated[dict[str, Any], Meta(description="where the work stands, as JSON; at most 64 KiB")] = {}
    know: Annotated[list[str], Meta(max_length=100, description="what the receiver must know, a line each")] = []
    handoff_id: Annotated[Ident, Meta(description="to answer an offer made to you, or to withdraw yours: its id")] | None = None
    accept: bool | None = None
    consent: Annotated[bool, Meta(description="also if the task was yours before")] = False


class Handed(Given):
    """What became of it."""

    item: str
    state: str


class BallotAsked(Asking):
    """A ballot."""

    vote_id: Ident
    selection: Annotated[str, Meta(max_length=500, description="one of the options, word for word")] | None
    """null abstains."""
    confidence: Annotated[float, Meta(ge=0, le=1, description="how sure you are")] = 1.0
    argument: Annotated[str, Meta(max_length=ARGUMENT_CHARS, description="why; the others read it after the round")] = ""


class Cast(Given):
    """The vote as it stands; what the others chose is secret until it closes."""

    vote_id: str
    state: str
    round: int
    known: bool = False


async def handoff(call: Call[HandoffAsked]) -> Handed:
    """Offer the task that you took to a colleague who can do it better, with what it needs to go on: give `token` and `to`.

    Or answer an offer that was made to you: give `handoffId` and `accept`. An offer that is not accepted in time comes back to you.
    """
    asked = call.args
    if asked.handoff_id is not None:
        return await _answer(call, asked.handoff_id)
    if asked.token is None or asked.to is None:
        raise Invalid("give token and to (an offer), or handoffId and accept (an answer).", field="token")
    parcel = Parcel(
        to=asked.to,
        reason=asked.reason,
        progress=asked.progress,
        task_state=asked.task_state,
        context=[Passed(text=line) for line in asked.know],
    )
    settled = await settle(call, asked.token, Outcome(kind="handoff", handoff=parcel))
    return Handed(item=settled.item, state="offered")


async def _answer(call: Call[HandoffAsked], ident: str) -> Handed:
    asked, write = call.args, call.door.store.write
    if asked.accept is None:
        raise Invalid("accept is missing: true takes the task over, false declines it.", field="accept")
    if asked.accept:
        found = await write(answering.accept, ident, call.by, consent=asked.consent)
    else:
        found = await write(answering.decline, ident, call.by, asked.reason)
    return Handed(item=found.task_id, state=found.state)


async def vote(call: Call[BallotAsked]) -> Cast:
    """Cast your ballot in a vote that you were asked for, or revise it. Judge for yourself; the ballots are secret until the end."""
    asked = call.args
    found = await call.door.store.write(casting.cast, asked.vote_id, call.by, asked.selection, asked.confidence, asked.argument)
    return Cast(vote_id=found.vote_id, state=found.state, round=found.round, known=found.known)


TOOLS: tuple[Tool[Any], ...] = (
    Tool(handler=handoff, takes=HandoffAsked, gives=Handed, title="Hand a task over", profile="worker", effect="settles"),
    Tool(handler=vote, takes=BallotAsked, gives=Cast, title="Cast a ballot", profile="worker", effect="adds", again=True),
)
