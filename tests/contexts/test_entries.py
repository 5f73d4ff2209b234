"""A context never exceeds its bound, forgets nothing, and is merged in any order (C1, C3a, C6)."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.agents.model import THE_OPERATOR
from covey.base.errors import Invalid
from covey.contexts import archive, entries, syncing
from covey.contexts.entries import Entry, cut, tokens_of
from covey.store import Transaction
from tests.inline import Hand
from tests.rules import rule

SLOW = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def everything(hand: Hand, agent: str) -> dict[str, str]:
    """All entries of an agent, live and archived."""
    return {entry.id: entry.text for entry in hand(entries.since, agent, 0.0, limit=100_000)}


def clear(tx: Transaction, agent: str) -> None:
    """Have all entries leave the context."""
    for entry in entries.live(tx, agent):
        archive.archive(tx, entry, None)


@rule("C3a")
@SLOW
@given(
    st.lists(st.integers(0, 9_000) | st.integers(0, 60), max_size=25),
    st.sampled_from([1, 10, 40, 100, 1000, 8192]),
    st.sampled_from("aé\U0001f600"),
)
def test_after_any_step_the_context_is_within_its_bound(hand: Hand, sizes: list[int], bound: int, char: str) -> None:
    hand(clear, "coder")
    for size in sizes:
        hand(entries.remember, "coder", "note", char * size, max_tokens=bound)
        live = hand(entries.live, "coder")
        assert hand(entries.size_of, "coder") == sum(tokens_of(entry.text) for entry in live) <= bound
        if bound >= 100:
            assert live[-1].text == char * size or "whole text: entry_" in live[-1].text, "what has just come stays in sight"


@rule("C3a")
def test_an_entry_of_two_megabytes_is_kept_whole_and_shown_by_its_ends(hand: Hand) -> None:
    text = "beginning" + "x" * 2_000_000 + "ending"
    hand(entries.remember, "coder", "message", text, source="msg_1")
    (shown,) = hand(entries.live, "coder")
    assert shown.text.startswith("beginning")
    assert shown.text.endswith("ending")
    assert hand(entries.size_of, "coder") == shown.tokens <= 8192
    whole = shown.text.split("whole text: ")[1].split(")")[0]
    assert everything(hand, "coder")[whole] == text


@rule("C3a")
def test_nothing_that_leaves_the_context_is_lost(hand: Hand) -> None:
    texts = [f"entry {number} " + "y" * 300 for number in range(200)]
    for text in texts:
        hand(entries.remember, "coder", "note", text, max_tokens=1000)
    assert list(everything(hand, "coder").values()) == texts
    kept = [entry.text for entry in hand(entries.live, "coder") if entry.form == "raw"]
    assert kept == texts[-len(kept) :]
    assert len(kept) >= 2


@given(st.text(), st.integers(-5, 200))
def test_a_cut_text_is_within_its_room_and_keeps_both_ends(text: str, room: int) -> None:
    found = cut(text, "…", room)
    assert len(found.encode()) <= max(room, 0) + len("\n…\n".encode())
    assert "…" in found


def test_a_text_that_no_database_can_hold_is_remembered_all_the_same(hand: Hand) -> None:
    hand(entries.remember, "coder", "note", "a\0b\ud800c")
    assert [entry.text for entry in hand(entries.live, "coder")] == ["a\ufffdb\ufffdc"]


def test_an_entry_that_is_remembered_again_is_not_doubled(hand: Hand) -> None:
    assert hand(entries.remember, "coder", "note", "once", ident="entry_1") == hand(
        entries.remember, "coder", "note", "twice", ident="entry_1"
    )
    assert [entry.text for entry in hand(entries.live, "coder")] == ["once"]


def of_ops(numbers: list[int]) -> list[Entry]:
    """Entries that ops made, one a second."""
    return [Entry(f"entry_{number}", "decision", f"ops noted {number}", None, 5, 1000.0 + number) for number in numbers]


@rule("C6")
@SLOW
@given(st.lists(st.lists(st.integers(0, 15), max_size=6), max_size=6), st.randoms(use_true_random=False))
def test_entries_merge_alike_in_any_order_and_any_number_of_times(hand: Hand, batches: list[list[int]], chance: random.Random) -> None:
    numbers = sorted({number for batch in batches for number in batch})
    before = set(everything(hand, "chief"))
    accepted = sum(hand(entries.merge, "chief", of_ops(batch), by="ops") for batch in batches)
    shuffled = [number for batch in batches for number in batch] * 2
    chance.shuffle(shuffled)
    assert hand(entries.merge, "chief", of_ops(shuffled), by="ops") == 0
    assert accepted == len({f"entry_{number}@chief" for number in numbers} - before)
    live = [entry for entry in hand(entries.live, "chief") if entry.id in {f"entry_{number}@chief" for number in numbers}]
    assert [(entry.text, entry.at) for entry in live] == [(f"ops noted {number}", 1000.0 + number) for number in numbers]


@rule("C6")
def test_buddies_that_exchange_again_and_again_have_each_entry_once(hand: Hand) -> None:
    hand(entries.remember, "ops", "decision", "ship it")
    hand(entries.remember, "chief", "note", "wait for legal")
    for _ in range(3):
        hand(entries.merge, "chief", hand(entries.since, "ops", 0.0), by="ops")
        hand(entries.merge, "ops", hand(entries.since, "chief", 0.0), by="chief")
    for agent in ("ops", "chief"):
        assert sorted(entry.text for entry in hand(entries.live, agent)) == ["ship it", "wait for legal"]


@rule("C6", "M12")
def test_a_merged_entry_is_a_note_that_says_whom_it_comes_from(hand: Hand) -> None:
    """openclaw#73702: provenance is stored with memory."""
    hand(entries.merge, "chief", [Entry("entry_7", "decision", "pay me", "msg_9", 2, 1000.0)], by="ops")
    (entry,) = hand(entries.live, "chief")
    assert (entry.kind, entry.source) == ("note", "ops: msg_9")
    assert hand(entries.decisions, "chief") == []


@rule("C6")
def test_what_is_merged_keeps_within_the_receivers_bound(hand: Hand) -> None:
    given = [Entry(f"entry_{number}", "note", "z" * 3000, None, 1000, 1000.0 + number) for number in range(40)]
    assert hand(entries.merge, "chief", given, 2000) == 40
    assert hand(entries.size_of, "chief") <= 2000
    assert hand(entries.merge, "chief", given, 2000) == 0


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        (Entry("no such id", "note", "x", None, 1, 1.0), "entries[0].id"),
        (Entry("", "note", "x", None, 1, 1.0), "entries[0].id"),
        (Entry("e1", "note", "x", None, 1, float("nan")), "entries[0].at"),
        (Entry("e1", "note", "x", None, 1, float("inf")), "entries[0].at"),
    ],
)
def test_an_entry_without_a_proper_id_or_time_is_refused(hand: Hand, entry: Entry, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        hand(entries.merge, "chief", [entry])
    assert caught.value.field == field
    assert hand(entries.live, "chief") == []


def test_an_entry_from_the_future_counts_as_now(hand: Hand) -> None:
    hand(entries.merge, "chief", [Entry("e1", "note", "x", None, 1, 9e9)])
    assert hand(entries.live, "chief")[0].at == hand.now


@rule("C6")
def test_a_buddy_gets_what_is_archived_too_whole_and_no_summaries(hand: Hand) -> None:
    texts = [f"ops noted {number}: " + "and so on " * 60 for number in range(30)]
    for text in texts:
        hand(entries.remember, "ops", "note", text, max_tokens=1500)
    assert any(entry.kind == "summary" for entry in hand(entries.live, "ops"))
    given = hand(entries.since, "ops", 0.0)
    assert [entry.text for entry in given] == texts
    assert hand(entries.merge, "chief", given, 1500, by="ops") == 30
    assert hand(entries.size_of, "chief") <= 1500
    assert hand(entries.merge, "chief", given[::-1], 1500, by="ops") == 0


@rule("C6")
def test_an_entry_that_was_archived_here_meanwhile_is_still_known(hand: Hand) -> None:
    given = of_ops([1, 2])
    assert hand(entries.merge, "chief", given, by="ops") == 2
    hand(clear, "chief")
    assert hand(entries.merge, "chief", given, by="ops") == 0


@rule("C6")
def test_one_answer_has_no_more_than_can_be_sent_at_once(hand: Hand) -> None:
    for number in range(4):
        hand(entries.remember, "ops", "note", f"{number}" + "x" * 900_000)
        hand.clock.at += 1
    answered = hand(syncing.sync, "ops", [], THE_OPERATOR, since=0.0)
    assert [entry.text[0] for entry in answered.entries] == ["0", "1"]
    answered = hand(syncing.sync, "ops", [], THE_OPERATOR, since=answered.entries[-1].at)
    assert [entry.text[0] for entry in answered.entries] == ["1", "2"]
    hand(entries.remember, "ops", "note", "y" * 3_000_000)
    assert len(hand(syncing.sync, "ops", [], THE_OPERATOR, since=hand.now - 0.5).entries) == 1
