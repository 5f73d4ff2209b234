"""The fleet's port: votes. Opened, cast in, argued about, looked at, waited for, ended (Q4)."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from covey.api.shapes import Asking, Given, Paging, WaitQuery
from covey.api.waiting import once_ended
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.operations import Nothing, get, post
from covey.teams.votes import casting, closing, opening, reading
from covey.teams.votes.model import ARGUMENT_CHARS, VoteDraft, VoteShown


class VotesQuery(Paging):
    """Which votes: of one state, or all."""

    state: Literal["open", "deciding", "closed"] | None = None


class Votes(Given):
    """Votes, newest first, and the cursor of the next part."""

    items: list[VoteShown]
    cursor: str | None = None


class NewBallot(Asking):
    """A ballot: one of the options word for word, or null to abstain; how sure the voter is, 0 to 1; why, for the others to read."""

    selection: str | None
    confidence: float = 1.0
    argument: Annotated[str, Meta(max_length=ARGUMENT_CHARS)] = ""


class NewArgument(Asking):
    """What is to be said for or against; all voters see it when the round is over."""

    argument: Annotated[str, Meta(min_length=1, max_length=ARGUMENT_CHARS)]


def _opened(vote: VoteShown) -> Answer:
    return shown(vote, 200 if vote.known else 201)


async def open_vote(call: Call[Nothing, VoteDraft]) -> Answer:
    """Open a vote; its voters are asked by mail."""
    return await call.write(_opened, opening.open_vote, call.body, call.by)


async def get_votes(call: Call[VotesQuery, Nothing]) -> Answer:
    """Votes, newest first."""
    asked = call.query
    page = await call.door.store.read(reading.listed, call.by, state=asked.state, before=asked.cursor, limit=asked.limit)
    return shown(Votes(items=page.items, cursor=str(page.cursor) if page.cursor is not None else None))


async def get_vote(call: Call[Nothing, Nothing]) -> Answer:
    """One vote; who has voted, and what only once it is closed."""
    return shown(await call.door.store.read(reading.show, call.named("id"), call.by))


async def wait_for_vote(call: Call[WaitQuery, Nothing]) -> Answer:
    """One vote once it is closed, or as it stands when the time is over."""
    return await once_ended(call, reading.show, call.named("id"), call.by)


async def cast_ballot(call: Call[Nothing, NewBallot]) -> Answer:
    """Cast the caller's own ballot, or revise it."""
    body = call.body
    return await call.write(shown, casting.cast, call.named("id"), call.by, body.selection, body.confidence, body.argument)


async def argue_in_vote(call: Call[Nothing, NewArgument]) -> Answer:
    """Make the caller's argument of this round."""
    return await call.write(shown, casting.argue, call.named("id"), call.by, call.body.argument)


async def begin_round(call: Call[Nothing, Nothing]) -> Answer:
    """End the round; all are shown the arguments and asked again."""
    return await call.write(shown, closing.next_round, call.named("id"), call.by)


async def close_vote(call: Call[Nothing, Nothing]) -> Answer:
    """End the vote and count it."""
    return await call.write(shown, closing.close, call.named("id"), call.by)


OPERATIONS = (
    post(
        "/api/v1/votes",
        open_vote,
        "caller",
        "Open a vote among agents.",
        takes=VoteDraft,
        gives=VoteShown,
        status=201,
        verb=opening.open_vote,
    ),
    get("/api/v1/votes", get_votes, "caller", "Votes, newest first, by state.", query=VotesQuery, gives=Votes, verb=reading.listed),
    get("/api/v1/votes/{id}", get_vote, "caller", "One vote; ballots are secret until it is closed.", gives=VoteShown, verb=reading.show),
    get(
        "/api/v1/votes/{id}/wait",
        wait_for_vote,
        "caller",
        "One vote once it is closed.",
        query=WaitQuery,
        gives=VoteShown,
        verb=reading.show,
    ),
    post(
        "/api/v1/votes/{id}/cast",
        cast_ballot,
        "caller",
        "Cast one's ballot, or revise it.",
        takes=NewBallot,
        gives=VoteShown,
        verb=casting.cast,
    ),
    post("/api/v1/votes/{id}/argue", argue_in_vote, "caller", "Make an argument.", takes=NewArgument, gives=VoteShown, verb=casting.argue),
    post(
        "/api/v1/votes/{id}/next-round", begin_round, "caller", "End the round, begin the next.", gives=VoteShown, verb=closing.next_round
    ),
    post("/api/v1/votes/{id}/close", close_vote, "caller", "End the vote and count it.", gives=VoteShown, verb=closing.close),
)
