"""One vote: what is asked of whom and until when, what was argued in each round, what it came to and by which weights.

What was chosen is secret until it is closed: the verb that reads it keeps it so (Q4), and nothing here knows more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from covey.agents.model import OPERATOR, THE_OPERATOR
from covey.base.settings import Settings
from covey.console import pieces
from covey.console.pages.votes import states_of, voted_of
from covey.console.rendering import render
from covey.console.routes import Operations
from covey.console.sections import Sections
from covey.console.story import lines_of
from covey.console.views import LINES
from covey.store import Transaction, events
from covey.store.events import Event
from covey.teams.votes import reading
from covey.teams.votes.model import ArgumentShown, BallotShown, VoteShown

TIES = {"none": "it stays one", "decider": "the lead decides", "revote": "those that tie are voted on once more"}
"""What is done about a tie, in words."""


class VoteView(NamedTuple):
    """A vote, and what happened to it."""

    vote: VoteShown
    story: list[Event]


class Bar(NamedTuple):
    """What one option got. `share` is of the weight of all who chose, 0 to 1."""

    option: str
    score: float
    share: float
    ballots: int
    confidence: float
    won: bool


class Round(NamedTuple):
    """What was said and, once all is open, chosen in a round."""

    number: int
    arguments: Sequence[ArgumentShown]
    ballots: Sequence[BallotShown]
    changed: Sequence[str]
    """Who chose otherwise than before, though nobody had brought a new argument."""


def read_vote(tx: Transaction, ident: str, _settings: Settings) -> VoteView:
    """The vote as the operator may see it.

    Raises:
        NotFound: There is no such vote.
    """
    return VoteView(reading.show(tx, ident, THE_OPERATOR), events.of_subject(tx, ident, limit=LINES))


def bars_of(vote: VoteShown) -> list[Bar]:
    """What each option got, the most first; those that nobody chose too. Pure."""
    result = vote.result
    if result is None:
        return []
    best = max((each.weighted_score for each in result.scores.values()), default=0.0)
    whole = best / result.strength if result.strength else 0.0
    bars = []
    for option in vote.options:
        got = result.scores.get(option)
        score, count, confidence = (got.weighted_score, got.vote_count, got.avg_confidence) if got is not None else (0.0, 0, 0.0)
        bars.append(Bar(option, score, score / whole if whole else 0.0, count, confidence, won=option == result.winner))
    return sorted(bars, key=lambda bar: -bar.score)


def rounds_of(vote: VoteShown) -> list[Round]:
    """Its rounds so far, the latest first. Pure."""
    changed = {each.round: each.agents for each in vote.result.changed_without_argument} if vote.result is not None else {}
    return [
        Round(
            number,
            [each for each in vote.arguments if each.round == number],
            [each for each in vote.ballots or () if each.round == number],
            changed.get(number, ()),
        )
        for number in range(vote.round, 0, -1)
    ]


def now_part(view: VoteView) -> Markup:
    """What is asked, until when, and what can be done about it. Pure."""
    vote = view.vote
    return render(
        "votes/now.html",
        vote=vote,
        states=states_of(vote),
        voted=voted_of(vote),
        opener=pieces.agent(vote.opener),
        tie=TIES[vote.tie],
        mine=vote.state == "deciding" and vote.decider == OPERATOR,
    )


def result_part(view: VoteView) -> Markup:
    """What it came to, as bars and in numbers. Pure."""
    return render("votes/result.html", vote=view.vote, result=view.vote.result, bars=bars_of(view.vote), bar=pieces.bar, agent=pieces.agent)


def voters_part(view: VoteView) -> Markup:
    """Who was asked, with which weight, and who has voted. Pure."""
    return render("votes/voters.html", vote=view.vote, agent=pieces.agent)


def rounds_part(view: VoteView) -> Markup:
    """What was argued, round by round. Pure."""
    return render("votes/rounds.html", vote=view.vote, rounds=rounds_of(view.vote), agent=pieces.agent)


def story_part(view: VoteView) -> Markup:
    """What happened to it, the latest first. Pure."""
    return render("story.html", lines=lines_of(view.story, view.vote.vote_id))


PARTS: Mapping[str, Callable[[VoteView], Markup]] = {
    "now": now_part,
    "result": result_part,
    "voters": voters_part,
    "rounds": rounds_part,
    "story": story_part,
}
VOTE = Sections(path="/votes/{id}", template="votes/vote.html", summary="One vote", read=read_vote, parts=PARTS)
OPERATIONS: Operations = VOTE.operations
