"""Of all that is wrong with a send the first in the order of the rule is said; what is put right brings the next one out (L3)."""

from __future__ import annotations

import pytest

from covey.agents.model import THE_OPERATOR
from covey.base.errors import TooLarge
from covey.messages import pausing, relinking
from covey.messages.checking import SUBJECT_CHARS
from covey.messages.letters import Prompt
from tests.inline import Hand
from tests.links.words import left, link, mail_of, say, told
from tests.rules import rule

PAIR = ("chief", "coder")
ROUND = Prompt(visited=("coder", *"abcdefg"))
DEEP = Prompt(visited=("h", *"abcdefg"))


@rule("L3", "L13")
def test_of_all_that_is_wrong_the_first_in_the_order_is_said(hand: Hand) -> None:
    link(hand, messages_per_window=1)
    assert told(hand, *PAIR, "thanks", type="task", thread_id="t").status == "delivered"
    hand.clock.at += 5.0
    assert told(hand, *PAIR, "waits for credit", thread_id="t").status == "deferred"
    hand(pausing.pause, "t", PAIR)
    hand(relinking.disable, *PAIR, THE_OPERATOR)

    def said(body: str, prompt: Prompt | None) -> str:
        return told(hand, *PAIR, body, priority="urgent", thread_id="t", prompt=prompt).status

    assert said("thanks", ROUND) == "disabled"
    hand(relinking.enable, *PAIR, THE_OPERATOR)
    assert said("thanks", ROUND) == "paused"
    hand(pausing.resume, "t", THE_OPERATOR)
    assert said("thanks", ROUND) == "cycle"
    assert said("thanks", DEEP) == "too-deep"
    assert said("thanks", None) == "duplicate"
    assert said("noted", None) == "suppressed"
    assert said("a new fact", None) == "debounced"
    hand.clock.at += 5.0
    assert said("a new fact", None) == "exhausted"
    assert left(hand).credits_remaining == 0


@rule("L3", "L13")
def test_a_link_that_is_removed_and_disabled_is_unlinked_and_a_form_is_looked_at_before_the_receiver(hand: Hand) -> None:
    hand(relinking.disable, *PAIR, THE_OPERATOR)
    hand(relinking.remove, *PAIR, THE_OPERATOR)
    assert told(hand, *PAIR, "hello").status == "unlinked"
    with pytest.raises(TooLarge):
        say(hand, "chief", "nobody", "hello", subject="x" * (SUBJECT_CHARS + 1))


@rule("L3", "L6")
def test_what_a_send_leaves_waiting_is_said_to_go_with_the_window_that_it_opened(hand: Hand) -> None:
    link(hand, messages_per_window=3, debounce_s=0)
    for number in range(6):
        told(hand, *PAIR, f"{number}")
    link(hand, messages_per_window=2)
    hand.clock.at += 6 * 3600.0
    assert told(hand, *PAIR, "last").status == "deferred"
    waiting = mail_of(hand, "coder", "deferred")
    assert [message.body for message in waiting] == ["5", "last"]
    assert {message.deliver_at for message in waiting} == {left(hand).window_reset_at}
