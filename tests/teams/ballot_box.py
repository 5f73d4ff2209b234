"""Votes of the fleet at hand: opened, cast and looked at, each word one commit."""

from __future__ import annotations

from typing import Any

from covey.agents.model import THE_OPERATOR, THE_SYSTEM, Caller, as_agent
from covey.store import events
from covey.teams.votes import casting, closing, opening, reading
from covey.teams.votes.model import Result, VoteDraft, VoteShown
from tests.inline import Hand

THREE = ["coder", "sales", "intel"]
COLOURS = ["red", "green", "blue"]


def by(name: str) -> Caller:
    """Who calls."""
    return {"operator": THE_OPERATOR, "system": THE_SYSTEM}.get(name) or as_agent(name)


class Box:
    """The votes of a fleet of eight."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand

    def open(self, *, opener: str = "operator", **more: Any) -> str:
        """The id of a new vote of three on colours."""
        words: dict[str, Any] = {"topic": "Which colour?", "voters": THREE, "options": COLOURS} | more
        return self.hand(opening.open_vote, VoteDraft(**words), by(opener)).vote_id

    def cast(self, ident: str, voter: str, selection: str | None, confidence: float = 1.0, argument: str = "") -> VoteShown:
        """Cast a ballot."""
        return self.hand(casting.cast, ident, by(voter), selection, confidence, argument)

    def argue(self, ident: str, voter: str, argument: str) -> VoteShown:
        """Make an argument."""
        return self.hand(casting.argue, ident, by(voter), argument)

    def close(self, ident: str, closer: str = "operator") -> VoteShown:
        """End it by hand."""
        return self.hand(closing.close, ident, by(closer))

    def next_round(self, ident: str, caller: str = "operator") -> VoteShown:
        """End its round by hand."""
        return self.hand(closing.next_round, ident, by(caller))

    def show(self, ident: str, viewer: str = "operator") -> VoteShown:
        """The vote as somebody sees it."""
        return self.hand(reading.show, ident, by(viewer))

    def result(self, ident: str) -> Result:
        """What it came to; it must be closed."""
        found = self.show(ident).result
        assert found is not None, f"{ident} is open"
        return found

    def sweep(self, seconds: float = 0.0) -> int:
        """How many votes moved on after so many seconds."""
        self.hand.clock.at += seconds
        return self.hand(closing.close_due)

    def kinds(self, ident: str) -> list[str]:
        """What happened to a vote, in order."""
        return [event.kind for event in self.hand(events.of_subject, ident)][::-1]
