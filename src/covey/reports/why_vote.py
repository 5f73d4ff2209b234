"""Where a vote stands, and whose ballot it waits for (Q4, K8). All from the store; what somebody chose is not asked for."""

from __future__ import annotations

from typing import Any

import msgspec

from covey.reports.in_line import Told
from covey.reports.phrases import head, listed, when
from covey.store import Row, Transaction, statement

VOTE = statement(__package__, "vote")
VOTERS = statement(__package__, "vote_voters")


def seek(tx: Transaction, ident: str) -> Row | None:
    """The row of a vote, or None."""
    return tx.one(VOTE, id=ident)


def explain(tx: Transaction, row: Row) -> Told:
    """The sentences and the facts."""
    facts: dict[str, Any] = {"state": row.state, "opener": row.opener, "round": row.round, "lastRound": row.last_round}
    said = [f"{row.id} is a vote that {row.opener} opened {when(row.opened_at, tx.now)}: “{head(row.topic)}”."]
    if row.state == "closed":
        return said + _closed(tx, row, facts), facts
    facts["dueAt"] = row.due_at
    if row.state == "deciding":
        facts["decider"] = row.decider
        said.append(f"It is a tie, and waits for {row.decider} to decide it; what is not decided {when(row.due_at, tx.now)} stays a tie.")
        return said, facts
    return said + _open(tx, row, facts), facts


def _closed(tx: Transaction, row: Row, facts: dict[str, Any]) -> list[str]:
    result = msgspec.json.decode(row.result)
    facts |= {"status": result["status"], "winner": result["winner"], "closedAt": row.closed_at, "closedBy": row.closed_by}
    came = f"{result['winner']} won" if result["winner"] is not None else result["status"].replace("_", " ")
    return [f"It was closed {when(row.closed_at, tx.now)} by {row.closed_by}: {came}."]


def _open(tx: Transaction, row: Row, facts: dict[str, Any]) -> list[str]:
    voters = tx.all(VOTERS, id=row.id)
    awaited = [each for each in voters if each.spoke_in < row.round]
    facts |= {"voted": len(voters) - len(awaited), "awaited": [each.voter for each in awaited]}
    part = f"In round {row.round} of {row.last_round}, " if row.last_round > 1 else ""
    have = f"{part}{len(voters) - len(awaited)} of {len(voters)} have voted; it waits for {listed(facts['awaited']) or 'nobody'}."
    end = "the round" if row.round < row.last_round else "it"
    held = [each.voter for each in awaited if each.paused_at is not None or each.stopped_at is not None]
    said = [have, f"When all have, {end} is over, and {when(row.due_at, tx.now)} at the latest."]
    if held:
        said.append(f"{listed(held)} takes no mail now: `covey resume {held[0]}`.")
    return said
