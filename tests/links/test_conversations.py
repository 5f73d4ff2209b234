"""Brains that never stop answering are stopped, and told why; the staging checklist of docs/staging-checklist.md, step by step (L6, L10, L11)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from covey.brains.model import Outcome, Turn
from covey.brains.prompting import as_text
from covey.messages.model import Draft, Message
from covey.runner.work import Limits
from tests.inline import Hand
from tests.links.words import bodies, left, link, mail_of, sweep
from tests.rules import rule
from tests.runner.desk import LIMITS, Desk, message

EAGER: Limits = LIMITS._replace(digest_s=0.0)
"""Quiet mail makes a turn at once."""
Think = Callable[[Turn, int], list[Draft]]


@pytest.fixture
def desk(hand: Hand) -> Desk:
    """Agents at work, by hand."""
    return Desk(hand)


def peers(turn: Turn) -> list[Message]:
    """The mail of colleagues in a turn."""
    asked = [*([turn.message] if turn.message is not None else []), *turn.also]
    return [each.message for each in asked if each.message.from_ not in ("system", "operator")]


def let_them_talk(desk: Desk, names: tuple[str, ...], think: Think, *, most: int = 200) -> int:
    """How many turns they took until nobody had anything to do."""
    turns = 0
    while turns < most:
        begun = turns
        for name in names:
            work = desk.try_to_take(name, "mail", EAGER)
            if work is None:
                continue
            turns += 1
            desk.pass_time(10.0)
            turn = desk.turn(work)
            desk.settle(work, Outcome(summary="so be it", messages=think(turn, turns)), EAGER)
        sweep(desk.hand)
        if turns == begun:
            return turns
    raise AssertionError(f"they still talk after {most} turns")


def told_why(desk: Desk, name: str, word: str) -> bool:
    """Whether an agent has been told, in its mail or its memory, of what stopped it."""
    notices = [each.body for each in desk.inbox(name) if each.from_ == "system"]
    return any(word in text for text in [*notices, *desk.context(name)])


def answer(turn: Turn, number: int) -> list[Draft]:
    """Always something new to say to whoever spoke, and they must hear it."""
    return [message(each.from_, f"and what of point {number}?", type="request") for each in peers(turn)]


def answer_in_reply(turn: Turn, number: int) -> list[Draft]:
    """The same, as a reply."""
    return [message(None, f"as to point {number}", in_reply_to=each.message_id) for each in peers(turn)]


def ask_back(turn: Turn, number: int) -> list[Draft]:
    """A question for each answer; the answers to questions go out by themselves."""
    return [message(each.from_, f"and point {number}?", requires_response=True) for each in peers(turn) if not each.requires_response]


@rule("L10")
@pytest.mark.parametrize("think", [answer, answer_in_reply, ask_back])
def test_two_brains_that_always_answer_each_other_are_stopped_and_told_why(desk: Desk, think: Think) -> None:
    desk.ask("coder", "what is new?", sender="chief") if think is ask_back else desk.send(
        "coder", "what is new?", sender="chief", type="request"
    )
    let_them_talk(desk, ("chief", "coder"), think)
    said = [each for name in ("chief", "coder") for each in mail_of(desk.hand, name)]
    assert 4 < len(said) <= 10
    assert told_why(desk, "chief", "paused")
    assert told_why(desk, "coder", "paused")
    assert any(each.type == "alert" for each in desk.inbox("operator"))


@rule("L10")
def test_three_brains_in_a_ring_are_stopped_and_told_why(desk: Desk) -> None:
    ring = {"chief": "coder", "coder": "ops", "ops": "chief"}

    def pass_on(turn: Turn, number: int) -> list[Draft]:
        return [message(ring[turn.agent], f"do this, {number}", type="request") for _ in peers(turn)]

    desk.send("coder", "do this", sender="chief", type="request")
    let_them_talk(desk, tuple(ring), pass_on)
    assert [len(mail_of(desk.hand, name)) for name in ring] == [0, 1, 1]
    assert told_why(desk, "ops", "passed through already")


@rule("L10")
def test_three_in_a_ring_of_quiet_mail_are_stopped_by_its_depth(desk: Desk) -> None:
    ring = {"chief": "coder", "coder": "ops", "ops": "chief"}

    def pass_on(turn: Turn, number: int) -> list[Draft]:
        return [message(ring[turn.agent], f"by the way, {number}") for _ in peers(turn)]

    desk.send("coder", "by the way", sender="chief")
    let_them_talk(desk, tuple(ring), pass_on)
    assert sum(len(mail_of(desk.hand, name)) for name in ring) == 8
    assert any(told_why(desk, name, "8 is the most") for name in ring)


@rule("L10")
def test_brains_that_thank_each_other_stop_at_once(desk: Desk) -> None:
    def thank(turn: Turn, number: int) -> list[Draft]:
        return [message(each.from_, "Thank you so much!") for each in peers(turn)]

    desk.send("coder", "it is deployed, no action needed", sender="chief")
    assert let_them_talk(desk, ("chief", "coder"), thank) == 1
    assert bodies(desk.hand, "chief") == []
    assert told_why(desk, "coder", "bare acknowledgement")


@rule("L4", "L11")
def test_several_messages_of_one_outcome_are_no_chatter(desk: Desk) -> None:
    desk.send("coder", "report on the three", sender="chief", type="request")
    work = desk.take("coder", "mail")
    desk.settle(work, Outcome(messages=[message("chief", text) for text in ("one", "two", "three")]))
    assert bodies(desk.hand, "chief") == ["one", "two", "three"]
    assert left(desk.hand, "coder", "chief").credits_remaining == 27


@rule("L2", "L5", "L6", "L9", "L11")
def test_the_staging_checklist(desk: Desk) -> None:
    # 1. make a link
    shown = link(desk.hand, messages_per_window=12, window_hours=6, debounce_s=0)
    assert (shown.status, shown.messages_per_window) == ("linked", 12)
    # 2. burst to the quota
    for number in range(12):
        desk.send("coder", f"fact {number}", sender="chief", type="request")
    assert left(desk.hand).credits_remaining == 0
    # 3. see the deferral
    desk.send("coder", "fact 12", sender="chief", type="request")
    (waiting,) = mail_of(desk.hand, "coder", "deferred")
    assert waiting.deliver_at == left(desk.hand).window_reset_at
    # 4. read the sentences and numbers from a real turn
    work = desk.take("coder", "mail")
    turn = desk.turn(work)
    assert turn.guidance == [
        "This is an agent-to-agent exchange. Minimize chatter, batch information, and avoid loops.",
        "Limit: 12 messages / 6 hours. Remaining credits: 12.",
    ]
    assert all(sentence in as_text(turn) for sentence in turn.guidance)
    desk.settle(work, Outcome(messages=[message("chief", "seen")]))
    assert desk.turn(desk.take("coder", "mail")).guidance[1].endswith("Remaining credits: 11.")
    # 5. the window rolls, and what waited is delivered by itself
    desk.pass_time(6 * 3600.0)
    desk.sweep()
    assert mail_of(desk.hand, "coder", "deferred") == []
    assert left(desk.hand).credits_remaining == 11


@rule("L11")
def test_mail_of_the_operator_carries_no_such_guidance(desk: Desk) -> None:
    desk.send("coder", "hello")
    assert desk.turn(desk.take("coder", "mail")).guidance == []


@rule("L11")
def test_a_digest_of_several_peers_names_each_limit(desk: Desk) -> None:
    for sender in ("chief", "ops"):
        desk.send("coder", "by the way", sender=sender)
    turn = desk.turn(desk.take("coder", "mail", EAGER))
    assert turn.kind == "digest"
    assert turn.guidance[1:] == [f"To {peer}: Limit: 30 messages / 6 hours. Remaining credits: 30." for peer in ("chief", "ops")]
