"""Conversations that go round are stopped: chains, turns of two, bare thanks (L10); and what is said of it (L11, L12)."""

from __future__ import annotations

import pytest

from covey.agents.model import SYSTEM, THE_OPERATOR, as_agent
from covey.base.errors import Forbidden, Invalid, NotFound
from covey.links import acknowledging, loops
from covey.links.reading import guidance
from covey.messages import handling, pausing, reading, relinking, sending
from covey.messages.agent_mail import send_agent_message
from covey.messages.letters import Prompt
from covey.messages.model import Draft, Receipt, draft
from covey.tasks import adding, working
from covey.tasks.model import TaskDraft
from tests.inline import Hand
from tests.links.words import bodies, burst, left, link, say, told
from tests.rules import rule


def handing_on(receipt: Receipt, sender: str, hand: Hand) -> Prompt:
    """The prompt of a turn that handles this message."""
    (message,) = hand(reading.show, receipt.message_id)
    return Prompt(tuple(message.visited), answering=frozenset({sender}))


def talk(hand: Hand, count: int, thread: str = "t") -> list[str]:
    """The statuses of so many turns of chief and coder."""
    found = []
    for number in range(count):
        pair = ("chief", "coder") if number % 2 == 0 else ("coder", "chief")
        found.append(told(hand, *pair, f"point {hand.clock.at}", thread_id=thread).status)
        hand.clock.at += 5.0
    return found


@rule("L10")
@pytest.mark.parametrize(
    ("chain", "deep"),
    [
        ("", 0),
        ("a", 1),
        ("ab", 2),
        ("abababab", 2),
        ("abc", 3),
        ("abcb", 3),
        ("xabababa", 3),
        ("abcabcabc", 9),
        ("abcdefghi", 9),
        ("aab", 2),
    ],
)
def test_the_depth_of_a_chain_counts_the_back_and_forth_of_two_once(chain: str, deep: int) -> None:
    assert loops.depth(list(chain)) == deep


@rule("L10")
def test_a_ring_of_three_is_a_cycle_and_to_answer_is_none(hand: Hand) -> None:
    first = say(hand, "chief", "coder", "do it", type="request")
    second = say(hand, "coder", "ops", "do it", type="request", prompt=handing_on(first, "chief", hand))
    prompt = handing_on(second, "coder", hand)
    refused = told(hand, "ops", "chief", "do it", type="request", prompt=prompt)
    assert refused.status == "cycle"
    assert "chief → coder → ops → chief" in refused.sentence
    assert told(hand, "ops", "coder", "it is done", type="request", prompt=prompt).status == "delivered"
    assert told(hand, "ops", "chief", "it is done", type="notification", prompt=prompt).status == "delivered", "it wakes nobody"


@rule("L10")
def test_a_ring_is_a_cycle_too_for_a_brain_that_sends_by_its_own_door(hand: Hand) -> None:
    for sender, receiver in (("chief", "coder"), ("coder", "ops")):
        assert told(hand, sender, receiver, "do it", type="request").status == "delivered"
        claimed = hand(handling.claim, receiver, "run", lease_s=60.0, digest_s=900.0)
        assert claimed is not None
    assert told(hand, "ops", "chief", "do it", type="request").status == "cycle"
    assert told(hand, "ops", "coder", "it is done").status == "delivered"


@rule("L10")
def test_the_chain_goes_on_through_a_task(hand: Hand) -> None:
    hand(adding.add, TaskDraft(description="x", agent="coder"), as_agent("chief"))
    claimed = hand(working.claim, "coder", "run", lease_s=60.0)
    assert claimed is not None
    receipt = say(hand, "coder", "ops", "help", type="request")
    assert hand(reading.show, receipt.message_id)[0].visited == ["chief", "coder"]
    hand(handling.claim, "ops", "run", lease_s=60.0, digest_s=900.0)
    assert told(hand, "ops", "chief", "help", type="request").status == "cycle"
    assert told(hand, "coder", "chief", "may I?", type="request").status == "delivered", "chief gave it the task"


@rule("L10")
def test_a_send_on_nobody_s_prompting_and_one_prompted_by_the_operator_start_a_new_chain(hand: Hand) -> None:
    first = say(hand, "chief", "coder", "look")
    assert hand(reading.show, first.message_id)[0].visited == ["chief"]
    asked = say(hand, "operator", "coder", "look")
    receipt = say(hand, "coder", "chief", "look", prompt=handing_on(asked, "operator", hand))
    assert hand(reading.show, receipt.message_id)[0].visited == ["coder"]


@rule("L10")
def test_a_chain_of_eight_passes_and_one_of_nine_is_too_deep(hand: Hand) -> None:
    names = ("chief", "coder", "sales", "finance", "intel", "devops", "comms")
    assert told(hand, "ops", "chief", "x", prompt=Prompt(names)).status == "delivered"
    refused = told(hand, "ops", "coder", "x", prompt=Prompt((*names, "chief")))
    assert (refused.status, refused.retryable) == ("too-deep", False)


@rule("L10")
def test_the_answer_at_the_end_of_the_deepest_chain_gets_through(hand: Hand) -> None:
    before = ("one", "chief", "coder", "sales", "finance", "intel", "devops")
    asked = say(hand, "comms", "ops", "x?", requires_response=True, prompt=Prompt(before))
    prompt = Prompt((*before, "comms"))
    assert told(hand, "ops", "comms", "x", prompt=prompt._replace(answering=frozenset({"comms"}))).status == "too-deep"
    assert say(hand, "ops", None, "y", in_reply_to=asked.message_id, prompt=prompt).status == "delivered"


@rule("L10")
def test_a_forged_chain_is_refused(hand: Hand) -> None:
    with pytest.raises(Invalid) as refused:
        hand(sending.send, Draft(to="coder", content=draft("coder", "x").content, visited=["ops"]), as_agent("chief"))
    assert refused.value.field == "visited"


@rule("L10")
def test_the_eleventh_turn_of_two_pauses_the_thread_until_the_operator_resumes_it(hand: Hand) -> None:
    assert talk(hand, 10) == ["delivered"] * 10
    refused = say(hand, "chief", "coder", "and another", thread_id="t")
    assert (refused.status, refused.http) == ("paused", 409)
    assert "thread t is paused" in refused.sentence
    assert left(hand).credits_remaining == 25
    for name in ("chief", "operator"):
        (alert,) = hand(reading.inbox, name, limit=1).items
        assert (alert.from_, alert.type) == (SYSTEM, "alert")
    assert hand(reading.inbox, "coder", limit=1).items[0].from_ == SYSTEM
    assert told(hand, "coder", "chief", "hm", thread_id="t").status == "paused"
    assert told(hand, "sales", "chief", "hm", thread_id="t").status == "paused", "it is paused for all agents"
    assert told(hand, "operator", "chief", "stop it", thread_id="t").status == "delivered"
    assert told(hand, "chief", "coder", "elsewhere", thread_id="u").status == "delivered"
    assert len(hand(reading.inbox, "operator").items) == 1, "told once"
    with pytest.raises(Forbidden):
        hand(pausing.resume, "t", as_agent("chief"))
    hand(pausing.resume, "t", THE_OPERATOR)
    hand.clock.at += 5
    assert talk(hand, 11) == ["delivered"] * 10 + ["paused"]


@rule("L10")
def test_resuming_counts_anew_even_if_nobody_spoke_in_between(hand: Hand) -> None:
    assert talk(hand, 11)[-1] == "paused"
    hand(pausing.resume, "t", THE_OPERATOR)
    assert talk(hand, 11) == ["delivered"] * 10 + ["paused"]
    assert [row.thread_id for row in hand(pausing.pauses).items] == ["t"]
    hand(pausing.resume, "t", THE_OPERATOR)
    with pytest.raises(NotFound):
        hand(pausing.resume, "t", THE_OPERATOR)


@rule("L10")
def test_a_word_of_the_operator_or_a_third_agent_begins_a_new_count(hand: Hand) -> None:
    talk(hand, 9)
    told(hand, "operator", "coder", "go on", thread_id="t")
    assert talk(hand, 9) == ["delivered"] * 9
    told(hand, "ops", "coder", "let me see", thread_id="t")
    assert talk(hand, 10) == ["delivered"] * 10


@rule("L10")
def test_a_task_that_changed_meanwhile_begins_a_new_count(hand: Hand) -> None:
    talk(hand, 8)
    hand(adding.add, TaskDraft(description="what they talk of", agent="coder"), as_agent("chief"))
    assert talk(hand, 12) == ["delivered"] * 12
    assert "paused" in talk(hand, 10)


@rule("L10")
def test_two_messages_in_a_row_of_one_sender_are_one_turn(hand: Hand) -> None:
    for number in range(5):
        for sender, receiver in (("chief", "coder"), ("coder", "chief")):
            for part in ("a", "b"):
                assert told(hand, sender, receiver, f"{number}{part}", thread_id="t").status == "delivered"
                hand.clock.at += 5
    assert told(hand, "chief", "coder", "on and on", thread_id="t").status == "paused"


@rule("L10", "L12")
def test_chains_and_pauses_stay_when_limits_are_off(hand: Hand) -> None:
    link(hand, limits="off")
    assert talk(hand, 11)[-1] == "paused"
    assert (
        told(hand, "coder", "chief", "x", type="request", prompt=Prompt(("chief", "ops"), answering=frozenset({"ops"}))).status == "cycle"
    )


@rule("L10")
@pytest.mark.parametrize(
    "text",
    ["Thanks!", "thanks, coder", "ok", "OK, noted.", "Thank you so much for the update!", "👍", "Got it, thanks!", "Understood.", "Sounds good 🙏",
     "you're welcome", "Thanks again, have a great day!", "great, thank you all", "Received", "...", "ありがとう", "Re: thanks"],
)  # fmt: skip
def test_this_is_a_bare_acknowledgement(text: str) -> None:
    assert acknowledging.is_bare(text.removeprefix("Re: "), "Re: x" if text.startswith("Re: ") else "", ("chief", "coder"))


@rule("L10")
@pytest.mark.parametrize(
    "text",
    ["thanks, but why?", "thanks, but why", "ok?", "ok, deployed", "done", "noted: 3 of 4 pass", "thanks, see https://example.org", "no", "not ok",
     "thanks, sales", "ok\n/tmp/report.txt", "yes, 42", "I agree", "thank you for nothing works", "approved", "got it wrong", "noted " * 40],
)  # fmt: skip
def test_this_is_not_a_bare_acknowledgement(text: str) -> None:
    assert not acknowledging.is_bare(text, "", ("chief", "coder"))


@rule("L10")
def test_thanks_for_what_needed_no_answer_is_suppressed_at_no_cost_and_a_question_is_not(hand: Hand) -> None:
    told(hand, "chief", "coder", "deployed; no action needed")
    found = say(hand, "coder", "chief", "thanks")
    assert (found.status, found.http, bodies(hand, "chief")) == ("suppressed", 200, [])
    assert told(hand, "coder", "chief", "thanks, but why?").status == "delivered"
    assert left(hand, "coder", "chief").credits_remaining == 29


@rule("L10")
def test_thanks_that_answers_a_question_or_opens_a_thread_or_has_data_goes_through(hand: Hand) -> None:
    asked = say(hand, "chief", "coder", "shall I merge?", requires_response=True)
    assert say(hand, "coder", None, "ok", in_reply_to=asked.message_id).status == "delivered"
    assert told(hand, "ops", "sales", "thanks").status == "delivered"
    told(hand, "ops", "devops", "the disk is full")
    assert told(hand, "devops", "ops", "noted", data={"free": 3}).status == "delivered"


@rule("L12")
def test_the_sixty_first_notice_in_a_minute_is_refused_unless_somebody_waits_for_it(hand: Hand) -> None:
    for number in range(61):
        hand(sending.notify, "coder", f"notice {number}", "x")
    assert len(hand(reading.inbox, "coder", limit=200).items) == 60
    hand(sending.notify, "coder", "the wait is over", "x", prompts=True)
    assert hand(handling.claim, "coder", "run", lease_s=60.0, digest_s=1e9) is None, "it is paced, not lost"
    hand.clock.at += 60.0
    claimed = hand(handling.claim, "coder", "run", lease_s=60.0, digest_s=1e9)
    assert claimed is not None
    assert claimed.main is not None
    assert claimed.main.content["subject"] == "the wait is over"
    hand(sending.notify, "operator", "notice", "x")
    assert left(hand).credits_remaining == 30


@rule("L13")
def test_a_brain_s_tool_gets_every_refusal_as_an_answer(hand: Hand) -> None:
    def tool(to: str, body: str, **words: object) -> tuple[str, bool]:
        sent = hand(send_agent_message, draft(to, body, **words), as_agent("chief"))  # type: ignore[arg-type]
        assert sent.sentence
        assert (sent.message_id is None) == (sent.status not in ("delivered", "deferred", "held"))
        return sent.status, sent.retryable

    hand(relinking.disable, "chief", "sales", THE_OPERATOR)
    hand(relinking.remove, "chief", "ops", THE_OPERATOR)
    assert tool("coder", "hello") == ("delivered", False)
    assert tool("coder", "and") == ("debounced", True)
    assert tool("coder", "hello") == ("duplicate", False)
    assert tool("nobody", "hello") == ("unknown", False)
    assert tool("chief", "hello") == ("invalid", False)
    assert tool("sales", "hello") == ("disabled", False)
    assert tool("ops", "hello") == ("unlinked", False)
    assert tool("coder", "", data={}) == ("invalid", False)
    assert tool("coder", "x", data={"x": "y" * 65_536}) == ("too-large", False)
    assert tool("finance", "x", data={"x": "y" * (65_536 - 8)}) == ("delivered", False)
    assert tool("finance", "x", data={"x": "y" * (65_536 - 7)}) == ("too-large", False)


@rule("L11")
def test_the_two_sentences_and_the_numbers_are_those_of_the_agent_s_own_direction(hand: Hand) -> None:
    link(hand, messages_per_window=20, window_hours=4)
    burst(hand, "coder", "chief", 8)
    assert hand(guidance, "coder", ["chief"]) == [
        "This is an agent-to-agent exchange. Minimize chatter, batch information, and avoid loops.",
        "Limit: 20 messages / 4 hours. Remaining credits: 12.",
    ]
    assert hand(guidance, "chief", ["coder"])[1] == "Limit: 20 messages / 4 hours. Remaining credits: 20."
    hand.clock.at += 4 * 3600
    assert hand(guidance, "coder", ["chief"])[1].endswith("Remaining credits: 20.")
    link(hand, limits="off")
    assert len(hand(guidance, "coder", ["chief"])) == 1
    assert hand(guidance, "coder", []) == []
