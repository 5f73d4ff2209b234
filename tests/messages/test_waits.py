"""A required answer has a deadline; replies end the wait, silence gives it up, circles are refused (M7, M9, M4c)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.agents import configuring
from covey.agents.model import OPERATOR, as_agent
from covey.base.errors import Cycle, NotFound
from covey.base.settings import Settings
from covey.messages import handling, reading, sending, sweeping, waiting
from covey.messages.letters import Prompt
from covey.messages.model import Draft, draft
from tests.conftest import EIGHT
from tests.inline import Hand
from tests.messages.mail import ask, copy_of, inbox, next_of, notices, say, state_of, take, taken
from tests.rules import rule

NAMES = ("chief", "coder", "sales", "finance", "intel", "devops", "comms", "ops")


@rule("M7")
def test_a_wait_without_a_deadline_has_one_of_an_hour(hand: Hand) -> None:
    ident = ask(hand, "chief", "coder").message_id
    assert copy_of(hand, ident, "coder").content["deadline"] == hand.now + 3600
    hand.clock.at += 3599.999
    assert hand(sweeping.give_up_waits) == []
    hand.clock.at += 0.001
    assert [(wait.asker, wait.silent, wait.message_id) for wait in hand(sweeping.give_up_waits)] == [("chief", "coder", ident)]


@rule("M7")
def test_the_asker_is_woken_with_the_reason_when_a_wait_is_given_up_once(hand: Hand) -> None:
    ident = ask(hand, "chief", "coder", "can you?", deadline=hand.now + 10).message_id
    hand.clock.at += 10
    hand(sweeping.give_up_waits)
    assert hand(sweeping.give_up_waits) == []
    notice = next_of(hand, "chief")
    assert (notice.from_, notice.type, notice.in_reply_to) == ("system", "notification", ident)
    assert "coder" in notice.body
    assert take(hand, "chief", digest_s=0) is None
    assert notices(hand, OPERATOR) == []
    assert hand(waiting.open_waits, "chief") == []


@rule("M7")
def test_an_urgent_wait_given_up_goes_to_the_lead_and_the_operator_too(hand: Hand) -> None:
    ask(hand, "sales", "coder", "now?", priority="urgent", deadline=hand.now + 10)
    hand.clock.at += 10
    hand(sweeping.give_up_waits)
    for name in ("chief", OPERATOR):
        (alert,) = notices(hand, name)
        assert (alert.type, alert.priority) == ("alert", "urgent")
        assert "coder" in alert.body
        assert "sales" in alert.body
    assert notices(hand, "ops") == []
    assert len(notices(hand, "sales")) == 1


@rule("M7")
def test_a_silent_lead_is_told_of_to_the_deputy(hand: Hand) -> None:
    ask(hand, "sales", "chief", priority="urgent", deadline=hand.now + 10)
    hand.clock.at += 10
    hand(sweeping.give_up_waits)
    assert [len(notices(hand, name)) for name in ("ops", OPERATOR, "sales", "chief")] == [1, 1, 1, 0]


@rule("M7")
def test_who_asked_is_told_once_also_when_it_is_the_lead_or_the_operator(hand: Hand) -> None:
    ask(hand, "chief", "coder", priority="urgent", deadline=hand.now + 10)
    ask(hand, "operator", "ops", priority="urgent", deadline=hand.now + 10)
    hand.clock.at += 10
    hand(sweeping.give_up_waits)
    assert len(notices(hand, "chief")) == 2, "its own, and that of the operator's question"
    assert len(notices(hand, OPERATOR)) == 2


@rule("M7", "M4c")
def test_a_reply_ends_the_wait(hand: Hand) -> None:
    ident = ask(hand, "chief", "coder", deadline=hand.now + 10).message_id
    hand.clock.at += 5
    reply = say(hand, "coder", None, "yes", in_reply_to=ident)
    assert (reply.note, tuple(reply.outcomes)) == (None, ("chief",))
    hand.clock.at += 100
    assert hand(sweeping.give_up_waits) == []
    asked = copy_of(hand, ident, "coder")
    assert asked.answered_by == reply.message_id
    assert [message.message_id for message in hand(reading.answers, ident)] == [reply.message_id]


@rule("M7")
def test_a_late_reply_is_delivered_and_marked(hand: Hand) -> None:
    ident = ask(hand, "chief", "coder", deadline=hand.now + 10).message_id
    hand.clock.at += 10
    hand(sweeping.give_up_waits)
    reply = say(hand, "coder", None, "sorry", in_reply_to=ident)
    assert reply.note == "late"
    found = copy_of(hand, reply.message_id, "chief")
    assert (found.state, found.reply_note) == ("delivered", "late")


@rule("M4c")
def test_a_second_reply_is_an_ordinary_message_and_marked(hand: Hand) -> None:
    """openclaw#39476, #62814, #108599: two or three turns for one reply."""
    ident = ask(hand, "chief", "coder").message_id
    first = say(hand, "coder", None, "yes", in_reply_to=ident)
    second = say(hand, "coder", None, "yes!", in_reply_to=ident)
    assert (first.note, second.note, second.status) == (None, "second", "delivered")
    assert copy_of(hand, second.message_id, "chief").reply_note == "second"
    assert copy_of(hand, ident, "coder").answered_by == first.message_id


@rule("M7")
def test_only_who_was_asked_ends_a_wait_and_only_by_writing_to_who_asked(hand: Hand) -> None:
    ident = ask(hand, "chief", "coder").message_id
    assert say(hand, "ops", "chief", "I know", in_reply_to=ident).note is None
    assert say(hand, "coder", "ops", "look", in_reply_to=ident).note is None
    assert [row.receiver for row in hand(waiting.open_waits, "chief")] == ["coder"]
    say(hand, "coder", ["ops", "chief"], "yes", in_reply_to=ident)
    assert hand(waiting.open_waits, "chief") == []


@rule("M7")
def test_each_receiver_of_a_question_is_waited_for_by_itself(hand: Hand) -> None:
    ident = ask(hand, "chief", ["coder", "ops", "nobody"], deadline=hand.now + 10).message_id
    assert [row.receiver for row in hand(waiting.open_waits, "chief")] == ["coder", "ops"]
    say(hand, "ops", None, "yes", in_reply_to=ident)
    hand.clock.at += 10
    assert [wait.silent for wait in hand(sweeping.give_up_waits)] == ["coder"]


@rule("M7")
def test_a_reply_to_nothing_is_refused(hand: Hand) -> None:
    with pytest.raises(NotFound) as caught:
        say(hand, "coder", "chief", in_reply_to="msg_none")
    assert caught.value.field == "inReplyTo"


@rule("M7")
def test_a_reply_may_ask_back_since_it_ends_the_wait_first(hand: Hand) -> None:
    ident = ask(hand, "chief", "coder").message_id
    ask(hand, "coder", "chief", "which one?", in_reply_to=ident)
    assert [row.receiver for row in hand(waiting.open_waits, "coder")] == ["chief"]
    assert hand(waiting.open_waits, "chief") == []


@rule("M7", "L10")
@pytest.mark.parametrize("length", [2, 3, 8])
def test_a_circle_of_waits_is_refused_and_named(hand: Hand, length: int) -> None:
    """openclaw#37842: A to B to C to A evades a cap on pairs."""
    ring = NAMES[:length]
    for asker, answerer in pairwise(ring):
        ask(hand, asker, answerer)
    before = hand(reading.latest)
    with pytest.raises(Cycle) as caught:
        ask(hand, ring[-1], ring[0])
    assert caught.value.details["circle"] == [ring[-1], *ring]
    assert (caught.value.code, caught.value.face.http) == ("cycle", 409)
    assert all(name in caught.value.message for name in ring)
    assert hand(reading.latest) == before
    say(hand, ring[-1], ring[0], "without waiting it goes")


@rule("M7", "M6")
def test_of_several_only_the_copy_that_would_close_a_circle_is_refused(hand: Hand) -> None:
    ask(hand, "chief", "coder")
    receipt = ask(hand, "coder", ["chief", "ops"])
    assert {name: outcome.status for name, outcome in receipt.outcomes.items()} == {"chief": "cycle", "ops": "delivered"}
    assert inbox(hand, "chief") == []


@rule("M7")
def test_a_circle_opens_again_when_its_waits_end(hand: Hand) -> None:
    first = ask(hand, "chief", "coder", deadline=hand.now + 10).message_id
    hand.clock.at += 10
    hand(sweeping.give_up_waits)
    second = ask(hand, "coder", "chief")
    assert second.status == "delivered"
    say(hand, "chief", None, "yes", in_reply_to=second.message_id)
    assert ask(hand, "chief", "coder").status == "delivered"
    assert first


@rule("M7")
def test_the_operator_may_ask_whoever_waits(hand: Hand) -> None:
    ask(hand, "coder", OPERATOR)
    assert ask(hand, OPERATOR, "coder").status == "delivered"


def closes_a_circle(waits: set[tuple[str, str]], asker: str, answerer: str) -> bool:
    """Whether the answerer waits, itself or through others, for the asker."""
    reached, line = {answerer}, [answerer]
    for here in line:
        for one, other in waits:
            if one == here and other not in reached:
                reached.add(other)
                line.append(other)
    return asker in reached


@rule("M7")
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.booleans()), max_size=25))
def test_waits_never_form_a_circle_and_none_is_refused_without_one(hand: Hand, steps: list[tuple[str, str, bool]]) -> None:
    hand.clock.at += 10_000
    while hand(sweeping.give_up_waits):
        pass
    open_waits: dict[tuple[str, str], str] = {}
    for asker, answerer, answer in steps:
        if asker == answerer:
            continue
        if answer and (answerer, asker) in open_waits:
            say(hand, asker, None, "yes", in_reply_to=open_waits.pop((answerer, asker)))
            continue
        if (asker, answerer) in open_waits:
            continue
        if closes_a_circle(set(open_waits), asker, answerer):
            with pytest.raises(Cycle):
                ask(hand, asker, answerer)
        else:
            open_waits[asker, answerer] = ask(hand, asker, answerer).message_id


@rule("M9")
def test_mail_that_is_not_handled_in_time_expires_and_who_waited_is_told(hand: Hand) -> None:
    """AgentsCommander#22: eleven messages sat four days for an agent with no session; no sender was told."""
    at = hand.now + 10
    asked = hand(sending.send, expiring("coder", at, requires_response=True), as_agent("chief")).message_id
    plain = hand(sending.send, expiring("coder", at), as_agent("chief")).message_id
    hand.clock.at += 9.999
    assert hand(sweeping.expire_mail) == 0
    hand.clock.at += 0.001
    assert take(hand, "coder") is None, "not handled, also before the sweep has come by"
    assert hand(sweeping.expire_mail) == 2
    assert hand(sweeping.expire_mail) == 0
    for ident in (asked, plain):
        found = copy_of(hand, ident, "coder")
        assert (found.state, found.ended_at) == ("expired", hand.now)
    (notice,) = notices(hand, "chief")
    assert notice.in_reply_to == asked
    hand.clock.at += 10_000
    assert hand(sweeping.give_up_waits) == [], "it is told once"
    assert say(hand, "coder", None, "oh", in_reply_to=asked).note == "late"


def expiring(to: str, at: float, *, requires_response: bool = False) -> Draft:
    """A message with an end."""
    found = draft(to, "quick", type="task", requires_response=requires_response)
    found.expires_at = at
    return found


@rule("M9")
def test_what_is_with_its_brain_does_not_expire(hand: Hand) -> None:
    ident = hand(sending.send, expiring("coder", hand.now + 10), as_agent("chief")).message_id
    claimed = taken(hand, "coder")
    hand.clock.at += 11
    assert hand(sweeping.expire_mail) == 0
    hand(handling.close, "coder", claimed.token)
    assert state_of(hand, ident, "coder") == "handled"


@rule("M7", "A2a")
def test_in_a_fleet_of_one_the_operator_hears_of_a_silent_lead(hand: Hand) -> None:
    hand(configuring.configure, Settings(agents=EIGHT.agents[:2], lead="", deputy=""))
    ask(hand, "coder", "chief", priority="urgent", deadline=hand.now + 1)
    hand.clock.at += 1
    hand(sweeping.give_up_waits)
    assert len(notices(hand, OPERATOR)) == 1


@rule("M7")
def test_the_chain_of_a_conversation_is_set_by_the_server_and_goes_on_with_each_reply(hand: Hand) -> None:
    """archestra PR#6427: the chain was forgeable."""
    first = ask(hand, "chief", "coder").message_id
    second = say(hand, "coder", None, "yes", in_reply_to=first).message_id
    third = hand(sending.send, draft("ops", "go"), as_agent("chief"), Prompt(("chief", "coder"))).message_id
    assert [hand(reading.show, ident)[0].visited for ident in (first, second, third)] == [
        ["chief"],
        ["chief", "coder"],
        ["chief", "coder", "chief"],
    ]
    assert hand(reading.show, say(hand, OPERATOR, "coder").message_id)[0].visited == []
