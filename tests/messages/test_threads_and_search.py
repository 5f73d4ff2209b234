"""Threads in order with the state of each copy; search over subject and body, alike on both databases (M13)."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.errors import Forbidden, NotFound
from covey.messages import handling, indexing, reading, seeing
from covey.messages.indexing import words_of
from tests.inline import Hand
from tests.messages.mail import inbox, say, taken
from tests.rules import rule


@rule("M13")
def test_a_thread_has_all_its_messages_in_order_with_their_states(hand: Hand) -> None:
    first = say(hand, "chief", ["coder", "ops"], "one", thread_id="t1").message_id
    second = say(hand, "coder", "chief", "two", thread_id="t1").message_id
    say(hand, "chief", "coder", "elsewhere")
    hand(handling.close, "ops", taken(hand, "ops").token)
    found = hand(reading.thread, "t1").items
    assert [(message.message_id, message.receiver, message.state) for message in found] == [
        (first, "coder", "delivered"),
        (first, "ops", "handled"),
        (second, "chief", "delivered"),
    ]
    with pytest.raises(NotFound):
        hand(reading.thread, "t2")


@rule("M13")
def test_lists_are_read_page_by_page_without_a_gap_or_a_double(hand: Hand) -> None:
    sent = [say(hand, "chief", "coder", f"{number}", thread_id="t1").message_id for number in range(23)]
    found, after = [], 0
    while True:
        page = hand(reading.thread, "t1", after=after, limit=5)
        found += [message.message_id for message in page.items]
        if page.cursor is None:
            break
        after = page.cursor
    assert found == sent
    newest, before = [], None
    while True:
        page = hand(reading.inbox, "coder", before=before, limit=5)
        newest += [message.message_id for message in page.items]
        if page.cursor is None:
            break
        before = page.cursor
    assert newest == sent[::-1]


@rule("M13")
def test_an_inbox_of_unread_mail_leaves_out_what_was_seen(hand: Hand) -> None:
    sent = [say(hand, "chief", "coder", f"{number}").message_id for number in range(6)]
    hand(handling.close, "coder", taken(hand, "coder").token)
    taken(hand, "coder")
    assert [message.message_id for message in inbox(hand, "coder", unread=True)] == sent[:1:-1]
    assert hand(reading.unread_count, "coder") == 4
    assert hand(reading.inbox, "coder", unread=True, limit=2).cursor is not None


@rule("M13")
@pytest.mark.parametrize("few", [500, 2])
def test_threads_are_listed_the_latest_first(hand: Hand, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "FEW", few)
    monkeypatch.setattr(reading, "WINDOW", 3)
    for number in range(4):
        for _ in range(number + 1):
            say(hand, "chief", "coder", thread_id=f"t{number}")
    say(hand, "ops", "sales", thread_id="t1")
    found = hand(reading.threads)
    assert [(thread.thread_id, thread.messages) for thread in found] == [("t1", 3), ("t3", 4), ("t2", 3), ("t0", 1)]
    assert found[0].last_at == hand.now
    page = hand(reading.threads, limit=2)
    rest = hand(reading.threads, limit=2, before=page[-1].last_seq)
    assert [thread.thread_id for thread in page + rest] == [thread.thread_id for thread in found]
    assert [thread.thread_id for thread in hand(seeing.threads, as_agent("sales"))] == ["t1"]
    assert [thread.thread_id for thread in hand(seeing.threads, as_agent("coder"), limit=2)] == ["t1", "t3"]


@rule("M13")
def test_what_was_sent_is_found_after_one_round_of_the_index(hand: Hand) -> None:
    say(hand, "chief", "coder", "The quick brown fox", subject="Animals")
    say(hand, "chief", ["coder", "ops"], "A slow brown bear")
    assert hand(reading.search, "brown") == []
    assert hand(indexing.index_new) == 2
    assert [message.body for message in hand(reading.search, "brown")] == ["A slow brown bear", "The quick brown fox"]
    assert [message.body for message in hand(reading.search, "QUICK animals")] == ["The quick brown fox"]
    assert hand(reading.search, "quick bear") == []
    assert hand(reading.search, "qui") == []
    assert hand(indexing.index_new) == 0


@rule("M13")
def test_the_index_keeps_up_among_many_other_events(hand: Hand) -> None:
    for number in range(30):
        say(hand, "chief", "coder", f"word{number}")
        hand(handling.close, "coder", taken(hand, "coder").token)
    rounds = 1
    while hand(indexing.index_new, 7) >= 7:
        rounds += 1
    assert all(len(hand(reading.search, f"word{number}")) == 1 for number in range(30))
    assert rounds < 15


WORDS = ("naïve Café", "ÜBER-straße", "foo_bar.baz", "http://example.com/a?b=c", "日本語", "don't", 'say "hi"', "a*b", "NEAR(x)", "50% off", "x'; DROP TABLE messages; --", "🙂 ok", "ﬁne")  # fmt: skip


@rule("M13")
def test_each_word_of_a_text_finds_it_whatever_its_quotes_and_signs(hand: Hand) -> None:
    for text in WORDS:
        say(hand, "chief", "coder", text, thread_id="t1")
    hand(indexing.index_new)
    for text in WORDS:
        assert text in [message.body for message in hand(reading.search, text)], text
        for word in words_of(text):
            assert text in [message.body for message in hand(reading.search, word)], (text, word)
    assert [message.body for message in hand(reading.search, "cafe naive")] == ["naïve Café"]
    assert [message.body for message in hand(reading.search, "example")] == ["http://example.com/a?b=c"]
    for nothing in ("", "  ", "***", '"', "🙂"):
        assert hand(reading.search, nothing) == []


@rule("M13")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(min_size=1, max_size=40))
def test_any_text_can_be_searched_for(hand: Hand, text: str) -> None:
    if "\0" in text or not text.strip():
        return
    ident = say(hand, "chief", "coder", text).message_id
    hand(indexing.index_new)
    found = [message.message_id for message in hand(reading.search, text, limit=1000)]
    assert (ident in found) == bool(words_of(text))


@rule("M13")
def test_long_words_and_long_texts_are_found_too(hand: Hand) -> None:
    word = "x" * 5000
    text = " ".join(f"w{number}" for number in range(20_000)) + f" {word}"
    ident = say(hand, "chief", "coder", text).message_id
    hand(indexing.index_new)
    for wanted in ("w19999", "w0 w777", word):
        assert [message.message_id for message in hand(reading.search, wanted)] == [ident]


@rule("M13", "M11")
def test_an_agent_sees_and_finds_what_it_sent_or_got(hand: Hand) -> None:
    ident = say(hand, "chief", ["coder", "ops"], "secret plan").message_id
    hand(indexing.index_new)
    assert [message.receiver for message in hand(seeing.search, "secret", THE_OPERATOR)] == ["coder"]
    assert [message.receiver for message in hand(seeing.search, "secret", as_agent("ops"))] == ["ops"]
    assert hand(seeing.search, "secret", as_agent("sales")) == []
    assert [copy.receiver for copy in hand(seeing.show, ident, as_agent("chief"))] == ["coder", "ops"]
    assert [copy.receiver for copy in hand(seeing.show, ident, as_agent("ops"))] == ["ops"]
    with pytest.raises(Forbidden):
        hand(seeing.show, ident, as_agent("sales"))
