"""Votes as a table, newest first."""

from __future__ import annotations

from typing import get_args

from covey.agents.model import THE_OPERATOR
from covey.base.errors import Invalid
from covey.base.settings import Settings
from covey.console import pieces
from covey.console.console import console_of
from covey.console.listing import operations_of
from covey.console.rendering import Place
from covey.console.routes import Operations, page
from covey.console.shown import ago
from covey.console.tables import Column, Filter, Query, Slice, Table, cursor_of, table_rows
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.store import Transaction
from covey.teams.votes import reading
from covey.teams.votes.model import State, VoterShown, VoteShown

PLACE = Place("/votes", "Votes")
STATES: tuple[str, ...] = get_args(State)


class VotesQuery(Query):
    """Votes: those in this state."""

    state: str = ""


def read_votes(tx: Transaction, query: VotesQuery, _settings: Settings, limit: int) -> Slice[VoteShown]:
    """The votes that a query asks for, as the operator may see them."""
    if query.state not in ("", *STATES):
        raise Invalid(f"state is {query.state[:60]!r}; it is one of {', '.join(STATES)}, or nothing for all.", field="state")
    found = reading.listed(tx, THE_OPERATOR, state=query.state or None, before=cursor_of(query) or None, limit=limit)
    return Slice(found.items, None if found.cursor is None else str(found.cursor))


def states_of(vote: VoteShown) -> list[str]:
    """Its state, and what it came to, once it is closed. Pure."""
    return [vote.state] if vote.result is None else [vote.state, vote.result.status.replace("_", " ")]


def staying(vote: VoteShown) -> list[VoterShown]:
    """Its voters who have not left the fleet. Pure."""
    return [each for each in vote.voters if each.left_at is None]


def voted_of(vote: VoteShown) -> str:
    """How many have voted: `2 of 3`. Pure."""
    return f"{sum(each.voted for each in staying(vote))} of {len(staying(vote))}"


def winner_of(vote: VoteShown) -> str:
    """What won; empty where nothing did, or has not yet. Pure."""
    return (vote.result.winner or "") if vote.result is not None else ""


VOTES: Table[VotesQuery, VoteShown] = Table(
    name="votes",
    path="/votes",
    caption="Votes",
    query=VotesQuery,
    read=read_votes,
    filters=(Filter("state", "State", STATES, "any state"),),
    columns=(
        Column(name="topic", title="Topic", value=lambda v: v.topic, words=True),
        Column(name="state", title="State", value=lambda v: " ".join(states_of(v)), cell=lambda v: pieces.pill(*states_of(v))),
        Column(name="voted", title="Voted", value=voted_of),
        Column(name="winner", title="Result", value=winner_of, words=True),
        Column(name="round", title="Round", value=lambda v: v.round, cell=lambda v: f"{v.round} of {v.last_round}", spare=True),
        Column(name="deadline", title="Closes", value=lambda v: v.deadline, cell=lambda v: ago(v.closed_at or v.deadline)),
        Column(name="opener", title="Asked by", value=lambda v: v.opener, cell=lambda v: pieces.agent(v.opener), spare=True),
        Column(name="openedAt", title="Opened", value=lambda v: v.opened_at, cell=lambda v: ago(v.opened_at), spare=True),
        Column(name="voteId", title="Id", value=lambda v: v.vote_id, cell=lambda v: pieces.vote(v.vote_id), spare=True),
    ),
    live="vote.",
    empty="No vote yet. Open a vote, above, asks agents to choose.",
    open=lambda vote: f"/votes/{vote.vote_id}",
)


async def get_votes(call: Call[VotesQuery, Nothing]) -> Answer:
    """The page with the table."""
    rows = await table_rows(call, VOTES, call.query)
    return console_of(call).whole(call, "votes/table.html", table=VOTES, query=call.query, rows=rows)


OPERATIONS: Operations = (page("/votes", get_votes, "Votes, newest first.", query=VotesQuery), *operations_of(VOTES))
