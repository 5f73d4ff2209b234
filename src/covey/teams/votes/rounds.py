"""A vote on its way: who left is taken out, a round ends, the next begins, the vote is counted and closed (Q4). Under the vote's lock."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from covey.agents import roster
from covey.agents.model import OPERATOR, SYSTEM
from covey.store import Row, Transaction, statement
from covey.teams.votes import asking, reading
from covey.teams.votes.model import Result, due_of, result_of

GONE = statement(__package__, "gone")
LEAVE = statement(__package__, "leave")
BEGIN_ROUND = statement(__package__, "begin_round")
DECIDE = statement(__package__, "decide")
CLOSE = statement(__package__, "close")


def locked(tx: Transaction, ident: str) -> Row:
    """A vote that nobody else changes before the commit, with all done to it that is due by now.

    Raises:
        NotFound: There is no such vote.
    """
    tx.lock("vote", ident)
    row = reading.find(tx, ident)
    if row.state == "open":
        _take_out_the_gone(tx, ident)
    return advance(tx, ident)


def advance(tx: Transaction, ident: str) -> Row:
    """The vote, its round ended if its time is over or all have voted; and so on, as long as one has ended."""
    while True:
        row = reading.find(tx, ident)
        if row.state == "closed":
            return row
        if row.state == "deciding":
            return close(tx, row, SYSTEM) if tx.now >= row.due_at else row
        if tx.now < row.due_at and not _all_voted(tx, row):
            return row
        end_round(tx, row)


def _take_out_the_gone(tx: Transaction, ident: str) -> None:
    for each in tx.all(GONE, vote_id=ident):
        tx.run(LEAVE, vote_id=ident, voter=each.voter, now=tx.now)
        tx.happened("vote.voter_left", agent=each.voter, subject=ident)


def _all_voted(tx: Transaction, row: Row) -> bool:
    return all(each.spoke_in >= row.round for each in reading.voters_of(tx, row.id) if each.left_at is None)


def end_round(tx: Transaction, row: Row) -> None:
    """The next round of the debate if there is time left for it, else the count."""
    if row.round < row.last_round and tx.now < row.deadline:
        _begin_round(tx, row, "vote.round", last_round=row.last_round)
        return
    result = count(tx, row)
    if result.status == "tie" and row.tie == "revote" and row.counted_from == 1:
        _begin_round(tx, row, "vote.revote", last_round=row.round + 1, tied=result.tied)
    elif result.status == "tie" and row.tie == "decider":
        _ask_decider(tx, row, result.tied)
    else:
        close(tx, row, SYSTEM)


def _begin_round(tx: Transaction, row: Row, kind: str, *, last_round: int, tied: Sequence[str] | None = None) -> None:
    """All who may vote are asked again, shown the arguments of the round that ended. After a tie it begins anew, with those that tied."""
    here = row.round + 1
    deadline = row.deadline if tied is None else tx.now + row.length_s
    tx.run(
        BEGIN_ROUND,
        id=row.id,
        round=here,
        last_round=last_round,
        counted_from=row.counted_from if tied is None else here,
        choices=row.choices if tied is None else msgspec.json.encode(tied).decode(),
        deadline=deadline,
        due_at=due_of(tx.now, deadline, here, last_round),
    )
    said = [each for each in reading.arguments_of(tx, row.id) if each.round == row.round]
    tx.happened(kind, subject=row.id, round=here, arguments=len(said), tied=list(tied or ()))
    voters = [each.voter for each in reading.voters_of(tx, row.id) if each.left_at is None]
    asking.ask(tx, reading.find(tx, row.id), voters, said)


def _ask_decider(tx: Transaction, row: Row, tied: Sequence[str]) -> None:
    """The lead is asked; the operator where nobody plays it."""
    name = roster.lead(tx)[0]
    found = roster.seek(tx, name)
    decider = name if found is not None and found.removed_at is None else OPERATOR
    tx.run(DECIDE, id=row.id, decider=decider, choices=msgspec.json.encode(tied).decode(), due_at=tx.now + row.length_s)
    tx.happened("vote.tied", agent=decider, subject=row.id, tied=list(tied))
    asking.ask_decider(tx, reading.find(tx, row.id), reading.arguments_of(tx, row.id))


def count(tx: Transaction, row: Row) -> Result:
    """What the ballots come to now; secret while the vote is open."""
    voters = reading.voters_of(tx, row.id)
    expertise = {each.voter: each.expertise for each in voters if each.left_at is None}
    ballots, arguments = reading.ballots_of(tx, row.id), reading.arguments_of(tx, row.id)
    result = result_of(ballots, arguments, expertise, row.quorum, row.counted_from, row.round)
    result.left = [each.voter for each in voters if each.left_at is not None]
    return result


def close(tx: Transaction, row: Row, by: str, *, winner: str | None = None) -> Row:
    """The vote, counted and over; the opener and the operator are told. `winner` is what its decider chose."""
    result = count(tx, row)
    if winner is not None and result.status == "tie":
        result.status, result.winner, result.decided_by = "complete", winner, row.decider
    tx.run(CLOSE, id=row.id, now=tx.now, by=by, result=msgspec.json.encode(result).decode())
    tx.happened(
        "vote.closed", agent=by if by not in (SYSTEM, OPERATOR) else None, subject=row.id, by=by, status=result.status,
        winner=result.winner, strength=result.strength, cast=result.cast, head=asking.head(row.topic),
    )  # fmt: skip
    asking.take_back(tx, row.id, [*(each.voter for each in reading.voters_of(tx, row.id)), *([row.decider] if row.decider else [])])
    asking.tell(tx, row, result)
    return reading.find(tx, row.id)
