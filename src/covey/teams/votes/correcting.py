"""A ballot that a brain got wrong is asked for once more in its round, with the reason; after that its agent is silent (Q4)."""

from __future__ import annotations

from covey.store import Transaction, statement
from covey.teams.votes import asking, reading, rounds

ASKED_AGAIN = statement(__package__, "asked_again")


def ask_again(tx: Transaction, ident: str, voter: str, why: str) -> bool:
    """Whether the voter is asked again: it is one, has not voted in this round, and was not asked again in it before.

    Raises:
        NotFound: There is no such vote.
    """
    row = rounds.locked(tx, ident)
    if row.state != "open" or not tx.run(ASKED_AGAIN, vote_id=ident, voter=voter, round=row.round):
        return False
    said = [each for each in reading.arguments_of(tx, ident) if each.round == row.round - 1]
    asking.ask(tx, row, [voter], said, refused=why)
    return True
