"""A receiver that is paused, stopped or away loses nothing: its mail is held, shown as held, and handed over at its return (M5)."""

from __future__ import annotations

import pytest

from covey.agents import living
from covey.agents.model import THE_OPERATOR
from covey.messages import handling, reading
from covey.runner import holding
from tests.inline import Hand
from tests.messages.mail import copy_of, inbox, next_of, say, state_of, take, taken
from tests.rules import rule

FLAGS = {"paused": living.pause, "stopped": living.stop}


@rule("M5")
@pytest.mark.parametrize("flag", list(FLAGS))
def test_mail_to_one_who_takes_none_is_held_and_says_so_everywhere(hand: Hand, flag: str) -> None:
    early = say(hand, "chief", "coder", thread_id="t1").message_id
    hand.clock.at += 5
    hand(FLAGS[flag], "coder", THE_OPERATOR)
    hand.clock.at += 5
    receipt = say(hand, "chief", "coder", thread_id="t1")
    assert (receipt.status, receipt.http) == ("held", 202)
    assert flag in receipt.sentence
    assert "covey resume coder" in receipt.sentence
    late = receipt.message_id
    assert [(message.state, message.held_at) for message in inbox(hand, "coder", unread=True)] == [
        ("held", hand.now),
        ("held", hand.now - 5),
    ]
    assert [message.state for message in hand(reading.thread, "t1").items] == ["held", "held"]
    assert [message.state for message in hand(reading.latest)] == ["held", "held"]
    assert (state_of(hand, early, "coder"), state_of(hand, late, "coder")) == ("held", "held")
    assert hand(reading.unread_count, "coder") == 2
    assert hand(reading.counts) == {"held": 2}


@rule("M5", "A7")
@pytest.mark.parametrize("flag", list(FLAGS))
def test_held_mail_is_handed_over_at_the_return_in_its_order(hand: Hand, flag: str) -> None:
    """AgentsCommander#22, openclaw#97739: what was queued is not lost over a restart."""
    first = say(hand, "chief", "coder").message_id
    hand(FLAGS[flag], "coder", THE_OPERATOR)
    second = say(hand, "chief", "coder").message_id
    quiet = say(hand, "chief", "coder", type="update").message_id
    assert take(hand, "coder", digest_s=0) is None
    assert hand(handling.ride_along, "coder", "token", "run", lease_s=60) == []
    hand(living.resume, "coder", THE_OPERATOR)
    assert {message.state for message in inbox(hand, "coder")} == {"delivered"}
    assert copy_of(hand, first, "coder").held_at is None
    claimed = taken(hand, "coder")
    assert claimed.main is not None
    assert (claimed.main.message_id, [message.message_id for message in claimed.riders]) == (first, [quiet])
    assert next_of(hand, "coder").message_id == second


@rule("M5")
def test_what_was_handled_or_dead_is_not_called_held(hand: Hand) -> None:
    ident = say(hand, "chief", "coder").message_id
    hand(handling.close, "coder", taken(hand, "coder").token)
    hand(living.stop, "coder", THE_OPERATOR)
    assert state_of(hand, ident, "coder") == "handled"


@rule("M5")
def test_mail_to_one_with_no_process_waits(hand: Hand) -> None:
    """relay#1367, #1593: after a restart the agent is deaf; a send says success."""
    sent = [say(hand, "chief", "coder", f"{number}").message_id for number in range(20)]
    hand(holding.lose_all, "coder")
    assert [next_of(hand, "coder").message_id for _ in sent] == sent


@rule("M4a", "M5")
def test_copies_are_counted_by_the_state_they_show(hand: Hand) -> None:
    for name in ("coder", "ops", "sales", "intel"):
        say(hand, "chief", name)
    hand(handling.close, "ops", taken(hand, "ops").token)
    taken(hand, "sales")
    hand(living.pause, "coder", THE_OPERATOR)
    assert hand(reading.counts) == {"held": 1, "handled": 1, "seen": 1, "delivered": 1}
