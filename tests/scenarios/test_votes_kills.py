"""Votes of eight real agents while agents and the node are killed with -9: each ballot counts once, each vote ends once (Q4, M3)."""

from __future__ import annotations

from collections import Counter

import pytest

from covey import Fleet
from covey.agents.model import THE_OPERATOR
from covey.store import Statement, Transaction
from covey.teams.votes import opening, reading
from covey.teams.votes.model import VoteDraft
from tests.rules import rule
from tests.scenarios.conftest import NAMES, RunningFleet, run, wait_until

VOTES = 20
BRAIN = """
import time
from covey import Ballot, Outcome

def think(turn):
    data = turn.message.message.content["data"] if turn.message is not None else {}
    if "voteId" not in data:
        return "hm"
    time.sleep(0.05)
    choice = "red" if turn.agent in ("chief", "coder", "sales", "finance", "intel") else "blue"
    return Outcome(votes=[Ballot(vote_id=data["voteId"], selection=choice, confidence=0.5, argument=f"{turn.agent} likes {choice}")])
"""
KINDS = Statement("kinds", "SELECT subject AS id, kind, count(*) AS n FROM events WHERE kind LIKE 'vote.%' GROUP BY subject, kind")
TOLD = Statement("told", "SELECT thread_id AS id, count(*) AS n FROM messages WHERE subject LIKE 'Voted:%' GROUP BY thread_id")


def _story(tx: Transaction) -> tuple[dict[tuple[str, str], int], dict[str, int]]:
    return {(row.id, row.kind): row.n for row in tx.all(KINDS)}, {row.id: row.n for row in tx.all(TOLD)}


def _open(tx: Transaction, number: int) -> str:
    draft = VoteDraft(topic=f"vote {number}", voters=list(NAMES), options=["red", "blue"], vote_id=f"v{number}", debate=1, deadline_s=3000)
    return opening.open_vote(tx, draft, THE_OPERATOR).vote_id


async def _fill(fleet: RunningFleet) -> list[str]:
    async with Fleet.open(fleet.folder, environ=fleet.env) as opened:
        return [await opened.write(_open, number) for number in range(VOTES)]


@pytest.mark.scenario
@pytest.mark.timeout(300)
@rule("Q4", "M3")
def test_agents_and_the_node_are_killed_while_they_vote_and_each_ballot_counts_once(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    (fleet.folder / "brain.py").write_text(BRAIN)
    fleet.up()
    idents = run(_fill(fleet))

    def closed() -> int:
        return len(fleet.read(reading.listed, THE_OPERATOR, state="closed").items)

    def left() -> str:
        votes = fleet.read(reading.listed, THE_OPERATOR).items
        return (
            "\n".join(f"{each.vote_id} {each.state} {[one.agent for one in each.voters if not one.voted]}" for each in votes) + fleet.logs()
        )

    for name in ("coder", "chief", "node"):
        fleet.kill(name)
    fleet.up()
    for name in ("sales", "ops"):
        fleet.kill(name)
    wait_until(lambda: closed() == VOTES, 120, left)
    kinds, told = fleet.read(_story)
    for ident in idents:
        vote = fleet.read(reading.show, ident, THE_OPERATOR)
        assert vote.result is not None
        assert (vote.result.status, vote.result.winner, vote.result.cast, vote.result.silent) == ("complete", "red", 8, [])
        assert vote.result.strength == 5 * 0.5 / 8
        assert (kinds[ident, "vote.cast"], kinds[ident, "vote.round"], kinds[ident, "vote.closed"]) == (16, 1, 1)
        assert [(each.round, each.agent) for each in vote.arguments] == [(at, name) for at in (1, 2) for name in sorted(NAMES)]
    assert Counter(told.values()) == {1: VOTES}
