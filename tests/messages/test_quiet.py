"""What wakes an idle brain and what rides along; quiet mail alone makes a digest now and then (M4b)."""

from __future__ import annotations

import pytest

from covey.agents import roster
from covey.messages import handling
from covey.messages.handling import RIDER_BYTES, RIDERS
from covey.messages.model import wakes
from tests.inline import Hand
from tests.messages.mail import DIGEST_S, LEASE_S, ask, inbox, say, state_of, take, taken
from tests.rules import rule

QUIET = ("question", "update", "notification", "response", "feedback")
WAKING = ("task", "request", "handover", "alert")


def hush(hand: Hand, body: str = "fyi", to: str = "coder", **words: object) -> str:
    """The id of a quiet message."""
    return say(hand, "chief", to, body, type="notification", **words).message_id


@rule("M4b")
def test_what_wakes_and_what_does_not() -> None:
    plain = {"requires_response": False, "answers": False}
    for kind in QUIET:
        assert not wakes(kind, "high", "chief", **plain)
        assert wakes(kind, "urgent", "chief", **plain)
        assert wakes(kind, "low", "operator", **plain)
        assert wakes(kind, "low", "chief", requires_response=True, answers=False)
        assert wakes(kind, "low", "chief", requires_response=False, answers=True)
        assert wakes(kind, "low", "system", **plain, prompts=True)
        assert not wakes(kind, "low", "system", **plain)
    for kind in WAKING:
        assert wakes(kind, "low", "chief", **plain)
        assert wakes(kind, "low", "system", **plain)


@rule("M4b")
def test_quiet_mail_alone_waits_for_its_digest(hand: Hand) -> None:
    """sageox#73, multica#1576: "no reply needed" messages wake nobody."""
    ident = hush(hand)
    hand.clock.at += DIGEST_S - 0.001
    assert take(hand, "coder") is None
    hand.clock.at += 0.001
    claimed = taken(hand, "coder")
    assert claimed.main is None
    assert [message.message_id for message in claimed.riders] == [ident]
    assert state_of(hand, ident, "coder") == "seen"


@rule("M4b")
def test_there_is_one_digest_in_its_time_at_most(hand: Hand) -> None:
    for number in range(RIDERS + 5):
        hush(hand, f"{number}")
    hand.clock.at += DIGEST_S
    first = taken(hand, "coder")
    assert len(first.riders) == RIDERS
    hand(handling.close, "coder", first.token)
    assert hand(roster.vitals, "coder").last_digest_at == hand.now
    hand.clock.at += DIGEST_S - 0.001
    assert take(hand, "coder") is None
    hand.clock.at += 0.001
    assert len(taken(hand, "coder").riders) == 5


@rule("M4b")
def test_a_digest_of_nought_seconds_means_at_once(hand: Hand) -> None:
    ident = hush(hand)
    assert [message.message_id for message in taken(hand, "coder", digest_s=0).riders] == [ident]
    assert take(hand, "coder", digest_s=0) is None


@rule("M4b")
def test_quiet_mail_rides_along_with_the_next_turn(hand: Hand) -> None:
    quiet = hush(hand)
    waking = say(hand, "chief", "coder").message_id
    claimed = taken(hand, "coder")
    assert claimed.main is not None
    assert claimed.main.message_id == waking
    assert [message.message_id for message in claimed.riders] == [quiet]
    assert hand(handling.close, "coder", claimed.token) == 2
    assert {state_of(hand, ident, "coder") for ident in (quiet, waking)} == {"handled"}


@rule("M4b")
def test_quiet_mail_rides_along_with_a_task(hand: Hand) -> None:
    idents = [hush(hand, f"{number}") for number in range(3)]
    riders = hand(handling.ride_along, "coder", "a-token", "run_1", lease_s=LEASE_S)
    assert [message.message_id for message in riders] == idents
    assert hand(handling.ride_along, "coder", "other", "run_1", lease_s=LEASE_S) == []
    assert hand(handling.close, "coder", "a-token") == 3


@rule("M4b")
@pytest.mark.parametrize("size", [RIDER_BYTES // 3, RIDER_BYTES + 1])
def test_what_rides_along_is_bounded_in_bytes(hand: Hand, size: int) -> None:
    """gascity#1103: 133 unread messages re-injected into every prompt."""
    for _ in range(7):
        hush(hand, "x" * size)
    seen = 0
    while True:
        claimed = take(hand, "coder", digest_s=0)
        if claimed is None:
            break
        seen += len(claimed.riders)
        assert len(claimed.riders) == 1 or sum(len(message.body) for message in claimed.riders) <= RIDER_BYTES
    assert seen == 7


@rule("M4b")
def test_a_failed_turn_blames_its_message_and_not_what_rode_along(hand: Hand) -> None:
    quiet, waking = hush(hand), say(hand, "chief", "coder").message_id
    claimed = taken(hand, "coder")
    hand(handling.failed, "coder", claimed.token, "no", main=waking)
    attempts = {message.message_id: message.attempts for message in inbox(hand, "coder")}
    assert attempts == {quiet: 0, waking: 1}


@rule("M4b", "M7")
def test_the_answer_it_waits_for_wakes_the_asker_and_a_further_one_does_not(hand: Hand) -> None:
    asked = ask(hand, "chief", "coder").message_id
    answer = say(hand, "coder", None, "yes", in_reply_to=asked).message_id
    second = say(hand, "coder", None, "really", in_reply_to=asked).message_id
    claimed = taken(hand, "chief")
    assert claimed.main is not None
    assert claimed.main.message_id == answer
    assert [message.message_id for message in claimed.riders] == [second]


@rule("M4b")
def test_a_word_of_a_third_about_a_question_does_not_wake_the_asker(hand: Hand) -> None:
    asked = ask(hand, "chief", "coder").message_id
    say(hand, "ops", "chief", "I would not", in_reply_to=asked)
    assert take(hand, "chief") is None


@rule("M4b")
def test_each_send_rings_its_receivers_alone(hand: Hand) -> None:
    say(hand, "chief", ["coder", "nobody", "ops"])
    assert hand.bells == {"coder.mail", "ops.mail"}
    hush(hand, to="sales")
    assert hand.bells == {"sales.mail"}
