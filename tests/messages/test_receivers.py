"""To one, a list, everybody or a capability; each copy with its own accounting; an unknown name gets the nearest ones (M4c, M6, M5a)."""

from __future__ import annotations

import pytest

from covey.agents import configuring
from covey.base.errors import Gone, Invalid, Unknown
from covey.base.settings import Settings
from covey.messages import handling, reading
from covey.store import events
from tests.conftest import EIGHT
from tests.inline import Hand
from tests.messages.mail import inbox, say, state_of, taken
from tests.rules import rule

OTHERS = ("coder", "sales", "finance", "intel", "devops", "comms", "ops")


@rule("M4c")
@pytest.mark.parametrize(("name", "nearest"), [("codr", "coder"), ("devop", "devops"), ("finanse", "finance"), ("chef", "chief")])
def test_an_unknown_receiver_is_refused_with_the_nearest_names_and_nothing_is_stored(hand: Hand, name: str, nearest: str) -> None:
    """gastown#2038: an unknown recipient was accepted, the mail silently gone. claude-code#84494: sends to nobody report success."""
    last = hand(events.last)
    with pytest.raises(Unknown) as caught:
        say(hand, "operator", name)
    error = caught.value
    assert (error.field, error.face.http, error.code) == ("to", 404, "unknown")
    assert nearest in error.message
    assert nearest in error.details["nearest"]
    assert hand(reading.latest) == []
    assert hand(events.last) == last


@rule("M4c")
def test_a_name_that_is_nothing_like_any_gets_the_whole_list(hand: Hand) -> None:
    """google/adk-python#3736, autogen#6944: the error names the bad target and the candidates."""
    with pytest.raises(Unknown) as caught:
        say(hand, "operator", "zzz-9")
    assert all(name in caught.value.message for name in ("zzz-9", "chief", *OTHERS))


@rule("M6")
def test_a_list_gives_each_its_own_copy_and_outcome(hand: Hand) -> None:
    receipt = say(hand, "chief", ["coder", "codr", "chief", "ops", "coder", "operator", "system"])
    assert {name: outcome.status for name, outcome in receipt.outcomes.items()} == {
        "coder": "delivered",
        "codr": "unknown",
        "chief": "invalid",
        "ops": "delivered",
        "operator": "delivered",
        "system": "unknown",
    }
    assert receipt.status == "mixed"
    assert receipt.http == 207
    assert "coder" in receipt.outcomes["codr"].sentence
    assert [message.receiver for message in hand(reading.show, receipt.message_id)] == ["coder", "ops", "operator"]
    hand(handling.close, "coder", taken(hand, "coder").token)
    assert [state_of(hand, receipt.message_id, name) for name in ("coder", "ops")] == ["handled", "delivered"]


@rule("M6")
def test_a_message_whose_every_copy_is_refused_is_not_stored(hand: Hand) -> None:
    receipt = say(hand, "chief", ["codr", "opps"])
    assert (receipt.status, receipt.http) == ("unknown", 404)
    assert hand(reading.latest) == []


@rule("M6")
def test_a_star_is_everybody_but_the_sender(hand: Hand) -> None:
    receipt = say(hand, "chief", "*")
    assert tuple(receipt.outcomes) == OTHERS
    assert (receipt.status, receipt.http) == ("delivered", 201)
    assert hand(reading.show, receipt.message_id)[0].to == "*"
    assert inbox(hand, "chief") == []
    assert len(say(hand, "operator", "*").outcomes) == 8


@rule("M6")
def test_a_capability_is_all_who_have_it_but_the_sender(hand: Hand) -> None:
    assert tuple(say(hand, "operator", "@review").outcomes) == ("chief", "coder")
    assert tuple(say(hand, "chief", "@review").outcomes) == ("coder",)
    assert tuple(say(hand, "chief", ["@review", "ops"]).outcomes) == ("coder", "ops")
    with pytest.raises(Unknown) as caught:
        say(hand, "chief", "@juggling")
    assert caught.value.field == "to"
    assert "review" in caught.value.message
    with pytest.raises(Invalid) as alone:
        say(hand, "devops", "@deploy")
    assert alone.value.field == "to"


@rule("M6")
def test_nobody_sends_to_itself(hand: Hand) -> None:
    """nanoclaw#2048, paperclip#5935: an agent's own comment wakes itself."""
    with pytest.raises(Invalid) as caught:
        say(hand, "chief", "chief")
    assert caught.value.field == "to"
    assert say(hand, "chief", ["chief"]).status == "invalid"
    say(hand, "chief", "*")
    say(hand, "chief", "@general")
    assert inbox(hand, "chief") == []


def without(name: str) -> Settings:
    """The eight without one."""
    return Settings(agents=tuple(agent for agent in EIGHT.agents if agent.id != name), lead=EIGHT.lead, deputy=EIGHT.deputy)


@rule("M4c", "M6")
def test_a_removed_agent_is_gone(hand: Hand) -> None:
    hand(configuring.configure, without("sales"))
    with pytest.raises(Gone) as caught:
        say(hand, "chief", "sales")
    assert (caught.value.field, caught.value.face.http) == ("to", 410)
    assert say(hand, "chief", ["sales", "ops"]).outcomes["sales"].status == "gone"
    assert "sales" not in say(hand, "chief", "*").outcomes


@rule("M5a")
def test_mail_of_two_without_a_thread_is_their_own_conversation(hand: Hand) -> None:
    there, back = say(hand, "chief", "coder"), say(hand, "coder", "chief")
    assert there.thread_id == back.thread_id == "dm:chief:coder"
    (message,) = inbox(hand, "coder")
    assert (message.context["isPeerDm"], message.context["peerAgentId"], message.context["linkId"]) == (True, "chief", "link:chief:coder")
    assert inbox(hand, "chief")[0].context["peerAgentId"] == "coder"


@rule("M5a")
def test_mail_with_a_thread_or_to_several_or_with_the_operator_is_no_conversation_of_two(hand: Hand) -> None:
    say(hand, "chief", "coder", thread_id="t1")
    say(hand, "chief", ["coder", "ops"])
    say(hand, "operator", "coder")
    assert [message.context["isPeerDm"] for message in inbox(hand, "coder")] == [False, False, False]
    assert "peerAgentId" not in inbox(hand, "coder")[0].context


@rule("M5a", "M7")
def test_a_reply_stays_in_the_thread_and_project_of_what_it_answers(hand: Hand) -> None:
    asked = say(hand, "chief", ["coder", "ops"], requires_response=True)
    answer = say(hand, "coder", None, in_reply_to=asked.message_id)
    assert answer.thread_id == asked.thread_id
    assert [message.from_ for message in inbox(hand, "chief")] == ["coder"]
