"""A claim is a lease with a token: attempts are counted at the claim alone, an old token changes nothing, failures are tried again (K4, K4a, K5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.agents import living, roster
from covey.base.errors import CoveyError, LeaseLost, TooLarge
from covey.messages.checking import DATA_BYTES
from covey.runner import holding
from covey.store import Statement
from covey.tasks import reading, working
from covey.tasks.ending import RESULT_BYTES
from covey.tasks.model import TaskDraft
from covey.tasks.working import jittered
from tests.inline import Hand
from tests.messages.mail import ask
from tests.rules import rule
from tests.tasks.work import LEASE_S, add, do, now, state_of, take, taken


@rule("K4")
def test_attempts_rise_at_the_claim_alone(hand: Hand) -> None:
    task = add(hand)
    for attempt in (1, 2):
        claimed, token = taken(hand)
        assert claimed.attempts == attempt
        hand(working.started, "coder", token)
        hand(working.renew, token, lease_s=LEASE_S)
        hand(working.progress, "coder", token, "half")
        assert now(hand, task).attempts == attempt
        hand(working.fail, "coder", token, "no luck")
        assert now(hand, task).attempts == attempt
        hand.clock.at += 60


@rule("K4", "A7")
def test_giving_back_leaves_the_task_as_it_was_before_the_claim(hand: Hand) -> None:
    task = add(hand)
    before = now(hand, task)
    _, token = taken(hand)
    hand(working.started, "coder", token)
    assert hand(working.give_back, token, "emergency stop") == task.task_id
    assert "coder.tasks" in hand.bells
    assert now(hand, task) == before
    assert hand(working.give_back, token, "again") is None


@rule("K4")
def test_a_lease_ends_at_its_second_and_not_before_over_a_restart_too(hand: Hand) -> None:
    """memtrace-public#20: a lease past its end still blocks; meshcore#373: reservations lapse early; both directions, across a restart."""
    add(hand)
    _, token = taken(hand)
    hand.clock.at += LEASE_S - 0.001
    assert hand(working.lapsed) == []
    assert hand(working.renew, token, lease_s=LEASE_S)
    hand.clock.at += LEASE_S - 0.001
    assert hand(working.lapsed) == []
    hand.clock.at += 0.001
    assert [(row.token, row.holder) for row in hand(working.lapsed)] == [(token, "coder")]


@rule("K4")
def test_the_end_of_a_lease_makes_a_task_suspect_and_not_free(hand: Hand) -> None:
    """hermes PR#23442: the clock kills a slow, healthy worker in one long model call."""
    task = add(hand)
    _, token = taken(hand)
    hand.clock.at += 3600
    assert take(hand) is None
    assert take(hand, "ops") is None
    assert hand(working.renew, token, lease_s=LEASE_S)
    assert hand(working.finish, "coder", token, "slow but sure").state == "done"
    assert state_of(hand, task) == "done"


@rule("K4", "K4a")
def test_a_late_result_under_an_old_token_is_refused(hand: Hand) -> None:
    """hermes#21141: a reclaim does not stop the old worker, and duplicates snowball; pin: the fencing token."""
    task = add(hand)
    _, old = taken(hand)
    hand(holding.free, "coder", old, "", "its process is gone")
    lost = hand(reading.show, task.task_id)
    assert (lost.state, lost.attempts, lost.error) == ("queued", 1, "its process is gone")
    hand.clock.at += 60
    _, new = taken(hand)
    with pytest.raises(LeaseLost) as caught:
        hand(working.finish, "coder", old, "late")
    assert (caught.value.code, caught.value.face.http) == ("lease_lost", 409)
    assert hand(working.finish, "coder", new, "in time").result["summary"] == "in time"
    assert now(hand, task).attempts == 2


@rule("K4")
def test_a_token_works_for_its_holder_alone(hand: Hand) -> None:
    add(hand)
    _, token = taken(hand)
    with pytest.raises(LeaseLost):
        hand(working.finish, "ops", token, "mine now")
    hand(working.finish, "coder", token, "mine")


@rule("K4a")
def test_a_claim_whose_brain_does_not_start_goes_back_and_one_that_did_stays(hand: Hand) -> None:
    idle, busy = add(hand, "idle"), add(hand, "busy")
    taken(hand)
    _, token = taken(hand)
    hand(working.started, "coder", token)
    hand.clock.at += 29.999
    assert hand(working.return_not_started, start_s=30.0) == []
    hand.clock.at += 0.001
    assert hand(working.return_not_started, start_s=30.0) == [idle.task_id]
    assert (now(hand, idle).state, now(hand, idle).attempts) == ("queued", 0)
    assert state_of(hand, busy) == "running"


@rule("K5")
def test_a_failed_attempt_waits_twice_as_long_each_time_and_its_number_is_kept(hand: Hand) -> None:
    """llama_index#20403: the delay ignored, the counter reset, immediate endless retries."""
    task = add(hand, max_attempts=8)
    for attempt in range(1, 8):
        _, token = taken(hand)
        found = hand(working.fail, "coder", token, f"failure {attempt}")
        pause = min(2**attempt, 60)
        assert found.not_before is not None
        assert 0.75 * pause <= found.not_before - hand.now <= pause
        assert (found.state, found.attempts, found.error) == ("queued", attempt, f"failure {attempt}")
        hand.clock.at = found.not_before - hand.clock.ahead - 0.001
        assert take(hand) is None
        hand.clock.at += 0.002
    _, token = taken(hand)
    assert hand(working.fail, "coder", token, "failure 8").state == "failed"
    assert take(hand) is None
    assert (now(hand, task).attempts, now(hand, task).error) == (8, "failure 8")


@rule("K5")
def test_the_pauses_of_many_differ(hand: Hand) -> None:
    for _ in range(12):
        add(hand)
    pauses = set()
    for _ in range(12):
        _, token = taken(hand)
        pauses.add(hand(working.fail, "coder", token, "no luck").not_before)
        hand(living.acted, "coder")  # else its breaker opens
    assert len(pauses) > 6


@rule("K5")
@given(st.floats(0, 60), st.integers(0, 2**128 - 1))
def test_the_jitter_takes_off_a_quarter_at_most(seconds: float, noise: int) -> None:
    assert 0.75 * seconds - 1e-9 <= jittered(seconds, f"{noise:032x}") <= seconds


@rule("K5")
def test_a_permanent_error_is_not_tried_again(hand: Hand) -> None:
    """pydantic-ai PR#6893: what can't be serialised is retried for ever."""
    task = add(hand)
    _, token = taken(hand)
    assert hand(working.fail, "coder", token, "no such file", permanent=True).state == "failed"
    assert now(hand, task).attempts == 1


@rule("K4")
def test_a_result_is_stored_whole_or_cut_to_its_bound_and_bad_data_leaves_the_task_running(hand: Hand) -> None:
    task = add(hand)
    _, token = taken(hand)
    with pytest.raises(TooLarge) as caught:
        hand(working.finish, "coder", token, "ok", {"a": "x" * DATA_BYTES})
    assert caught.value.field == "data"
    assert state_of(hand, task) == "running"
    found = hand(working.finish, "coder", token, "é" * RESULT_BYTES + "\ud800", {"a": [1, None, "é"]})
    assert len(found.result["summary"].encode()) == RESULT_BYTES
    assert found.result["data"] == {"a": [1, None, "é"]}
    assert found.result["by"] == "coder"


@rule("M10")
def test_words_of_a_brain_that_no_database_can_hold_are_made_fit(hand: Hand) -> None:
    task = add(hand)
    _, token = taken(hand)
    hand(working.progress, "coder", token, "at \ud83d 50\0 %" + "x" * 9000)
    assert str(now(hand, task).progress).startswith("at \ufffd 50\ufffd %xxx")
    assert hand(working.fail, "coder", token, "open '\udcff\0'").error == "open '\ufffd\ufffd'"


@rule("A3")
def test_what_an_agent_finished_and_failed_is_counted(hand: Hand) -> None:
    add(hand), add(hand)
    _, token = taken(hand)
    hand(working.started, "coder", token)
    hand.clock.at += 10
    hand(working.finish, "coder", token, "ok")
    _, token = taken(hand)
    hand(working.fail, "coder", token, "no luck")
    vitals = hand(roster.vitals, "coder")
    assert (vitals.tasks_completed, vitals.tasks_failed, vitals.failures_in_a_row, vitals.average_task_s) == (1, 1, 1, 10.0)
    assert vitals.last_active_at == hand.now


@rule("T2")
def test_leases_move_with_a_step_of_the_clock(hand: Hand) -> None:
    add(hand)
    taken(hand)
    hand(working.shift_leases, 3600.0)
    hand.clock.at += 3600
    assert hand(working.lapsed) == []


@rule("K4b")
def test_what_an_agent_holds_is_read_from_the_store_again(hand: Hand) -> None:
    """gastown#1380, #3584: a restart re-primes the agent on a task that is closed already, and merged work is redone."""
    task = add(hand)
    _, token = taken(hand)
    assert [(row.id, row.token) for row in hand(working.held_by, "coder")] == [(task.task_id, token)]
    hand(working.finish, "coder", token, "ok")
    assert hand(working.held_by, "coder") == []
    assert hand(reading.current, "coder") is None
    assert take(hand) is None


@rule("K5")
def test_one_task_that_fails_leaves_the_others_alone(hand: Hand) -> None:
    """camel#3318: one task failing three times halts the whole workforce."""
    bad = add(hand, "bad", max_attempts=1)
    good = [add(hand, f"good {number}") for number in range(3)]
    _, token = taken(hand)
    hand(working.fail, "coder", token, "no luck")
    for _ in good:
        do(hand)
    assert [state_of(hand, task) for task in [bad, *good]] == ["failed", "done", "done", "done"]


@rule("K4", "K4a")
def test_whatever_ends_a_claim_leaves_nothing_of_its_lease(hand: Hand) -> None:
    """paperclip#2912, hermes#22926: a lock tied to a dead run that only SQL can undo."""
    for how in ("give back", "lose", "fail", "finish", "split", "wait"):
        task = add(hand, how, max_attempts=2)
        _, token = taken(hand)
        hand(working.started, "coder", token)
        match how:
            case "give back":
                hand(working.give_back, token, "stop")
            case "lose":
                hand(holding.free, "coder", token, "", "its process is gone")
            case "fail":
                hand(working.fail, "coder", token, "no luck")
            case "finish":
                hand(working.finish, "coder", token, "ok")
            case "split":
                hand(working.split, "coder", token, [TaskDraft(description="part", agent="ops")])
            case _:
                hand(working.wait_for_answer, "coder", token, ask(hand, "coder", "sales").message_id)
        row = hand(reading.seek, task.task_id)
        assert row is not None
        assert (row.token, row.lease_ends) == (None, None), how
        if row.state in ("queued", "blocked"):
            assert (row.holder, row.run_id, row.claimed_at, row.started_at) == (None, None, None, None), how
        hand.clock.at += 1e7
        assert hand(working.lapsed) == []
        if row.state == "queued":
            do(hand)


@rule("K4b")
def test_work_that_can_not_be_read_is_an_error_and_not_the_absence_of_work(hand: Hand) -> None:
    """gastown#2638: a database error read as "no work", and the task closed as done."""
    add(hand)
    with hand.transaction() as tx:
        tx.run(Statement("away", "ALTER TABLE tasks RENAME TO gone"))
    with pytest.raises(CoveyError):
        take(hand)
    with pytest.raises(CoveyError):
        hand(reading.current, "coder")
