"""What an agent is given first: urgent before all, then by a key fixed when stored; a retry keeps its place (M4)."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.messages import handling
from covey.messages.model import MESSAGE_LEVEL_S, order_of
from tests.inline import Hand
from tests.messages.mail import next_of, say, take, taken
from tests.rules import rule

PRIORITIES = ("urgent", "high", "medium", "low")
SLOW = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@rule("M4")
@SLOW
@given(st.lists(st.tuples(st.sampled_from(PRIORITIES), st.floats(0, 9_000)), max_size=12))
def test_mail_is_given_urgent_first_then_by_age_and_level(hand: Hand, mail: list[tuple[str, float]]) -> None:
    sent = []
    for priority, pause in mail:
        hand.clock.at += pause
        sent.append((say(hand, "chief", "coder", priority=priority).message_id, priority, hand.now))
    level = {"high": 0.0, "medium": 3600.0, "low": 7200.0}
    urgent = [ident for ident, priority, _ in sent if priority == "urgent"]
    rest = sorted((item for item in sent if item[1] != "urgent"), key=lambda item: item[2] + level[item[1]])
    assert [next_of(hand, "coder").message_id for _ in sent] == urgent + [item[0] for item in rest]
    assert take(hand, "coder") is None


@rule("M4")
def test_a_low_one_waits_two_hours_longer_than_a_high_one_and_not_a_moment_more(hand: Hand) -> None:
    for pause, first in ((2 * MESSAGE_LEVEL_S - 0.01, "high"), (2 * MESSAGE_LEVEL_S, "low")):
        say(hand, "chief", "coder", priority="low")
        hand.clock.at += pause
        say(hand, "chief", "coder", priority="high")
        assert next_of(hand, "coder").priority == first
        assert next_of(hand, "coder").priority != first


@rule("M4")
@given(st.sampled_from(PRIORITIES), st.sampled_from(PRIORITIES), st.integers(0, 10**9), st.integers(0, 10**9))
def test_the_key_is_the_age_in_levels_and_urgent_stands_above_it(one: str, other: str, at: float, then: float) -> None:
    first, second = order_of(one, at, 3600.0), order_of(other, then, 3600.0)
    if (one == "urgent") != (other == "urgent"):
        assert (first < second) == (one == "urgent")
    if one == other:
        assert (first < second) == (at < then)


@rule("M4", "M8")
def test_a_retry_keeps_its_place(hand: Hand) -> None:
    first = say(hand, "chief", "coder", "first").message_id
    hand.clock.at += 1
    second = say(hand, "chief", "coder", "second").message_id
    claimed = taken(hand, "coder")
    hand(handling.failed, "coder", claimed.token, "no luck")
    hand.clock.at += 2
    third = say(hand, "chief", "coder", "third").message_id
    assert [next_of(hand, "coder").message_id for _ in range(3)] == [first, second, third]


@rule("M4")
def test_nothing_overtakes_what_is_urgent(hand: Hand) -> None:
    say(hand, "chief", "coder", priority="high")
    hand.clock.at += 1e6
    urgent = say(hand, "chief", "coder", priority="urgent").message_id
    assert next_of(hand, "coder").message_id == urgent


@rule("M4")
def test_messages_of_one_sender_are_handled_in_the_order_sent(hand: Hand) -> None:
    """microsoft/autogen, run: six messages to one agent completed as 1, 3, 5, 0, 2, 4."""
    sent = [say(hand, "chief", "coder", f"{number}").message_id for number in range(30)]
    assert [next_of(hand, "coder").message_id for _ in sent] == sent
