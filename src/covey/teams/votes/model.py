"""What a vote of the fleet is: its draft with its bounds, how it is shown, and the rules of its rounds. Pure; counting is `counting`'s."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

import msgspec

from covey.base.wire import check_text
from covey.messages.checking import check_id
from covey.teams import counting
from covey.teams.counting import InvalidBallot

Tie = Literal["none", "decider", "revote"]
"""What is done about a tie: nothing; the lead decides; those that tie are voted on once more."""
State = Literal["open", "deciding", "closed"]

MOST_VOTERS = 100
MOST_ROUNDS = 5
"""So many rounds of debate at most."""
MOST_OPEN = 50
"""So many votes of one opener may be open."""
TOPIC_CHARS = 4_000
OPTION_CHARS = 200
ARGUMENT_CHARS = 2_000
LENGTH_S = 3600.0
LONGEST_S = 31 * 86400.0
"""How long a vote lasts unless told, and at most."""


class VoteDraft(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """A vote as somebody wants it held. Required: `topic`, `voters`, `options`.

    `quorum`: so many must have chosen. `deadlineS`: it lasts so many seconds at most, over all its rounds. `expertise`: a voter's weight
    beside its confidence, 1 unless given. `debate`: so many more rounds, before each of which all arguments are shown.
    """

    topic: str
    voters: list[str]
    options: list[str]
    vote_id: str | None = None
    quorum: int = 0
    deadline_s: float = LENGTH_S
    expertise: dict[str, float] = {}
    tie: Tie = "none"
    debate: int = 0


class CheckedVote(NamedTuple):
    """A draft that passed the rules that need no store."""

    options: list[str]
    expertise: dict[str, float]
    digest: str


def check(draft: VoteDraft) -> CheckedVote:
    """The draft's derived parts, once its form and bounds are right.

    Raises:
        InvalidBallot: `field` names what is wrong; nothing is stored.
    """
    check_id("voteId", draft.vote_id)
    check_words("topic", draft.topic, TOPIC_CHARS)
    _check_voters(draft.voters)
    for place, option in enumerate(draft.options):
        check_words(f"options[{place}]", option, OPTION_CHARS)
    options = counting.options_of(draft.options)
    counting.check_whole("quorum", draft.quorum, len(draft.voters), "the number of voters")
    counting.check_whole("debate", draft.debate, MOST_ROUNDS, "the most rounds")
    if isinstance(draft.deadline_s, bool) or not math.isfinite(draft.deadline_s) or not 0 < draft.deadline_s <= LONGEST_S:
        raise InvalidBallot(f"deadlineS is {draft.deadline_s!r}; give seconds, more than 0 and at most {LONGEST_S:.0f}.", field="deadlineS")
    if draft.tie not in get_args(Tie):
        raise InvalidBallot(f"tie is {draft.tie!r}; it may be {', '.join(get_args(Tie))}.", field="tie")
    expertise = counting.expertise_of(draft.expertise, draft.voters)
    words = (draft.topic, draft.voters, options, draft.quorum, draft.deadline_s, sorted(expertise.items()), draft.tie, draft.debate)
    return CheckedVote(options, expertise, hashlib.blake2b(repr(words).encode(), digest_size=12).hexdigest())


def check_words(field: str, text: object, chars: int) -> str:
    """The text without white space around it.

    Raises:
        InvalidBallot: It is no text, empty, or too long; Invalid: no database can hold it.
    """
    if not isinstance(text, str):
        raise InvalidBallot(f"{field} is a {type(text).__name__}; give text.", field=field)
    if not text.strip():
        raise InvalidBallot(f"{field} is empty; say it in words.", field=field)
    if len(text) > chars:
        raise InvalidBallot(f"{field} is {len(text):,} characters long; at most {chars:,} are taken.", field=field)
    check_text(text, field)
    return text.strip()


def _check_voters(voters: Sequence[str]) -> None:
    if not voters or len(voters) > MOST_VOTERS:
        raise InvalidBallot(f"voters has {len(voters)} names; give 1 to {MOST_VOTERS}.", field="voters")
    for place, name in enumerate(voters):
        if name in voters[:place]:
            raise InvalidBallot(f"voters[{place}] is {name!r}, who is there already; each voter is named once.", field="voters")


def due_of(now: float, deadline: float, round_: int, last: int) -> float:
    """When a round is over that begins now: the time that is left is shared evenly by it and those that follow. Pure."""
    return now + max(0.0, deadline - now) / (last - round_ + 1)


class Cast(NamedTuple):
    """A ballot of one round; a `selection` of None abstains."""

    round: int
    voter: str
    selection: str | None
    confidence: float
    at: float


class Said(NamedTuple):
    """An argument of one round."""

    round: int
    voter: str
    argument: str
    at: float


class Changed(msgspec.Struct, rename="camel"):
    """Who chose otherwise in a round than before, though nobody had brought a new argument: they followed the crowd."""

    round: int
    agents: list[str]


def standing(ballots: Sequence[Cast], voters: Collection[str], first: int, last: int | None = None) -> dict[str, Cast]:
    """Each voter's latest ballot of the rounds from `first` on, up to `last`. Pure."""
    found: dict[str, Cast] = {}
    for each in sorted(ballots, key=lambda each: each.round):
        if each.voter in voters and each.round >= first and (last is None or each.round <= last):
            found[each.voter] = each
    return found


def followers(ballots: Sequence[Cast], arguments: Sequence[Said], voters: Collection[str], first: int, last: int) -> list[Changed]:
    """Round by round after the first, who changed without a new argument: one made in that round, or shown before it. Pure."""
    found = []
    for here in range(first + 1, last + 1):
        old = {each.argument for each in arguments if each.round < here - 1}
        if {each.argument for each in arguments if here - 1 <= each.round <= here} - old:
            continue
        before, after = standing(ballots, voters, first, here - 1), standing(ballots, voters, first, here)
        changed = sorted(name for name, each in before.items() if _turned(each.selection, after[name].selection))
        if changed:
            found.append(Changed(here, changed))
    return found


def _turned(before: str | None, after: str | None) -> bool:
    """Whether somebody chose one option and then another; to abstain is to follow nobody. Pure."""
    return before is not None and after is not None and before != after


class ScoreShown(msgspec.Struct, rename="camel"):
    """What one option got."""

    weighted_score: float
    avg_confidence: float
    vote_count: int


class Result(msgspec.Struct, rename="camel", kw_only=True):
    """What a vote came to. `status` is no_votes, no_quorum, tie or complete; only a complete one has a `winner`."""

    status: counting.Status
    winner: str | None = None
    strength: float = 0.0
    """The winner's weight over the sum of the expertise of the votes cast, 0 to 1."""
    scores: dict[str, ScoreShown] = {}
    tied: list[str] = []
    cast: int = 0
    abstained: list[str] = []
    silent: list[str] = []
    """Who was asked and did not vote."""
    left: list[str] = []
    """Who was taken out, having left the fleet."""
    decided_by: str | None = None
    """Who decided the tie."""
    changed_without_argument: list[Changed] = []


def result_of(
    ballots: Sequence[Cast], arguments: Sequence[Said], expertise: Mapping[str, float], quorum: int, first: int, last: int
) -> Result:
    """What the ballots from the round `first` to `last` come to. `expertise` has each voter that still is one. Pure."""
    latest = standing(ballots, expertise, first)
    chosen = [counting.Ballot(each.voter, each.selection, each.confidence) for each in latest.values() if each.selection is not None]
    tally = counting.count(chosen, expertise, quorum)
    return Result(
        status=tally.status,
        winner=tally.winner,
        strength=tally.strength,
        scores={option: ScoreShown(*score) for option, score in tally.scores.items()},
        tied=tally.tied,
        cast=tally.cast,
        abstained=[name for name in expertise if name in latest and latest[name].selection is None],
        silent=[name for name in expertise if name not in latest],
        changed_without_argument=followers(ballots, arguments, expertise, first, last),
    )


class VoterShown(msgspec.Struct, rename="camel"):
    """A voter: who, with which weight, and whether it has voted in the current round; what it chose is secret until the vote is closed."""

    agent: str
    expertise: float
    voted: bool
    left_at: float | None


class BallotShown(msgspec.Struct, rename="camel"):
    """A ballot; a `selection` of null abstains."""

    round: int
    agent: str
    selection: str | None
    confidence: float
    at: float


class ArgumentShown(msgspec.Struct, rename="camel"):
    """An argument of one round."""

    round: int
    agent: str
    argument: str
    at: float


class VoteShown(msgspec.Struct, rename="camel", kw_only=True):
    """A vote as it stands. Ballots are there once it is closed, arguments once their round is over; `mine` has the caller's own ballot."""

    vote_id: str
    topic: str
    options: list[str]
    choices: list[str]
    """What may be chosen now: all options, or after a tie those that share the first place."""
    opener: str
    quorum: int
    tie: Tie
    debate: int
    round: int
    last_round: int
    state: State
    decider: str | None
    opened_at: float
    deadline: float
    due_at: float
    """When the current round is over at the latest."""
    closed_at: float | None
    closed_by: str | None
    voters: list[VoterShown]
    ballots: list[BallotShown] | None
    arguments: list[ArgumentShown]
    mine: BallotShown | None
    result: Result | None
    known: bool = False
    """It was there already; nothing was changed."""
    differs: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it still goes on."""
        return self.state != "closed"
