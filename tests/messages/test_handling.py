"""A copy in its receiver's hands: leased, handled once, tried again, dead; fetching is not acknowledging (M3, M4a, M8)."""

from __future__ import annotations

import pytest

from covey.agents.model import OPERATOR
from covey.base.errors import Conflict, CoveyError, LeaseLost, NotFound
from covey.messages import handling, reading, sweeping
from covey.messages.model import MAX_ATTEMPTS, backoff_s
from covey.runner import holding
from covey.store import Statement, events
from tests.inline import Hand
from tests.messages.mail import LEASE_S, ask, copy_of, inbox, next_of, notices, say, state_of, take, taken
from tests.rules import rule


@rule("M4a")
def test_each_state_has_its_time_and_the_sender_can_read_them(hand: Hand) -> None:
    """claude-code#57487: a send said success and the body was never shown; `delivered` says here that it is on disk, no more."""
    sent = hand.now
    receipt = say(hand, "chief", "coder")
    assert receipt.status == "delivered"
    assert "has not seen it yet" in receipt.sentence
    hand.clock.at += 1
    claimed = taken(hand, "coder")
    hand.clock.at += 1
    hand(handling.close, "coder", claimed.token)
    found = copy_of(hand, receipt.message_id, "coder")
    assert (found.state, found.delivered_at, found.seen_at, found.handled_at) == ("handled", sent, sent + 1, sent + 2)


@rule("M4a")
def test_looking_at_mail_does_not_acknowledge_it(hand: Hand) -> None:
    """agent-mail#254, agmsg#677: fetch marks read, the next view hides it."""
    ident = say(hand, "chief", "coder").message_id
    for _ in range(3):
        assert [message.message_id for message in inbox(hand, "coder", unread=True)] == [ident]
    assert hand(reading.unread_count, "coder") == 1
    assert state_of(hand, ident, "coder") == "delivered"


@rule("M3")
def test_mail_under_a_lease_is_given_to_nobody_else(hand: Hand) -> None:
    say(hand, "chief", "coder")
    claimed = taken(hand, "coder")
    assert take(hand, "coder") is None
    assert hand(reading.unread_count, "coder") == 0
    assert hand(handling.is_leased, claimed.token)
    assert hand(handling.handled, "coder", claimed.token) == 1
    assert not hand(handling.is_leased, claimed.token)


@rule("M3", "K4")
def test_an_old_token_changes_nothing(hand: Hand) -> None:
    ident = say(hand, "chief", "coder").message_id
    old = taken(hand, "coder").token
    hand(handling.give_back, old)
    new = taken(hand, "coder").token
    assert old != new
    for verb in (lambda: hand(handling.close, "coder", old), lambda: hand(handling.failed, "coder", old, "no")):
        with pytest.raises(LeaseLost) as caught:
            verb()
        assert (caught.value.code, caught.value.face.http) == ("lease_lost", 409)
    assert hand(handling.handled, "coder", old) == 0
    assert hand(handling.give_back, old) == 0
    assert not hand(handling.renew, old, lease_s=LEASE_S)
    assert state_of(hand, ident, "coder") == "seen"
    assert hand(handling.close, "coder", new) == 1
    with pytest.raises(LeaseLost):
        hand(handling.close, "coder", new)


@rule("K4", "M3")
def test_a_lease_ends_at_its_second_and_not_before(hand: Hand) -> None:
    """memtrace-public#20, meshcore#373: a lease past its end still blocks, or lapses early."""
    say(hand, "chief", "coder")
    token = taken(hand, "coder").token
    hand.clock.at += LEASE_S - 0.001
    assert hand(handling.lapsed) == []
    assert hand(handling.renew, token, lease_s=LEASE_S)
    hand.clock.at += LEASE_S - 0.001
    assert hand(handling.lapsed) == []
    hand.clock.at += 0.001
    assert [(row.token, row.receiver) for row in hand(handling.lapsed)] == [(token, "coder")]
    assert hand(handling.close, "coder", token) == 1, "suspect, not free: its holder may still finish"


@rule("K4")
def test_mail_whose_brain_never_started_goes_back_as_if_it_had_not_been_taken(hand: Hand) -> None:
    ident = say(hand, "chief", "coder").message_id
    assert hand(handling.give_back, taken(hand, "coder").token) == 1
    found = copy_of(hand, ident, "coder")
    assert (found.state, found.attempts, found.seen_at) == ("delivered", 0, None)
    assert next_of(hand, "coder").attempts == 1


@rule("M8")
def test_a_failing_message_is_tried_five_times_with_growing_pauses_and_then_is_dead(hand: Hand) -> None:
    ident = say(hand, "chief", "coder").message_id
    for attempt in range(1, MAX_ATTEMPTS):
        assert hand(handling.failed, "coder", taken(hand, "coder").token, f"failure {attempt}") == []
        found = copy_of(hand, ident, "coder")
        assert (found.state, found.attempts, found.reason) == ("delivered", attempt, f"failure {attempt}")
        hand.clock.at += 2**attempt - 0.001
        assert take(hand, "coder") is None
        hand.clock.at += 0.001
    (dead,) = hand(handling.failed, "coder", taken(hand, "coder").token, "failure 5")
    assert (dead.message_id, dead.state, dead.attempts, dead.reason, dead.ended_at) == (ident, "dead", 5, "failure 5", hand.now)
    assert take(hand, "coder") is None
    assert [letter.message_id for letter in hand(reading.dead_letters).items] == [ident]
    kinds = [event.kind for event in hand(events.of_subject, ident)]
    assert kinds.count("message.retried") == MAX_ATTEMPTS - 1
    assert kinds.count("message.dead") == 1


@rule("M8", "K5")
def test_the_pause_doubles_up_to_a_minute() -> None:
    assert [backoff_s(attempt) for attempt in range(1, 9)] == [2, 4, 8, 16, 32, 60, 60, 60]
    assert backoff_s(10_000) == 60


def kill(hand: Hand, ident: str, agent: str = "coder") -> None:
    """Have a message fail until it is dead, and be told of."""
    while state_of(hand, ident, agent) != "dead":
        for dead in hand(handling.failed, agent, taken(hand, agent).token, "no luck"):
            hand(sweeping.bury, agent, dead, "no luck")
        hand.clock.at += 60


@rule("M8")
def test_a_dead_letter_is_requeued_by_hand_with_five_new_tries(hand: Hand) -> None:
    ident = say(hand, "chief", "coder").message_id
    kill(hand, ident)
    assert hand(handling.requeue, ident) == 1
    assert hand.bells == {"coder.mail"}
    assert next_of(hand, "coder").attempts == 1
    with pytest.raises(NotFound) as caught:
        hand(handling.requeue, ident)
    assert caught.value.face.http == 404


@rule("M8")
def test_a_dropped_letter_is_gone_for_good(hand: Hand) -> None:
    ident = say(hand, "chief", "coder").message_id
    kill(hand, ident)
    assert hand(handling.drop, ident) == 1
    assert hand(reading.dead_letters).items == []
    found = copy_of(hand, ident, "coder")
    assert (found.state, found.handled_at) == ("expired", None)
    assert "dropped by the operator" in str(found.reason)
    assert take(hand, "coder") is None
    with pytest.raises(NotFound):
        hand(handling.drop, ident)


@rule("M7", "M8")
def test_a_dead_letter_wakes_who_waited_for_its_answer_once_and_tells_the_operator(hand: Hand) -> None:
    """openclaw#90178, #93323: gives up, and the parent waits for ever."""
    ident = ask(hand, "chief", "coder", "can you?").message_id
    kill(hand, ident)
    (notice,) = notices(hand, "chief")
    assert (notice.in_reply_to, notice.content["subject"]) == (ident, "No answer: can you?")
    assert "no luck" in notice.body
    assert next_of(hand, "chief").message_id == notice.message_id
    hand.clock.at += 7200
    assert hand(sweeping.give_up_waits) == []
    assert len(notices(hand, "chief")) == 1
    assert [letter.type for letter in notices(hand, OPERATOR)] == ["alert"]


@rule("M3", "M8")
def test_the_leases_of_a_process_that_is_gone_are_freed_and_the_try_counts(hand: Hand) -> None:
    """automaton PR#110: acknowledged after the work; relay#1339: killed between fetch and ack, the message comes back."""
    ident = say(hand, "chief", "coder").message_id
    other = say(hand, "chief", "ops").message_id
    taken(hand, "coder"), taken(hand, "ops")
    hand(holding.lose_all, "coder")
    found = copy_of(hand, ident, "coder")
    assert (found.state, found.attempts) == ("delivered", 1)
    assert state_of(hand, other, "ops") == "seen"
    hand.clock.at += 2
    assert next_of(hand, "coder").message_id == ident


@rule("M4a")
def test_mail_can_be_acknowledged_by_hand(hand: Hand) -> None:
    ident = say(hand, "chief", "coder").message_id
    assert hand(handling.acknowledge, "coder", ident).state == "handled"
    assert hand(handling.acknowledge, "coder", ident).state == "handled"
    assert take(hand, "coder") is None
    with pytest.raises(NotFound) as caught:
        hand(handling.acknowledge, "ops", ident)
    assert caught.value.field == "messageId"


@rule("M4a", "M8")
def test_what_is_claimed_or_dead_is_not_closed_by_hand_and_the_error_says_what_to_do(hand: Hand) -> None:
    ident = say(hand, "chief", "coder").message_id

    def told() -> str:
        with pytest.raises(Conflict) as caught:
            hand(handling.acknowledge, "coder", ident)
        return caught.value.message

    claim = taken(hand, "coder")
    assert "settle it with the token of that claim" in told()
    hand(handling.failed, "coder", claim.token, "boom")
    for _ in range(MAX_ATTEMPTS - 1):
        hand.clock.at += 60
        hand(handling.failed, "coder", taken(hand, "coder").token, "boom")
    assert f"`covey dead requeue {ident}`" in told()
    hand(handling.requeue, ident)
    assert hand(handling.acknowledge, "coder", ident).state == "handled"


@rule("T2")
def test_leases_move_with_a_step_of_the_clock(hand: Hand) -> None:
    say(hand, "chief", "coder")
    taken(hand, "coder")
    hand(handling.shift_leases, 3600.0)
    hand.clock.at += 3600
    assert hand(handling.lapsed) == []


@rule("M10")
def test_a_reason_that_no_database_can_hold_is_made_fit(hand: Hand) -> None:
    ident = say(hand, "chief", "coder").message_id
    hand(handling.failed, "coder", taken(hand, "coder").token, "bad \udcff name\0" + "x" * 50_000)
    assert str(copy_of(hand, ident, "coder").reason).startswith("bad \ufffd name\ufffdxxx")


@rule("K4", "M3")
def test_a_lease_begins_at_the_claim_however_old_the_mail_is(hand: Hand) -> None:
    """cortextOS: a message older than five minutes is taken for stale the moment it is claimed; a locked inbox returns an empty list."""
    say(hand, "chief", "coder")
    hand.clock.at += 100 * LEASE_S
    taken(hand, "coder")
    assert hand(handling.lapsed) == []
    hand.clock.at += LEASE_S
    assert len(hand(handling.lapsed)) == 1


@rule("K4b", "M3")
def test_mail_that_can_not_be_read_is_an_error_and_not_an_empty_mailbox(hand: Hand) -> None:
    say(hand, "chief", "coder")
    with hand.transaction() as tx:
        tx.run(Statement("away", "ALTER TABLE copies RENAME TO gone"))
    for verb in (lambda: take(hand, "coder"), lambda: hand(reading.unread_count, "coder"), lambda: inbox(hand, "coder")):
        with pytest.raises(CoveyError):
            verb()
