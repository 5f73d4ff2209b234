"""Votes as they are shown: what is secret stays so until the vote is closed, whoever asks (Q4). Read only."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from covey.agents.model import Caller
from covey.base.errors import NotFound
from covey.store import Row, Transaction, statement
from covey.teams.votes.model import ArgumentShown, BallotShown, Cast, Result, Said, VoterShown, VoteShown, standing

FIND = statement(__package__, "find")
LIST = statement(__package__, "list")
LIST_OPEN = statement(__package__, "list_open")
VOTERS = statement(__package__, "voters")
BALLOTS = statement(__package__, "ballots")
ARGUMENTS = statement(__package__, "arguments")
NAMED = 5


class Page(NamedTuple):
    """A part of a list and the cursor of the next one."""

    items: list[VoteShown]
    cursor: int | None


def show(tx: Transaction, ident: str, by: Caller) -> VoteShown:
    """One vote as it stands.

    Raises:
        NotFound: There is no such vote.
    """
    return shown(tx, find(tx, ident), by)


def listed(tx: Transaction, by: Caller, *, state: str | None = None, before: int | None = None, limit: int = 50) -> Page:
    """Votes, newest first; of one state, or all."""
    wanted = LIST_OPEN if state in ("open", "deciding") else LIST
    rows = tx.all(wanted, state=state or "", before=before or 1 << 62, limit=limit + 1)
    return Page([shown(tx, row, by) for row in rows[:limit]], rows[limit - 1].seq if len(rows) > limit else None)


def find(tx: Transaction, ident: str) -> Row:
    """The row of a vote.

    Raises:
        NotFound: There is none of this id; the latest ones are named.
    """
    row = tx.one(FIND, id=ident)
    if row is not None:
        return row
    known = [each.id for each in tx.all(LIST, state="", before=1 << 62, limit=NAMED)]
    there = f"the latest are {', '.join(known)}" if known else "there is none yet; `covey vote open` opens one"
    raise NotFound(f"there is no vote {ident!r}; {there}.", field="voteId", nearest=known)


def voters_of(tx: Transaction, ident: str) -> list[Row]:
    """Rows of voter, expertise, spoke_in, left_at, in order."""
    return tx.all(VOTERS, vote_id=ident)


def ballots_of(tx: Transaction, ident: str) -> list[Cast]:
    """All ballots of a vote; secret."""
    return [Cast(*row) for row in tx.all(BALLOTS, vote_id=ident)]


def arguments_of(tx: Transaction, ident: str) -> list[Said]:
    """All arguments of a vote, those of the current round too."""
    return [Said(*row) for row in tx.all(ARGUMENTS, vote_id=ident)]


def shown(tx: Transaction, row: Row, by: Caller) -> VoteShown:
    """The vote of a row, as this caller may see it."""
    closed = row.state == "closed"
    ballots, arguments, voters = ballots_of(tx, row.id), arguments_of(tx, row.id), voters_of(tx, row.id)
    own = standing(ballots, {by.name}, row.counted_from).get(by.name)
    since = row.round if row.state == "open" else row.counted_from
    return VoteShown(
        vote_id=row.id,
        topic=row.topic,
        options=msgspec.json.decode(row.options),
        choices=msgspec.json.decode(row.choices),
        opener=row.opener,
        quorum=row.quorum,
        tie=row.tie,
        debate=row.debate,
        round=row.round,
        last_round=row.last_round,
        state=row.state,
        decider=row.decider,
        opened_at=row.opened_at,
        deadline=row.deadline,
        due_at=row.due_at,
        closed_at=row.closed_at,
        closed_by=row.closed_by,
        voters=[VoterShown(each.voter, each.expertise, each.spoke_in >= since, each.left_at) for each in voters],
        ballots=[BallotShown(*each) for each in ballots] if closed else None,
        arguments=[ArgumentShown(*each) for each in arguments if closed or each.round < row.round or each.voter == by.name],
        mine=BallotShown(*own) if own is not None else None,
        result=msgspec.json.decode(row.result, type=Result) if row.result is not None else None,
    )
