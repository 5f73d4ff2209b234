"""Random histories of one vote beside a naive reference, on both databases; and the arithmetic of its rounds (Q4)."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import nullcontext
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from covey.agents import configuring
from covey.base.errors import Conflict, CoveyError, Forbidden
from covey.store import Statement, Transaction
from covey.teams.counting import InvalidBallot
from covey.teams.votes.model import Cast, Said, due_of, result_of
from tests.conftest import EIGHT
from tests.inline import Hand, database, hand, mould_database, mould_file
from tests.rules import rule
from tests.teams.ballot_box import COLOURS, THREE, Box

__all__ = ["database", "hand", "mould_database", "mould_file"]

CLEAR = [
    Statement(f"clear_{table}", f"DELETE FROM {table}") for table in ("votes", "voters", "ballots", "vote_arguments", "copies", "messages")
]
LENGTH_S = 120.0
SURE = (0.0, 0.25, 0.5, 1.0)
"""Shares that binary fractions hold exactly, so that the reference's ties are ties."""


class Naive:
    """A vote kept the plain way: all ballots and arguments in lists, counted anew each time."""

    def __init__(self, expertise: dict[str, float], quorum: int, tie: str, debate: int, now: float) -> None:
        self.expertise, self.quorum, self.tie = expertise, quorum, tie
        self.voters = list(THREE)
        self.round, self.last, self.first = 1, 1 + debate, 1
        self.choices = list(COLOURS)
        self.state = "open"
        self.ballots: list[tuple[int, str, str | None, float]] = []
        self.arguments: list[tuple[int, str, str]] = []
        self.spoke: set[str] = set()
        self.ends = now + LENGTH_S
        self.due = now + LENGTH_S / self.last
        self.status: str | None = None
        self.winner: str | None = None

    def latest(self, before: int = 99) -> dict[str, tuple[str | None, float]]:
        found: dict[str, tuple[str | None, float]] = {}
        for number in range(self.first, min(self.round, before) + 1):
            found |= {who: (what, sure) for at, who, what, sure in self.ballots if at == number and who in self.voters}
        return found

    def count(self) -> tuple[str, list[str]]:
        """The status, and who is first."""
        cast = {who: (what, sure) for who, (what, sure) in self.latest().items() if what is not None}
        if not cast:
            return "no_votes", []
        if len(cast) < self.quorum:
            return "no_quorum", []
        weights = {
            option: sum(Fraction(sure) * Fraction(self.expertise.get(who, 1.0)) for who, (what, sure) in cast.items() if what == option)
            for option in {what for what, _ in cast.values()}
        }
        first = sorted(str(option) for option, weight in weights.items() if weight == max(weights.values()))
        return ("complete" if len(first) == 1 else "tie"), first

    def followers(self) -> list[tuple[int, list[str]]]:
        found = []
        for here in range(self.first + 1, self.round + 1):
            old = {text for at, _, text in self.arguments if at < here - 1}
            if any(text not in old for at, _, text in self.arguments if at in (here - 1, here)):
                continue
            before, after = self.latest(here - 1), self.latest(here)
            turned = [who for who in before if before[who][0] and after[who][0] and before[who][0] != after[who][0]]
            found += [(here, sorted(turned))] if turned else []
        return found

    def move_on(self, now: float) -> None:
        """All that is due."""
        while self.state != "closed":
            if self.state == "deciding":
                if now < self.due:
                    return
                self.close("tie", None)
            elif now >= self.due or self.spoke >= set(self.voters):
                self.end_round(now)
            else:
                return

    def end_round(self, now: float) -> None:
        if self.round < self.last and now < self.ends:
            self.begin(now)
            return
        status, first = self.count()
        if status == "tie" and self.tie == "revote" and self.first == 1:
            self.ends, self.last, self.choices = now + LENGTH_S, self.round + 1, first
            self.first = self.round + 1
            self.begin(now)
        elif status == "tie" and self.tie == "decider":
            self.state, self.choices, self.due = "deciding", first, now + LENGTH_S
        else:
            self.close(status, first[0] if status == "complete" else None)

    def begin(self, now: float) -> None:
        self.round += 1
        self.spoke = set()
        self.due = now + (self.ends - now) / (self.last - self.round + 1)

    def close(self, status: str, winner: str | None) -> None:
        self.state, self.status, self.winner = "closed", status, winner

    def cast(self, who: str, what: str | None, sure: float) -> type[CoveyError] | None:
        """The error that the real one must end with, or None."""
        if what is not None and what not in COLOURS:
            return InvalidBallot
        if self.state == "closed":
            counted = self.first_of_all(who) == (what, sure)
            return None if counted or (who == "chief" and self.decided == (what,)) else Conflict
        if what is not None and what not in self.choices:
            return InvalidBallot
        if self.state == "deciding":
            if who != "chief":
                return Forbidden
            self.decided = (what,) if what is not None else ()
            self.close("complete" if what is not None else "tie", what)
            return None
        if who not in self.voters:
            return Forbidden
        self.ballots = [each for each in self.ballots if each[:2] != (self.round, who)] + [(self.round, who, what, sure)]
        self.spoke.add(who)
        return None

    decided: tuple[str | None, ...] = ()

    def first_of_all(self, who: str) -> tuple[str | None, float] | None:
        """The latest ballot of somebody, of who has left too."""
        mine = [(what, sure) for at, name, what, sure in sorted(self.ballots, key=lambda each: each[0]) if name == who and at >= self.first]
        return mine[-1] if mine else None


def clear(tx: Transaction) -> None:
    for each in CLEAR:
        tx.run(each)


class World:
    """The real thing and the reference, moved together."""

    def __init__(self, hand: Hand, chance: random.Random) -> None:
        hand(clear)
        hand(configuring.configure, EIGHT)
        self.box, self.hand, self.chance = Box(hand), hand, chance
        expertise = {name: chance.choice((0.0, 0.5, 1.0, 2.0)) for name in THREE if chance.random() < 0.5}
        given: dict[str, Any] = {
            "quorum": chance.choice((0, 0, 1, 2, 3)),
            "tie": chance.choice(("none", "decider", "revote")),
            "debate": chance.choice((0, 0, 1, 2)),
        }
        self.ident = self.box.open(expertise=expertise, deadline_s=LENGTH_S, **given)
        self.naive = Naive(expertise, now=self.box.show(self.ident).opened_at, **given)
        self.here = {each.id for each in EIGHT.agents}

    def now(self) -> float:
        return self.hand.now

    def take_out(self) -> None:
        """What each verb of an open vote does first."""
        if self.naive.state == "open":
            self.naive.voters = [name for name in self.naive.voters if name in self.here]
        self.naive.move_on(self.now())

    def expect(self, error: type[CoveyError] | None, act: Callable[[], object]) -> None:
        with nullcontext() if error is None else pytest.raises(error):
            act()

    def everyone(self) -> None:
        for who in THREE:
            self.cast(who)

    def cast(self, who: str | None = None) -> None:
        who = who or self.chance.choice((*THREE, *THREE, "chief", "ops"))
        what = self.chance.choice((*COLOURS, *COLOURS, None, "pink"))
        sure = self.chance.choice(SURE)
        self.sweep()
        error = self.naive.cast(who, what, sure)
        self.expect(error, lambda: self.box.cast(self.ident, who, what, sure))
        self.naive.move_on(self.now())

    def argue(self) -> None:
        who, text = self.chance.choice(THREE), self.chance.choice(("loud", "warm", "cheap"))
        self.sweep()
        error = Conflict if self.naive.state != "open" else Forbidden if who not in self.naive.voters else None
        if error is None:
            mine = (self.naive.round, who)
            self.naive.arguments = [each for each in self.naive.arguments if each[:2] != mine] + [(*mine, text)]
        self.expect(error, lambda: self.box.argue(self.ident, who, text))

    def next_round(self) -> None:
        self.sweep()
        error = Conflict if self.naive.state != "open" or self.naive.round - self.naive.first >= 5 else None
        if error is None:
            self.naive.last = max(self.naive.last, self.naive.round + 1)
            self.naive.begin(self.now())
        self.expect(error, lambda: self.box.next_round(self.ident))

    def close(self) -> None:
        self.sweep()
        if self.naive.state != "closed":
            status, first = self.naive.count()
            self.naive.close(status, first[0] if status == "complete" else None)
        self.box.close(self.ident)

    def leave_or_return(self) -> None:
        name = self.chance.choice(THREE)
        self.here ^= {name}
        agents = tuple(each for each in EIGHT.agents if each.id in self.here)
        self.hand(configuring.configure, msgspec.structs.replace(EIGHT, agents=agents))

    def sweep(self) -> None:
        self.take_out()
        self.box.sweep()

    def wait(self) -> None:
        self.hand.clock.at += self.chance.choice((1.0, 30.0, 60.0, 200.0))
        if self.chance.random() < 0.5:
            self.sweep()

    def check(self) -> None:
        self.sweep()
        seen, naive = self.box.show(self.ident), self.naive
        assert (seen.state, seen.round, seen.choices) == (naive.state, naive.round, naive.choices)
        assert [each.agent for each in seen.voters if each.left_at is None] == naive.voters
        if naive.state == "open":
            assert {each.agent for each in seen.voters if each.voted} & set(naive.voters) == naive.spoke & set(naive.voters)
        if naive.state != "closed":
            assert (seen.ballots, seen.result) == (None, None), "secret"
            return
        assert seen.result is not None
        assert (seen.result.status, seen.result.winner) == (naive.status, naive.winner)
        assert [(each.round, each.agents) for each in seen.result.changed_without_argument] == naive.followers()
        assert self.box.kinds(self.ident).count("vote.closed") == 1


STEPS = ("everyone", "everyone", "cast", "cast", "cast", "argue", "next_round", "wait", "leave_or_return", "close")


@rule("Q4")
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], phases=[Phase.explicit, Phase.generate, Phase.shrink]
)  # fmt: skip
@given(seed=st.integers(0, 1 << 32), steps=st.lists(st.sampled_from(STEPS), max_size=25))
def test_a_vote_is_at_every_moment_what_the_reference_says(hand: Hand, seed: int, steps: list[str]) -> None:
    world = World(hand, random.Random(seed))
    for step in steps:
        getattr(world, step)()
        world.check()


# the arithmetic

CASTS = st.lists(
    st.builds(
        Cast,
        round=st.integers(1, 4),
        voter=st.sampled_from("abcdef"),
        selection=st.sampled_from(["x", "y", "z", None]),
        confidence=st.floats(0, 1),
        at=st.just(0.0),
    ),
    max_size=20,
    unique_by=lambda each: (each.round, each.voter),
)
SAID = st.lists(
    st.builds(Said, round=st.integers(1, 4), voter=st.sampled_from("abcdef"), argument=st.sampled_from("pqr"), at=st.just(0.0)), max_size=6
)


@rule("Q4")
@given(
    ballots=CASTS,
    arguments=SAID,
    quorum=st.integers(0, 6),
    seed=st.integers(0, 1000),
    expertise=st.lists(st.floats(0, 9), min_size=6, max_size=6),
)
def test_the_order_in_which_votes_were_cast_does_not_matter(
    ballots: list[Cast], arguments: list[Said], quorum: int, seed: int, expertise: list[float]
) -> None:
    weights = dict(zip("abcdef", expertise, strict=True))
    mixed, chance = list(ballots), random.Random(seed)
    chance.shuffle(mixed)
    others = list(arguments)
    chance.shuffle(others)
    assert result_of(mixed, others, weights, quorum, 1, 4) == result_of(ballots, arguments, weights, quorum, 1, 4)


@rule("Q4")
@given(st.lists(st.sampled_from(COLOURS), min_size=1, max_size=9))
def test_equal_weights_are_a_majority_vote(chosen: list[str]) -> None:
    ballots = [Cast(1, str(place), option, 0.7, 0.0) for place, option in enumerate(chosen)]
    found = result_of(ballots, [], dict.fromkeys(map(str, range(len(chosen))), 1.0), 0, 1, 1)
    most = max(map(chosen.count, chosen))
    first = sorted({option for option in chosen if chosen.count(option) == most})
    assert (found.winner, found.tied) == ((first[0], []) if len(first) == 1 else (None, first))


@rule("Q4")
@given(weight=st.floats(0, 1), apart=st.floats(0, 1e-12))
def test_scores_a_millionth_of_a_millionth_apart_are_a_tie_whatever_their_size(weight: float, apart: float) -> None:
    ballots = [Cast(1, "a", "x", weight, 0.0), Cast(1, "b", "y", min(weight + apart, 1.0), 0.0)]
    assert result_of(ballots, [], {"a": 1.0, "b": 1.0}, 0, 1, 1).status == "tie"


@rule("Q4")
@given(length=st.floats(0.001, 1e6), rounds=st.integers(1, 6))
def test_rounds_that_run_to_their_ends_share_the_time_evenly(length: float, rounds: int) -> None:
    now = 0.0
    for number in range(1, rounds + 1):
        ends = due_of(now, length, number, rounds)
        assert abs((ends - now) - length / rounds) < 1e-6 * length
        now = ends
