"""Ballots counted (Q4): weights, ties, quorum, strength. Pure; who may vote, and when, is its callers' matter."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

from covey.base.errors import Invalid

T = TypeVar("T")
Status = Literal["no_votes", "no_quorum", "tie", "complete"]
CLOSE = 1e-9
"""Scores that differ by no more are a tie: what lies between them is the arithmetic's own noise."""
MOST_OPTIONS = 100
MOST_EXPERTISE = 1_000_000.0


class InvalidBallot(Invalid, ValueError):
    """A vote or a ballot of the wrong form."""


class Ballot(NamedTuple):
    """One voter's choice; `confidence` is 0 to 1."""

    voter: str
    selection: str
    confidence: float


class Score(NamedTuple):
    """What one option got."""

    weighted_score: float
    avg_confidence: float
    vote_count: int


class Tally(NamedTuple):
    """What a vote came to. `tied` names the options that share the first place, if several do."""

    status: Status
    winner: str | None
    scores: dict[str, Score]
    strength: float
    tied: list[str]
    cast: int


def count(ballots: Sequence[Ballot], expertise: Mapping[str, float], quorum: int = 0) -> Tally:
    """The tally of these ballots; their order does not matter.

    Weight = confidence × expertise (1 for who has none); strength = the winner's weight over the sum of the expertise of the votes cast.
    """
    scores = {option: _score([each for each in ballots if each.selection == option], expertise) for option in _chosen(ballots)}
    if not ballots:
        return Tally("no_votes", None, {}, 0.0, [], 0)
    if len(ballots) < quorum:
        return Tally("no_quorum", None, scores, 0.0, [], len(ballots))
    best = max(score.weighted_score for score in scores.values())
    first = [option for option, score in scores.items() if best - score.weighted_score <= CLOSE * max(1.0, best)]
    whole = math.fsum(sorted(expertise.get(each.voter, 1.0) for each in ballots))
    strength = best / whole if whole > 0 else 0.0
    if len(first) > 1:
        return Tally("tie", None, scores, strength, first, len(ballots))
    return Tally("complete", first[0], scores, strength, [], len(ballots))


def _chosen(ballots: Sequence[Ballot]) -> list[str]:
    """The options that were chosen, in an order that does not come from the ballots'."""
    return sorted({each.selection for each in ballots})


def _score(ballots: Sequence[Ballot], expertise: Mapping[str, float]) -> Score:
    # summed exactly and in one order, so that the same ballots in another order are no other score
    weights = sorted(each.confidence * expertise.get(each.voter, 1.0) for each in ballots)
    return Score(math.fsum(weights), math.fsum(sorted(each.confidence for each in ballots)) / len(ballots), len(ballots))


def same(text: str) -> str:
    """The form in which two options that look alike are one."""
    return unicodedata.normalize("NFC", text).strip()


def listed(field: str, given: Iterable[T]) -> list[T]:
    """What was given as a list; a text is none, though it has letters.

    Raises:
        InvalidBallot: It is a text, or no list of any kind.
    """
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        what = "a text" if isinstance(given, str) else repr(given)
        raise InvalidBallot(f"{field} is {what}; give a list of them.", field=field)
    return list(given)


def options_of(options: Sequence[str]) -> list[str]:
    """The options of a vote, each checked.

    Raises:
        InvalidBallot: Fewer than one, more than 100, an empty one, or two that are the same.
    """
    given = listed("options", options)
    for place, option in enumerate(given):
        if not is_text(option):
            raise InvalidBallot(f"options[{place}] is {option!r}, which is no text; give texts.", field="options")
    found = [same(option) for option in given]
    if not found or len(found) > MOST_OPTIONS:
        raise InvalidBallot(f"options has {len(found)} entries; give 1 to {MOST_OPTIONS}.", field="options")
    for place, option in enumerate(found):
        if not option:
            raise InvalidBallot(f"options[{place}] is empty; say what may be chosen.", field="options")
        if option in found[:place]:
            raise InvalidBallot(f"options[{place}] is {option!r}, which is there already; each option is named once.", field="options")
    return found


def selection_of(selection: str, options: Sequence[str]) -> str:
    """The option that was chosen.

    Raises:
        InvalidBallot: It is not one of those listed.
    """
    chosen = same(selection) if is_text(selection) else None
    if chosen is None or chosen not in options:
        raise InvalidBallot(f"selection is {repr(selection)[:200]}; it may be {', '.join(map(repr, options))}.", field="selection")
    return chosen


def confidence_of(confidence: float) -> float:
    """The confidence, a finite number from 0 to 1.

    Raises:
        InvalidBallot: It is not.
    """
    if not _is_number(confidence) or not 0 <= confidence <= 1:
        raise InvalidBallot(f"confidence is {confidence!r}; give a number from 0 to 1.", field="confidence")
    return float(confidence)


def expertise_of(expertise: Mapping[str, float], voters: Sequence[str]) -> dict[str, float]:
    """The expertise factors, each a number from 0 to a million, so that no sum of weights overflows.

    Raises:
        InvalidBallot: One is not, or is that of somebody who has no vote.
    """
    if not isinstance(expertise, Mapping):
        raise InvalidBallot(f"expertise is {expertise!r}; give each voter's factor by its name.", field="expertise")
    for voter, factor in expertise.items():
        if voter not in voters:
            raise InvalidBallot(f"expertise names {voter!r}, who has no vote; the voters are {', '.join(voters)}.", field="expertise")
        if not _is_number(factor) or not 0 <= factor <= MOST_EXPERTISE:
            raise InvalidBallot(
                f"expertise.{voter} is {factor!r}; give a number from 0 to {MOST_EXPERTISE:,.0f}.", field=f"expertise.{voter}"
            )
    return {voter: float(factor) for voter, factor in expertise.items()}


def check_whole(field: str, number: object, most: int, what: str) -> None:
    """Refuse what is no whole number from 0 to `most`, which is `what`.

    Raises:
        InvalidBallot: It is not.
    """
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= most:
        raise InvalidBallot(f"{field} is {number!r}; give a whole number from 0 to {most}, {what}.", field=field)


def is_text(value: object) -> bool:
    """Whether it is a text."""
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
