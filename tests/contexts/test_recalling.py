"""What was archived is found again by its words, its time or an id; a checkpoint says where an agent stood (C5)."""

from __future__ import annotations

import pytest

from covey.base.errors import NotFound, Unknown
from covey.contexts import checkpoints, entries, recalling, sessions
from covey.contexts.compressing import tidy
from covey.contexts.indexing import index_archived
from covey.contexts.model import HOT_S, WARM_S
from covey.store import events
from tests.contexts.test_compressing import fill, happened
from tests.inline import Hand
from tests.rules import rule


def archived(hand: Hand, *texts: str, agent: str = "coder") -> list[str]:
    """Things remembered, grown old, and indexed; their ids."""
    ids = [hand(entries.remember, agent, "note", text, source=f"task_{place}") for place, text in enumerate(texts)]
    hand.clock.at += WARM_S + HOT_S
    hand(tidy, agent, 8192)
    while hand(index_archived):
        pass
    return ids


def found(hand: Hand, agent: str = "coder", **asked: object) -> list[str]:
    """The ids that a recall finds."""
    return [each.id for each in hand(recalling.recall, agent, **asked).items]  # type: ignore[arg-type]


@rule("C5")
def test_an_archived_entry_is_found_by_all_its_words(hand: Hand) -> None:
    first, second = archived(hand, "The Élan release went out to Lisbon", "The release of Porto waits")
    archived(hand, "The release of ops", agent="ops")
    assert found(hand, text="release") == [second, first]
    assert found(hand, text="elan LISBON") == [first]
    assert found(hand, text="release nowhere") == []
    assert found(hand, text="!?") == []
    assert found(hand, text='"release" OR (porto*') == [], "words alone, no query language"
    (one,) = hand(recalling.recall, "coder", text="lisbon").items
    assert one.text == "The Élan release went out to Lisbon"


@rule("C5")
def test_words_in_another_agents_archive_are_not_found(hand: Hand) -> None:
    archived(hand, "a secret of ops", agent="ops")
    assert found(hand, text="secret") == []
    assert found(hand, text="@ops") == []


@rule("C5")
def test_an_entry_is_found_by_what_it_came_from(hand: Hand) -> None:
    first, _ = archived(hand, "one thing", "another thing")
    assert found(hand, ident=first) == [first]
    assert found(hand, ident="task_0") == [first]
    assert found(hand, text="task_0") == [first]
    with pytest.raises(NotFound):
        hand(recalling.recall, "coder", ident="task_99")
    with pytest.raises(NotFound):
        hand(recalling.recall, "ops", ident=first)
    with pytest.raises(Unknown):
        hand(recalling.recall, "nobody", text="thing")


@rule("C5")
def test_entries_are_found_by_their_time(hand: Hand) -> None:
    start = hand.now
    (early,) = archived(hand, "early words")
    (late,) = archived(hand, "late words")
    assert found(hand) == [late, early]
    assert found(hand, until=start + 60) == [early]
    assert found(hand, since=start + 60) == [late]
    assert found(hand, text="words", since=start + 60) == [late]


def test_a_recall_goes_on_from_its_cursor(hand: Hand) -> None:
    ids = archived(hand, *(f"word number {number}" for number in range(7)))
    for asked in ({"text": "word"}, {}):
        seen: list[str] = []
        cursor = None
        while True:
            page = hand(recalling.recall, "coder", limit=3, cursor=cursor, **asked)  # type: ignore[arg-type]
            seen += [each.id for each in page.items]
            cursor = page.cursor
            if cursor is None:
                break
        assert sorted(seen) == sorted(ids)


def test_what_is_live_is_not_indexed_and_what_is_indexed_once_is_not_again(hand: Hand) -> None:
    fill(hand, 3)
    assert hand(index_archived) == 0
    archived(hand, "a word")
    assert hand(index_archived) == 0


@rule("C5")
def test_a_checkpoint_says_what_was_handled_last(hand: Hand) -> None:
    assert hand(checkpoints.load, "coder") is None
    assert hand(checkpoints.restore, "coder") is None, "nothing to begin from"
    hand(entries.remember, "coder", "decision", "Tests come first")
    for item in ("msg_1", "task_2"):
        hand(checkpoints.save, "coder", item=item, outcome="done", summary=f"did {item}", run_id="run_1")
    point = hand(checkpoints.load, "coder")
    assert point is not None
    assert (point.item, point.outcome, point.summary, point.run_id) == ("task_2", "done", "did task_2", "run_1")
    assert point.size == hand(entries.size_of, "coder")
    told = hand(checkpoints.told, "coder")
    for word in ("Identity: coder", "task_2 (done): did task_2", "Tests come first"):
        assert word in told


@rule("C5", "C5a")
def test_a_restart_begins_a_session_afresh_from_the_checkpoint(hand: Hand) -> None:
    hand(checkpoints.save, "coder", item="task_1", outcome="done", summary="did it")
    hand(sessions.used, "coder", 1, None, None)
    assert hand(sessions.current, "coder") == (1, False)
    assert hand(checkpoints.restore, "coder") is not None
    assert hand(sessions.current, "coder") == (2, True)
    assert happened(hand, "context.restored") == 1


@rule("C5a")
@pytest.mark.parametrize(
    ("tokens", "most", "after"),
    [(159, 200, (1, False)), (160, 200, (2, True)), (None, None, (1, False)), (500, None, (1, False)), (0, 0, (1, False))],
)
def test_at_four_fifths_the_next_turn_starts_a_fresh_session(
    hand: Hand, tokens: int | None, most: int | None, after: tuple[int, bool]
) -> None:
    assert hand(sessions.current, "coder") == (1, True)
    hand(sessions.used, "coder", 1, tokens, most)
    assert hand(sessions.current, "coder") == after
    assert happened(hand, "context.session_full") == (after[0] == 2)


@rule("C5a")
def test_what_comes_late_of_an_earlier_session_changes_nothing(hand: Hand) -> None:
    hand(sessions.used, "coder", 1, 190, 200)
    hand(sessions.used, "coder", 1, 195, 200)
    assert hand(sessions.current, "coder") == (2, True)
    assert happened(hand, "context.session_full") == 1
    hand(sessions.used, "coder", 0, 20, 200)
    assert hand(sessions.current, "coder") == (2, False), "one that does not know its session is in the current one"


@rule("C5a")
def test_a_session_that_failed_before_it_began_is_not_taken_for_begun(hand: Hand) -> None:
    hand(sessions.used, "coder", 1, None, None, failed=True)
    assert hand(sessions.current, "coder") == (2, True)
    hand(sessions.used, "coder", 2, None, None)
    hand(sessions.used, "coder", 2, None, None, failed=True)
    assert hand(sessions.current, "coder") == (2, False)


def test_events_of_contexts_are_the_agents(hand: Hand) -> None:
    fill(hand, 40, bound=2000)
    kinds = {event.kind for event in hand(events.of_agent, "coder")}
    assert {"context.compressed", "context.archived"} <= kinds
