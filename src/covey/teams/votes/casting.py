"""Cast a ballot and argue: verbs of the voters alone. A ballot may be revised until the vote is closed, and is secret until then (Q4)."""

from __future__ import annotations

import msgspec

from covey.agents.model import Caller
from covey.base.errors import Conflict, Forbidden
from covey.store import Row, Transaction, locking, statement
from covey.teams import counting
from covey.teams.votes import reading, rounds
from covey.teams.votes.model import ARGUMENT_CHARS, Cast, VoteShown, check_words, standing

PUT_BALLOT = statement(__package__, "put_ballot")
PUT_ARGUMENT = statement(__package__, "put_argument")
SPOKE = statement(__package__, "spoke")


def _locks(ident: str, *_: object, **__: object) -> list[tuple[str, str]]:
    return [("vote", ident)]


@locking(_locks)
def cast(tx: Transaction, ident: str, by: Caller, selection: str | None, confidence: float = 1.0, argument: str = "") -> VoteShown:
    """The vote with the caller's ballot of this round; None abstains. The last one of a round ends it. The decider's ends a tie.

    The ballot that already stands, cast again, changes nothing, even once the vote is closed: an answer may have been lost.

    Raises:
        NotFound: There is no such vote.
        Forbidden: The caller is no voter of it, or no longer; `nearest` has who is.
        InvalidBallot: The option is not listed, the confidence is not 0 to 1, the argument too long.
        Conflict: The vote is closed.
    """
    row = rounds.locked(tx, ident)
    chosen = counting.selection_of(selection, msgspec.json.decode(row.options)) if selection is not None else None
    sure = counting.confidence_of(confidence)
    said = check_words("argument", argument, ARGUMENT_CHARS) if argument else ""
    if row.state == "closed":
        return _again(tx, row, by, chosen, sure)
    if chosen is not None:
        chosen = counting.selection_of(chosen, msgspec.json.decode(row.choices))
    if row.state == "deciding":
        return _decide(tx, row, by, chosen)
    _check_voter(tx, row, by)
    before = standing(reading.ballots_of(tx, ident), {by.name}, row.counted_from).get(by.name)
    revised = before is not None and before.round == row.round
    known = revised and before is not None and (before.selection, before.confidence) == (chosen, sure)
    if not known:
        tx.run(PUT_BALLOT, vote_id=ident, round=row.round, voter=by.name, selection=chosen, confidence=sure, now=tx.now)
        tx.run(SPOKE, vote_id=ident, voter=by.name, round=row.round)
        tx.happened("vote.cast", agent=by.name, subject=ident, round=row.round, revised=revised)
    if said:
        _put_argument(tx, row, by, said)
    found = reading.shown(tx, rounds.advance(tx, ident), by)
    found.known = known
    return found


@locking(_locks)
def argue(tx: Transaction, ident: str, by: Caller, argument: str) -> VoteShown:
    """The vote with the caller's argument of this round, in place of an earlier one; all see it when the round is over.

    Raises:
        NotFound, Forbidden, Conflict: As `cast`.
        InvalidBallot: The argument is empty or too long.
    """
    row = rounds.locked(tx, ident)
    if row.state != "open":
        raise _over(row)
    _check_voter(tx, row, by)
    _put_argument(tx, row, by, check_words("argument", argument, ARGUMENT_CHARS))
    return reading.shown(tx, row, by)


def _put_argument(tx: Transaction, row: Row, by: Caller, argument: str) -> None:
    if (row.round, by.name, argument) in ((each.round, each.voter, each.argument) for each in reading.arguments_of(tx, row.id)):
        return
    tx.run(PUT_ARGUMENT, vote_id=row.id, round=row.round, voter=by.name, argument=argument, now=tx.now)
    tx.happened("vote.argued", agent=by.name, subject=row.id, round=row.round)


def _decide(tx: Transaction, row: Row, by: Caller, chosen: str | None) -> VoteShown:
    """The tie, decided; if its decider abstains it stays one."""
    if by.name != row.decider:
        raise Forbidden(f"the vote {row.id} is a tie, which {row.decider} decides; no ballot is taken any more.", nearest=[row.decider])
    tx.happened("vote.decided", agent=by.name if by.kind == "agent" else None, subject=row.id)
    return reading.shown(tx, rounds.close(tx, row, by.name, winner=chosen), by)


def _check_voter(tx: Transaction, row: Row, by: Caller) -> None:
    voters = [each.voter for each in reading.voters_of(tx, row.id) if each.left_at is None]
    if by.kind != "agent" or by.name not in voters:
        raise Forbidden(f"{by.name} has no vote on {row.id}; voters are {', '.join(voters) or 'all gone'}.", field="voter", nearest=voters)


def _again(tx: Transaction, row: Row, by: Caller, chosen: str | None, confidence: float) -> VoteShown:
    """A closed vote, for whom it holds just this ballot; so too for who decided it just so."""
    found = reading.shown(tx, row, by)
    stands: Cast | None = standing(reading.ballots_of(tx, row.id), {by.name}, row.counted_from).get(by.name)
    counted = stands is not None and (stands.selection, stands.confidence) == (chosen, confidence)
    decided = found.result is not None and (found.result.decided_by, found.result.winner) == (by.name, chosen)
    if not counted and not decided:
        raise _over(row)
    found.known = True
    return found


def _over(row: Row) -> Conflict:
    if row.state == "deciding":
        return Conflict(f"the vote {row.id} is a tie, which {row.decider} decides; nothing more is said to it.")
    return Conflict(f"the vote {row.id} is closed; `covey vote show {row.id}` says what it came to.", voteId=row.id)
