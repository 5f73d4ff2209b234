"""End a round or a whole vote: by who opened it, by the operator, or by the sweep when its time has come (Q4)."""

from __future__ import annotations

from covey.agents.model import Caller
from covey.base.errors import Conflict, Forbidden
from covey.store import Row, Transaction, locking, statement
from covey.teams.votes import reading, rounds
from covey.teams.votes.model import MOST_ROUNDS, VoteShown

DUE = statement(__package__, "due")
DESERTED = statement(__package__, "deserted")


def _locks(ident: str, *_: object, **__: object) -> list[tuple[str, str]]:
    return [("vote", ident)]


@locking(_locks)
def close(tx: Transaction, ident: str, by: Caller) -> VoteShown:
    """The vote, counted and over, however many have voted; a tie stays one. One that was closed before is as it was (`known`).

    Raises:
        NotFound: There is no such vote.
        Forbidden: It is neither the caller's nor is the caller the operator.
    """
    row = rounds.locked(tx, ident)
    _check_may(row, by)
    known = row.state == "closed"
    found = reading.shown(tx, row if known else rounds.close(tx, row, by.name), by)
    found.known = known
    return found


@locking(_locks)
def next_round(tx: Transaction, ident: str, by: Caller) -> VoteShown:
    """The vote in its next round, all asked again and shown the arguments; beyond those it was opened with, up to five in all.

    Raises:
        NotFound, Forbidden: As `close`.
        Conflict: It is closed or a tie being decided, or there were five rounds of debate.
    """
    row = rounds.locked(tx, ident)
    _check_may(row, by)
    if row.state != "open":
        raise Conflict(f"the vote {ident} is {row.state}; it has no next round.")
    if row.round - row.counted_from >= MOST_ROUNDS:
        raise Conflict(f"the vote {ident} was debated in {MOST_ROUNDS} rounds, which is the most; `covey vote close {ident}` counts it.")
    rounds.end_round(tx, row._replace(last_round=max(row.last_round, row.round + 1)))
    return reading.show(tx, ident, by)


def close_due(tx: Transaction, limit: int = 100) -> int:
    """How many votes moved on: their time had come, or the last whose ballot was awaited has left the fleet."""
    found = [row.id for row in (*tx.all(DUE, now=tx.now, limit=limit), *tx.all(DESERTED, limit=limit))]
    idents = sorted(set(found))
    for ident in idents:
        rounds.locked(tx, ident)
    return len(idents)


def _check_may(row: Row, by: Caller) -> None:
    if not by.commands and by.name != row.opener:
        raise Forbidden(f"the vote {row.id} is {row.opener}'s; only it and the operator may end it, and the token is {by.name}'s.")
