"""A model's summary is taken only if nothing changed meanwhile and nothing is lost (C4)."""

from __future__ import annotations

import pytest

from covey.contexts import compressing, condensing, entries, recalling
from covey.contexts.condensing import Wanted
from tests.contexts.test_compressing import fill, happened, live, rows
from tests.inline import Hand
from tests.rules import rule

BOUND = 4000


def asked(hand: Hand) -> Wanted:
    """What a context that fills wants to have summarised."""
    fill(hand, 24, bound=BOUND)
    found = hand(condensing.wanted, "coder", BOUND)
    assert found is not None
    return found


def good(wanted: Wanted) -> str:
    """A text of a model's that loses nothing."""
    numbers = [entry.source.removeprefix("msg_") for entry in wanted.entries if entry.source]
    return "\n".join(f"msg_{n}: task_{n} writes /srv/out/{n}.csv and links https://example.org/item/{n}?v=2 ." for n in numbers)


def test_nothing_is_asked_for_while_there_is_room(hand: Hand) -> None:
    fill(hand, 5, bound=BOUND)
    assert hand(condensing.wanted, "coder", BOUND) is None


@rule("C4")
def test_a_models_summary_takes_the_place_of_what_it_stands_for(hand: Hand) -> None:
    wanted = asked(hand)
    assert hand(condensing.put, "coder", wanted, good(wanted), BOUND) is True
    warm = next(entry for entry in live(hand) if entry.form == "warm")
    assert good(wanted) in warm.text
    assert [each.id for each in hand(recalling.recall, "coder", ident=warm.id).items] == [entry.id for entry in wanted.entries]
    assert hand(entries.size_of, "coder") <= BOUND


@rule("C4")
def test_a_models_summary_that_drops_an_id_is_refused_and_one_by_extraction_stands_there(hand: Hand) -> None:
    wanted = asked(hand)
    text = good(wanted).replace("task_3 ", "the third task ")
    assert hand(condensing.put, "coder", wanted, text, BOUND) is False
    warm = next(entry for entry in live(hand) if entry.form == "warm")
    assert "the third task" not in warm.text
    assert "task_3 " in warm.text
    assert happened(hand, "context.summary_refused") == 1


@rule("C4")
@pytest.mark.parametrize("text", [None, "", "  \n"])
def test_no_summary_at_all_is_as_good_as_a_refused_one(hand: Hand, text: str | None) -> None:
    wanted = asked(hand)
    assert hand(condensing.put, "coder", wanted, text, BOUND) is False
    assert any(entry.form == "warm" for entry in live(hand))


@rule("C4")
def test_a_summary_of_what_changed_meanwhile_is_dropped(hand: Hand) -> None:
    wanted = asked(hand)
    hand(compressing.compress, "coder", BOUND, "somebody else did")
    before = rows(hand)
    assert hand(condensing.put, "coder", wanted, good(wanted), BOUND) is False
    assert rows(hand) == before
    assert happened(hand, "context.summary_dropped") == 1


@rule("C4")
def test_what_is_remembered_meanwhile_does_no_harm(hand: Hand) -> None:
    wanted = asked(hand)
    hand(entries.remember, "coder", "note", "in between", max_tokens=BOUND)
    assert hand(condensing.put, "coder", wanted, good(wanted), BOUND) is True
    assert live(hand)[-1].text == "in between"
