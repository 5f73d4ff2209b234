"""The edges of windows, credits, debounce and duplicates, each by itself (L2 to L9)."""

from __future__ import annotations

import pytest

from covey.agents import living
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.errors import Conflict, Forbidden, NotFound
from covey.links.model import LinkChange
from covey.messages import handling, reading, releasing, relinking, sending
from covey.messages.letters import Prompt
from covey.messages.model import Content, Draft
from covey.store import Statement, Transaction
from tests.inline import Hand
from tests.links.words import bodies, burst, left, link, mail_of, say, sweep, told
from tests.rules import rule

EVENTS = Statement("events_of_kind", "SELECT kind, subject, data FROM events WHERE kind = :kind ORDER BY seq")


def events(hand: Hand, kind: str) -> list[str]:
    def verb(tx: Transaction) -> list[str]:
        return [row.data for row in tx.all(EVENTS, kind=kind)]

    return hand(verb)


@rule("L4")
def test_4_999_seconds_are_too_soon_and_5_000_are_not(hand: Hand) -> None:
    assert told(hand, "chief", "coder", "one").status == "delivered"
    hand.clock.at += 4.999
    refused = told(hand, "chief", "coder", "two")
    assert (refused.status, refused.retryable, refused.remaining_credits) == ("debounced", True, 29)
    assert refused.retry_at == pytest.approx(hand.now + 0.001, abs=1e-5)
    hand.clock.at += 0.001
    assert told(hand, "chief", "coder", "two").status == "delivered"
    assert bodies(hand, "coder") == ["one", "two"]


@rule("L2", "L4")
def test_a_reply_within_a_second_is_not_debounced_since_it_goes_the_other_way(hand: Hand) -> None:
    told(hand, "chief", "coder", "look at the build")
    hand.clock.at += 1.0
    assert told(hand, "coder", "chief", "it is red since noon").status == "delivered"
    assert (left(hand).credits_remaining, left(hand, "coder", "chief").credits_remaining) == (29, 29)


@rule("L4")
def test_an_answer_to_a_question_is_never_debounced_and_costs_nothing(hand: Hand) -> None:
    told(hand, "coder", "chief", "the build is red")
    first = say(hand, "chief", "coder", "why?", requires_response=True)
    second = say(hand, "chief", "coder", "since when?", prompt=Prompt(run="r"), requires_response=True)
    assert second.status == "debounced"
    answer = say(hand, "coder", None, "a test is missing", in_reply_to=first.message_id)
    assert (answer.status, answer.outcomes["chief"].remaining_credits) == ("delivered", 29)
    assert left(hand, "coder", "chief").credits_remaining == 29
    further = say(hand, "coder", None, "and one more thing", in_reply_to=first.message_id)
    assert further.status == "debounced", "the question paid for one answer"


@rule("L4")
def test_the_same_answer_may_be_given_to_two_questions(hand: Hand) -> None:
    for question in ("is a done?", "is b done?"):
        asked = say(hand, "chief", "coder", question, requires_response=True)
        assert say(hand, "coder", None, "it is", in_reply_to=asked.message_id).status == "delivered"
        hand.clock.at += 5.0


@rule("L4")
def test_messages_of_one_outcome_to_one_receiver_are_one_event_each_with_its_credit(hand: Hand) -> None:
    prompt = Prompt(run="run_1")
    assert [told(hand, "chief", "coder", text, prompt=prompt).status for text in ("one", "two", "three")] == ["delivered"] * 3
    assert left(hand).credits_remaining == 27
    assert told(hand, "chief", "coder", "four", prompt=Prompt(run="run_2")).status == "debounced"


@rule("L4")
def test_the_same_data_in_another_order_of_keys_is_a_duplicate(hand: Hand) -> None:
    told(hand, "chief", "coder", "see", data={"a": 1, "b": {"x": 1, "y": 2}})
    hand.clock.at += 60.0
    again = told(hand, "chief", "coder", "see", data={"b": {"y": 2, "x": 1}, "a": 1})
    assert (again.status, again.retryable, left(hand).credits_remaining) == ("duplicate", False, 29)
    assert told(hand, "chief", "coder", "see", data={"a": 2, "b": {"x": 1, "y": 2}}).status == "delivered"


@rule("L4")
def test_a_b_a_is_a_duplicate_and_a_b_c_d_a_is_not(hand: Hand) -> None:
    assert burst(hand, "chief", "coder", 2) == ["delivered"] * 2
    assert told(hand, "chief", "coder", "fact 0").status == "duplicate"
    assert burst(hand, "chief", "coder", 2, start=2) == ["delivered"] * 2
    assert told(hand, "chief", "coder", "fact 0").status == "delivered"


@rule("L4")
def test_after_an_hour_it_may_be_said_again(hand: Hand) -> None:
    told(hand, "chief", "coder", "one")
    hand.clock.at += 3599.0
    assert told(hand, "chief", "coder", "one").status == "duplicate"
    hand.clock.at += 1.0
    assert told(hand, "chief", "coder", "one").status == "delivered"


@rule("L3")
def test_what_was_refused_is_not_remembered_and_costs_nothing(hand: Hand) -> None:
    told(hand, "chief", "coder", "one")
    assert told(hand, "chief", "coder", "two").status == "debounced"
    hand.clock.at += 5.0
    assert told(hand, "chief", "coder", "two").status == "delivered"
    assert left(hand).credits_remaining == 28
    assert '"status":"debounced"' in events(hand, "quota.throttled")[0]


@rule("L5", "L6", "L13")
def test_the_last_credit_delivers_and_the_next_one_waits_for_the_window(hand: Hand) -> None:
    assert burst(hand, "chief", "coder", 30) == ["delivered"] * 30
    assert left(hand).credits_remaining == 0
    start = hand.now - 150.0
    receipt = say(hand, "chief", "coder", "one more")
    deferred = receipt.outcomes["coder"]
    assert (receipt.http, deferred.status, deferred.remaining_credits, deferred.retryable) == (202, "deferred", 0, False)
    assert deferred.deliver_at == pytest.approx(start + 6 * 3600.0)
    assert "30 messages / 6 hours" in deferred.sentence
    assert "number 1 in line" in deferred.sentence
    (waiting,) = mail_of(hand, "coder", "deferred")
    assert (waiting.deliver_at, waiting.delivered_at, waiting.context["linkId"]) == (deferred.deliver_at, None, "link:chief:coder")
    assert len(events(hand, "message.deferred")) == 1
    assert len(events(hand, "quota.spent")) == 1, "once, with the last credit"
    assert '"credits":{"coder":29}' in events(hand, "message.sent")[0]


@rule("L6")
def test_thirty_wait_the_61st_is_exhausted_and_all_go_out_in_order_at_the_reset(hand: Hand) -> None:
    burst(hand, "chief", "coder", 30)
    reset = left(hand).window_reset_at
    assert burst(hand, "chief", "coder", 30, start=30) == ["deferred"] * 30
    last = told(hand, "chief", "coder", "too much")
    assert (last.status, last.retry_at, last.retryable, last.remaining_credits) == ("exhausted", reset, True, 0)
    assert reset is not None
    hand.clock.at += reset - hand.now - 0.01
    assert sweep(hand) == 0
    hand.clock.at += 0.01
    assert sweep(hand) == 30
    assert bodies(hand, "coder", "delivered") == [f"fact {number}" for number in range(60)]
    assert left(hand).credits_remaining == 0, "each was paid for from the new window"
    assert told(hand, "chief", "coder", "one more").status == "deferred"


@rule("L5")
def test_a_window_is_over_at_the_very_instant_of_its_reset(hand: Hand) -> None:
    burst(hand, "chief", "coder", 30)
    reset = left(hand).window_reset_at
    assert reset is not None
    hand.clock.at = reset - (hand.now - hand.clock.at)
    assert hand.now == pytest.approx(reset, abs=1e-6)
    hand.clock.at += 1e-5
    found = told(hand, "chief", "coder", "anew")
    assert (found.status, found.remaining_credits) == ("delivered", 29)
    assert left(hand).window_reset_at == pytest.approx(reset + 6 * 3600.0, abs=1e-3)


@rule("L5", "L9")
def test_after_three_idle_windows_it_is_full_and_the_next_message_starts_one(hand: Hand) -> None:
    burst(hand, "chief", "coder", 7)
    hand.clock.at += 3 * 6 * 3600.0 + 1
    assert (left(hand).credits_remaining, left(hand).window_reset_at) == (30, None)
    told(hand, "chief", "coder", "hello again")
    assert left(hand).window_reset_at == pytest.approx(hand.now + 6 * 3600.0)


@rule("L6", "M4a")
def test_what_waits_for_credit_is_not_closed_by_its_receiver(hand: Hand) -> None:
    link(hand, messages_per_window=1, debounce_s=0)
    told(hand, "chief", "coder", "a")
    told(hand, "chief", "coder", "b")
    (waiting,) = mail_of(hand, "coder", "deferred")
    with pytest.raises(Conflict, match="not delivered yet: it waits for credit"):
        hand(handling.acknowledge, "coder", waiting.message_id)


@rule("L3", "L6")
def test_a_send_first_delivers_what_is_due_in_its_own_direction(hand: Hand) -> None:
    link(hand, messages_per_window=2, debounce_s=0)
    for text in ("a", "b", "c", "d"):
        told(hand, "chief", "coder", text)
    hand.clock.at += 6 * 3600.0
    late = told(hand, "chief", "coder", "e")
    assert (late.status, bodies(hand, "coder", "delivered")) == ("deferred", ["a", "b", "c", "d"])
    assert told(hand, "coder", "chief", "mine").status == "delivered"
    hand.clock.at += 6 * 3600.0
    sweep(hand)
    assert bodies(hand, "coder", "delivered") == ["a", "b", "c", "d", "e"]


@rule("L6")
def test_what_does_not_fit_into_the_new_window_waits_for_the_next(hand: Hand) -> None:
    link(hand, messages_per_window=4, debounce_s=0)
    for number in range(8):
        told(hand, "chief", "coder", f"{number}")
    link(hand, messages_per_window=3)
    for delivered in (7, 8):
        hand.clock.at += 6 * 3600.0
        sweep(hand)
        assert len(bodies(hand, "coder", "delivered")) == delivered
        assert sweep(hand) == 0


@rule("L7")
@pytest.mark.parametrize(("before", "used", "after", "shown"), [(30, 10, 5, 5), (2, 2, 10, 8), (30, 28, 5, 2), (5, 0, 9, 9)])
def test_a_changed_limit_adds_the_difference_or_clamps(hand: Hand, before: int, used: int, after: int, shown: int) -> None:
    link(hand, messages_per_window=before)
    burst(hand, "chief", "coder", used)
    link(hand, messages_per_window=after)
    assert left(hand).credits_remaining == shown


@rule("L7")
def test_a_shorter_window_ends_at_its_start_plus_the_new_length(hand: Hand) -> None:
    burst(hand, "chief", "coder", 2)
    start = hand.now - 10.0
    link(hand, window_hours=1)
    assert left(hand).window_reset_at == pytest.approx(start + 3600.0)
    link(hand, window_hours=24)
    assert left(hand).window_reset_at == pytest.approx(start + 3600.0), "a longer one is for the next window"
    hand.clock.at += 3600.0
    assert left(hand).credits_remaining == 30


@rule("L7", "L8")
def test_a_window_made_longer_and_then_shorter_ends_where_its_start_says_and_gives_no_credit_back(hand: Hand) -> None:
    link(hand, messages_per_window=2)
    burst(hand, "chief", "coder", 2)
    start = hand.now - 10.0
    link(hand, window_hours=168)
    link(hand, window_hours=8)
    assert left(hand).window_reset_at == pytest.approx(start + 6 * 3600.0)
    assert left(hand).credits_remaining == 0
    link(hand, window_hours=3)
    assert left(hand).window_reset_at == pytest.approx(start + 3 * 3600.0)
    assert left(hand).credits_remaining == 0
    hand.clock.at = start + 3 * 3600.0
    assert left(hand).credits_remaining == 2


@rule("L7", "L6")
def test_raising_the_limit_sends_what_waits_at_once_and_in_order(hand: Hand) -> None:
    link(hand, messages_per_window=3, debounce_s=0)
    for number in range(6):
        told(hand, "chief", "coder", f"{number}")
    assert bodies(hand, "coder", "deferred") == ["3", "4", "5"]
    link(hand, messages_per_window=5)
    assert bodies(hand, "coder", "delivered") == ["0", "1", "2", "3", "4"]
    assert (left(hand).credits_remaining, "coder.mail" in hand.bells) == (0, False)


@rule("L7", "L6")
def test_a_shorter_window_brings_forward_what_waits(hand: Hand) -> None:
    link(hand, messages_per_window=1, debounce_s=0)
    told(hand, "chief", "coder", "a")
    told(hand, "chief", "coder", "b")
    link(hand, window_hours=1)
    (waiting,) = mail_of(hand, "coder", "deferred")
    assert waiting.deliver_at == left(hand).window_reset_at
    hand.clock.at += 3600.0
    assert sweep(hand) == 1


@rule("L1")
def test_unlinking_and_linking_again_keeps_the_bucket(hand: Hand) -> None:
    burst(hand, "chief", "coder", 4)
    hand(relinking.remove, "chief", "coder", THE_OPERATOR)
    assert told(hand, "chief", "coder", "hello?").status == "unlinked"
    assert told(hand, "coder", "chief", "hello?").status == "unlinked"
    hand(relinking.add, "coder", "chief", LinkChange(), THE_OPERATOR)
    assert told(hand, "chief", "coder", "hello?").remaining_credits == 25


@rule("L6", "M5")
def test_a_paused_receiver_s_mail_is_held_and_pays(hand: Hand) -> None:
    hand(living.pause, "coder", THE_OPERATOR)
    found = told(hand, "chief", "coder", "when you are back")
    assert (found.status, found.remaining_credits) == ("held", 29)
    link(hand, messages_per_window=1, debounce_s=0)
    assert told(hand, "chief", "coder", "and this").status == "held"
    assert told(hand, "chief", "coder", "and that").status == "deferred"
    hand.clock.at += 6 * 3600.0
    sweep(hand)
    assert bodies(hand, "coder", "held") == ["when you are back", "and this", "and that"]


@rule("L6")
def test_a_deferred_message_can_be_taken_back_by_its_sender_or_the_operator_only(hand: Hand) -> None:
    link(hand, messages_per_window=1, debounce_s=0)
    told(hand, "chief", "coder", "a")
    waiting = say(hand, "chief", "coder", "b").message_id
    with pytest.raises(Forbidden):
        hand(releasing.cancel, waiting, as_agent("coder"))
    assert hand(releasing.cancel, waiting, as_agent("chief")) == 1
    with pytest.raises(NotFound):
        hand(releasing.cancel, waiting, THE_OPERATOR)
    hand.clock.at += 6 * 3600.0
    assert (sweep(hand), bodies(hand, "coder", "delivered")) == (0, ["a"])
    (copy,) = hand(reading.show, waiting)
    assert (copy.state, copy.reason) == ("expired", "cancelled by chief")


@rule("L6")
def test_the_operator_releases_one_at_once(hand: Hand) -> None:
    link(hand, messages_per_window=1, debounce_s=0)
    told(hand, "chief", "coder", "a")
    idents = [say(hand, "chief", "coder", text).message_id for text in ("b",)]
    with pytest.raises(Forbidden):
        hand(releasing.release, idents[0], as_agent("chief"))
    assert hand(releasing.release, idents[0], THE_OPERATOR) == 1
    assert "coder.mail" in hand.bells
    assert bodies(hand, "coder", "delivered") == ["a", "b"]


@rule("L6")
def test_who_asked_is_woken_when_the_operator_takes_its_deferred_question_back(hand: Hand) -> None:
    link(hand, messages_per_window=1, debounce_s=0)
    told(hand, "chief", "coder", "a")
    asked = say(hand, "chief", "coder", "b?", requires_response=True)
    assert asked.status == "deferred"
    hand(releasing.cancel, asked.message_id, THE_OPERATOR)
    claimed = hand(handling.claim, "chief", "run", lease_s=60.0, digest_s=900.0)
    assert claimed is not None
    assert claimed.main is not None
    assert claimed.main.in_reply_to == asked.message_id


@rule("L6", "M9")
def test_what_expires_while_it_waits_is_not_delivered_and_its_asker_is_told(hand: Hand) -> None:
    link(hand, messages_per_window=1, debounce_s=0)
    told(hand, "chief", "coder", "a")
    late = Draft(content=Content(body="b?", requires_response=True), to="coder", expires_at=hand.now + 600)
    receipt = hand(sending.send, late, as_agent("chief"))
    assert receipt.status == "deferred"
    hand.clock.at += 600.0
    assert sweep(hand) == 1
    (copy,) = hand(reading.show, receipt.message_id)
    assert (copy.state, copy.reason) == ("expired", "not delivered before expiresAt")
    assert [each.in_reply_to for each in hand(reading.inbox, "chief").items] == [receipt.message_id]


@rule("L6", "L14")
def test_mail_over_a_disabled_link_waits_on_and_goes_at_once_when_it_is_enabled(hand: Hand) -> None:
    link(hand, messages_per_window=1, debounce_s=0)
    told(hand, "chief", "coder", "a")
    told(hand, "chief", "coder", "b")
    hand(relinking.disable, "chief", "coder", THE_OPERATOR)
    assert told(hand, "chief", "coder", "c").status == "disabled"
    hand.clock.at += 6 * 3600.0
    hand(releasing.deliver_due)
    assert bodies(hand, "coder", "deferred") == ["b"]
    hand(relinking.enable, "chief", "coder", THE_OPERATOR)
    assert bodies(hand, "coder", "delivered") == ["a", "b"]


@rule("L6", "L1")
def test_mail_that_waits_over_a_removed_link_is_closed_and_its_sender_told(hand: Hand) -> None:
    link(hand, messages_per_window=1, debounce_s=0)
    told(hand, "chief", "coder", "a")
    told(hand, "chief", "coder", "b")
    hand(relinking.remove, "chief", "coder", THE_OPERATOR)
    assert bodies(hand, "coder", "expired") == ["b"]
    assert "closed undelivered" in hand(reading.inbox, "chief").items[0].body


@rule("L2", "L12")
def test_limits_off_lifts_quota_debounce_and_duplicates_for_one_link(hand: Hand) -> None:
    link(hand, limits="off")
    found = [told(hand, "chief", "coder", "the same") for _ in range(40)]
    assert {(each.status, each.remaining_credits) for each in found} == {("delivered", None)}
    assert told(hand, "chief", "ops", "the same").status == "delivered"
    assert told(hand, "chief", "ops", "the same").status == "duplicate"


@rule("L7", "L12")
def test_switching_limits_off_sends_what_waits(hand: Hand) -> None:
    link(hand, messages_per_window=1, debounce_s=0)
    for text in ("a", "b"):
        told(hand, "chief", "coder", text)
    link(hand, limits="off")
    assert bodies(hand, "coder", "delivered") == ["a", "b"]


@rule("M6", "L3", "L13")
def test_of_a_broadcast_to_seven_with_one_link_disabled_six_are_delivered(hand: Hand) -> None:
    hand(relinking.disable, "chief", "sales", THE_OPERATOR)
    receipt = say(hand, "chief", "*", "to all")
    statuses = {name: outcome.status for name, outcome in receipt.outcomes.items()}
    assert statuses == {**dict.fromkeys(("coder", "finance", "intel", "devops", "comms", "ops"), "delivered"), "sales": "disabled"}
    assert (receipt.status, receipt.http) == ("mixed", 207)
    assert left(hand, "chief", "sales").credits_remaining == 30
    assert left(hand, "chief", "ops").credits_remaining == 29


@rule("T3", "L3")
def test_a_known_id_gets_its_first_receipt_and_pays_once(hand: Hand) -> None:
    first = say(hand, "chief", "coder", "once", message_id="m1")
    again = say(hand, "chief", "coder", "once", message_id="m1")
    assert (first.known, again.known, left(hand).credits_remaining) == (False, True, 29)


@rule("L12")
def test_the_operator_s_mail_is_outside_the_quota_both_ways(hand: Hand) -> None:
    assert {told(hand, "operator", "coder", "go").status for _ in range(70)} == {"delivered"}
    assert {told(hand, "coder", "operator", "gone").status for _ in range(70)} == {"delivered"}


@rule("L12")
def test_a_type_that_a_brain_writes_takes_nothing_out_of_the_quota(hand: Hand) -> None:
    link(hand, messages_per_window=1, debounce_s=0)
    told(hand, "chief", "coder", "are you there?", type="buddy-check")
    assert told(hand, "chief", "coder", "still there?", type="buddy-check").status == "deferred"
