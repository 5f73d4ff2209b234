"""The ballots of an outcome, cast in the transaction that settles it (Q4). One that is refused stops nothing else, and is wanted again."""

from __future__ import annotations

from collections.abc import Sequence

from covey.agents.model import as_agent
from covey.base.errors import CoveyError
from covey.brains.model import Ballot
from covey.store import Transaction
from covey.teams.counting import InvalidBallot
from covey.teams.votes import casting, correcting

MOST = 20
"""So many ballots of one outcome are taken."""


def cast(tx: Transaction, agent: str, ballots: Sequence[Ballot]) -> list[tuple[str, CoveyError]]:
    """Cast an agent's ballots; those that were refused, with the reason. A choice is never told: who hears of it is the agent alone."""
    refused = []
    for each in ballots[:MOST]:
        try:
            with tx.attempt():
                casting.cast(tx, each.vote_id, as_agent(agent), each.selection, each.confidence, each.argument)
        except CoveyError as error:
            refused.append((f"its ballot in {each.vote_id[:128]}", error))
            if isinstance(error, InvalidBallot):
                correcting.ask_again(tx, each.vote_id, agent, error.message)
    return refused
