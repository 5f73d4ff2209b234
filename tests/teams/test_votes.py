"""Votes: who may cast what, and what the ballots come to, whatever their order (Q4)."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.teams import ConsensusManager, voting
from covey.teams.counting import Ballot, InvalidBallot, count
from covey.teams.voting import UnknownTopic, VoteClosed
from tests.rules import rule

OPTIONS = ["A", "B", "C"]
BALLOTS = st.lists(
    st.builds(Ballot, voter=st.sampled_from("abcdefgh"), selection=st.sampled_from(OPTIONS), confidence=st.floats(0, 1)),
    max_size=8,
    unique_by=lambda each: each.voter,
)
EXPERTISE = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 10))


def vote(quorum: int = 0, **expertise: float) -> ConsensusManager:
    votes = ConsensusManager()
    votes.initiate_vote("t", ["a", "b", "c"], OPTIONS, quorum=quorum, expertise=expertise)
    return votes


@rule("Q4")
@given(ballots=BALLOTS, expertise=EXPERTISE, quorum=st.integers(0, 9), seed=st.integers(0, 1000))
def test_the_order_of_the_ballots_does_not_matter(ballots: list[Ballot], expertise: dict[str, float], quorum: int, seed: int) -> None:
    other = list(ballots)
    random.Random(seed).shuffle(other)
    assert count(other, expertise, quorum) == count(ballots, expertise, quorum)


@rule("Q4")
@given(ballots=BALLOTS, expertise=EXPERTISE, quorum=st.integers(0, 9))
def test_a_tally_is_what_exact_arithmetic_says(ballots: list[Ballot], expertise: dict[str, float], quorum: int) -> None:
    tally = count(ballots, expertise, quorum)
    exact = {option: Fraction(0) for option in {each.selection for each in ballots}}
    for each in ballots:
        exact[each.selection] += Fraction(each.confidence) * Fraction(expertise.get(each.voter, 1.0))
    if not ballots:
        assert tally.status == "no_votes"
    elif len(ballots) < quorum:
        assert tally.status == "no_quorum"
    else:
        best: Fraction = max(exact.values())
        near = sorted(option for option, score in exact.items() if best - score <= Fraction(1, 10**9) * max(Fraction(1), best))
        assert tally.status in ("complete", "tie")
        if tally.status == "complete":
            assert exact[str(tally.winner)] == best or len(near) > 1
        for option, score in tally.scores.items():
            assert math.isclose(score.weighted_score, float(exact[option]), abs_tol=1e-9)
        assert 0 <= tally.strength <= 1 + 1e-9


@rule("Q4")
@given(st.lists(st.sampled_from(OPTIONS), min_size=1, max_size=8))
def test_equal_weights_are_a_majority_vote(chosen: list[str]) -> None:
    tally = count([Ballot(str(place), option, 0.7) for place, option in enumerate(chosen)], {})
    most = max(chosen.count(option) for option in chosen)
    first = sorted({option for option in chosen if chosen.count(option) == most})
    assert (tally.winner, tally.tied) == ((first[0], []) if len(first) == 1 else (None, first))


@rule("Q4")
def test_scores_that_differ_by_a_millionth_of_a_millionth_are_a_tie() -> None:
    tally = count([Ballot("a", "A", 0.5), Ballot("b", "B", 0.5 + 1e-12)], {})
    assert (tally.status, tally.winner, tally.tied) == ("tie", None, ["A", "B"])
    assert count([Ballot("a", "A", 0.5), Ballot("b", "B", 0.5 + 1e-6)], {}).winner == "B"


@rule("Q4")
def test_expertise_weighs_and_strength_is_of_the_expertise_that_voted() -> None:
    votes = vote(a=3.0)
    votes.submit_vote("t", "a", "A", 0.5)
    votes.submit_vote("t", "b", "B", 1.0)
    found = votes.calculate_weighted_consensus("t")
    assert (found["result"], found["consensus_strength"]) == ("A", pytest.approx(1.5 / 4))


@rule("Q4")
def test_votes_of_no_weight_decide_nothing_by_chance() -> None:
    votes = vote(a=0.0, b=0.0)
    votes.submit_vote("t", "a", "A", 1.0)
    votes.submit_vote("t", "b", "B", 1.0)
    found = votes.calculate_weighted_consensus("t")
    assert (found["status"], found["result"], found["consensus_strength"], found["tied"]) == ("tie", None, 0.0, ["A", "B"])


@rule("Q4")
def test_too_few_votes_are_no_decision_where_a_quorum_is_given() -> None:
    votes = vote(quorum=2)
    assert votes.calculate_weighted_consensus("t") == {"status": "no_votes", "result": None}
    votes.submit_vote("t", "a", "A", 0.9)
    assert votes.calculate_weighted_consensus("t")["status"] == "no_quorum"
    votes.submit_vote("t", "b", "A", 0.9)
    assert votes.calculate_weighted_consensus("t")["status"] == "complete"
    votes.withdraw("t", "b")
    assert votes.calculate_weighted_consensus("t")["status"] == "no_quorum"


@rule("Q4")
@pytest.mark.parametrize("confidence", [float("nan"), 5.0, -0.1, float("inf"), True, "high", None])
def test_a_confidence_that_is_no_share_is_refused(confidence: float) -> None:
    votes = vote()
    with pytest.raises(InvalidBallot, match=r"confidence is .*; give a number from 0 to 1"):
        votes.submit_vote("t", "a", "A", confidence)
    assert votes.calculate_weighted_consensus("t")["status"] == "no_votes"


@rule("Q4")
def test_only_enrolled_voters_cast_listed_options_on_open_votes() -> None:
    votes = vote()
    with pytest.raises(InvalidBallot, match=r"'z' has no vote on 't'; the voters are a, b, c"):
        votes.submit_vote("t", "z", "A", 0.5)
    with pytest.raises(InvalidBallot, match=r"selection is 'D'; it may be 'A', 'B', 'C'"):
        votes.submit_vote("t", "a", "D", 0.5)
    with pytest.raises(UnknownTopic, match=r"Unknown topic: u. There are votes on: t"):
        votes.submit_vote("u", "a", "A", 0.5)
    votes.submit_vote("t", "a", "A", 0.5)
    votes.submit_vote("t", "a", "B", 0.7)
    assert votes.close("t")["result"] == "B", "a ballot may be revised until then"
    with pytest.raises(VoteClosed, match=r"is closed"):
        votes.submit_vote("t", "a", "A", 0.5)


@rule("Q4")
def test_options_and_voters_are_named_once() -> None:
    votes = ConsensusManager()
    with pytest.raises(InvalidBallot, match=r"options\[1\] is 'é', which is there already"):
        votes.initiate_vote("t", ["a"], ["é", "e\u0301"])
    with pytest.raises(InvalidBallot, match=r"options\[0\] is empty"):
        votes.initiate_vote("t", ["a"], [" "])
    with pytest.raises(InvalidBallot, match=r"options has 0 entries"):
        votes.initiate_vote("t", ["a"], [])
    with pytest.raises(InvalidBallot, match=r"name each voter once"):
        votes.initiate_vote("t", ["a", "a"], ["A"])
    with pytest.raises(InvalidBallot, match=r"quorum is 2"):
        votes.initiate_vote("t", ["a"], ["A"], quorum=2)
    with pytest.raises(InvalidBallot, match=r"expertise names 'b'"):
        votes.initiate_vote("t", ["a"], ["A"], expertise={"b": 1})
    with pytest.raises(InvalidBallot, match=r"expertise.a is inf"):
        votes.initiate_vote("t", ["a"], ["A"], expertise={"a": math.inf})
    votes.initiate_vote("t", ["a"], ["é"])
    votes.submit_vote("t", "a", "e\u0301", 1)
    assert votes.calculate_weighted_consensus("t")["result"] == "é"


@rule("Q4")
def test_a_debate_tells_who_changed_without_a_new_argument() -> None:
    votes = vote()
    for agent, option in zip("abc", "ABB", strict=True):
        votes.submit_vote("t", agent, option, 0.8)
    votes.argue("t", "a", "it is cheaper")
    assert [each["argument"] for each in votes.next_round("t")] == ["it is cheaper"]
    votes.submit_vote("t", "b", "A", 0.9)
    assert votes.changed_without_argument("t") == [], "there was one"
    assert votes.next_round("t") == []
    votes.submit_vote("t", "c", "A", 0.9)
    assert votes.changed_without_argument("t") == ["c"], "it followed the crowd"
    for _ in range(3):
        votes.next_round("t")
    with pytest.raises(VoteClosed, match=r"5 rounds"):
        votes.next_round("t")
    with pytest.raises(InvalidBallot, match=r"argument is empty"):
        votes.argue("t", "a", " ")


@rule("Q4")
@pytest.mark.parametrize("expertise", [1.7e308, 1_000_001, -1, math.nan, math.inf, "2", True])
def test_an_expertise_whose_sum_could_overflow_is_refused(expertise: float) -> None:
    with pytest.raises(InvalidBallot, match=r"a number from 0 to 1,000,000") as refused:
        vote(a=expertise)
    assert refused.value.field == "expertise.a"


@rule("Q4")
def test_words_of_another_type_are_refused_with_their_field() -> None:
    votes = vote()
    with pytest.raises(InvalidBallot, match="selection is None; it may be 'A'"):
        votes.submit_vote("t", "a", None, 1.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidBallot, match=r"options\[0\] is 1"):
        votes.initiate_vote("t", ["a"], [1])  # type: ignore[list-item]
    for quorum in (0.5, "1", True, 4, -1):
        with pytest.raises(InvalidBallot, match="whole number from 0 to 3, the number of voters"):
            vote(quorum=quorum)  # type: ignore[arg-type]


@rule("Q1")
def test_the_oldest_votes_are_forgotten_closed_ones_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voting, "MOST_TOPICS", 2)
    votes = ConsensusManager()
    for topic in ("one", "two"):
        votes.initiate_vote(topic, ["a"], ["A"])
    votes.close("two")
    votes.initiate_vote("three", ["a"], ["A"])
    assert list(votes.votes) == list(votes.debates) == ["one", "three"]
    votes.initiate_vote("three", ["a"], ["A"])
    votes.initiate_vote("four", ["a"], ["A"])
    assert list(votes.votes) == ["three", "four"]
    with pytest.raises(UnknownTopic):
        votes.close("one")
