"""Ids, URLs and paths are found in a text word for word, and a summary that has lost one is known (C2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.contexts import summarising
from covey.contexts.model import Entry
from covey.contexts.references import missing, references
from tests.rules import rule

FOUND = {
    "see https://x.org/a?b=1#c, (http://y.z/q).": ["https://x.org/a?b=1#c", "http://y.z/q"],
    "task_01ab and msg_9.1; ABC-123": ["task_01ab", "msg_9.1", "ABC-123"],
    "in dm:chief:coder it says": ["dm:chief:coder"],
    "src/covey/a.py /var/log/x.log ./run.sh ~/x/y docs/": ["src/covey/a.py", "/var/log/x.log", "./run.sh", "~/x/y"],
    "report.pdf, table.csv": ["report.pdf", "table.csv"],
    "build 3f9ac2b1d of #42, order 1234567": ["3f9ac2b1d", "#42", "1234567"],
    "01890a5d-ac96-774b-bcce-b302099a8057": ["01890a5d-ac96-774b-bcce-b302099a8057"],
    "C:\\Users\\x\\y.txt": ["C:\\Users\\x\\y.txt"],
    "结果在 /srv/a/b.md，详情 https://e.org/x?id=42。": ["/srv/a/b.md", "https://e.org/x?id=42"],
    "an and/or a well-known plain word": [],
}


@rule("C2")
@pytest.mark.parametrize("text", FOUND, ids=range(len(FOUND)))
def test_references_are_found_word_for_word(text: str) -> None:
    assert [word for word in FOUND[text] if word not in references(text)] == []
    if not FOUND[text]:
        assert references(text) == []


def test_a_longer_id_does_not_stand_for_a_shorter_one() -> None:
    assert missing(["task_1"], "task_12 is done") == ["task_1"]
    assert missing(["task_1"], "(task_1) is done.") == []
    assert missing(["/srv/a"], "look into /srv/a/b.md") == ["/srv/a"]


WORD = st.sampled_from(
    [
        *(
            "task_12",
            "task_1",
            "msg_0189",
            "https://e.org/x?id=4",
            "/srv/a/b.md",
            "/srv/a",
            "src/x.py",
            "ABC-7",
            "#42",
            "3f9ac2b1d",
            "1234567",
        ),
        *("we", "decided", "that", "the", "next", "step.", "is", "open", "?", "done!", "\n", "一二三", "café", "x" * 90),
    ]
)
TEXT = st.lists(WORD, max_size=120).map(" ".join) | st.text(max_size=300)
ENTRY = st.builds(
    Entry,
    id=st.just("entry_1"),
    kind=st.sampled_from(["message", "decision", "result", "note"]),
    text=TEXT,
    source=st.sampled_from([None, "task_7", "ops: msg_9", "a b"]),
    tokens=st.just(10),
    at=st.floats(1.7e9, 1.9e9),
)


@rule("C2")
@given(st.lists(ENTRY, min_size=1, max_size=8))
def test_a_summary_by_extraction_loses_no_reference(entries: list[Entry]) -> None:
    found = summarising.extracts(entries)
    text = summarising.summary_of(found, "entry_9")
    assert summarising.lost(found, text) == []
    assert "entry_9" in text, "the pointer to what it stands for"


@rule("C4")
@given(st.lists(ENTRY, min_size=1, max_size=5))
def test_a_summary_by_extraction_is_always_the_same(entries: list[Entry]) -> None:
    assert summarising.summary_of(summarising.extracts(entries), "e") == summarising.summary_of(summarising.extracts(entries), "e")


@rule("C2")
def test_a_summary_keeps_who_spoke_what_was_decided_what_is_open_and_what_comes_next() -> None:
    talk = "It rained all day and the office was quiet. " * 12
    text = f"chief: About the release. {talk}We decided to ship build 12 on Friday. {talk}Open: who tells sales? {talk}Next, coder runs the tests."
    told = summarising.summary_of(summarising.extracts([Entry("e", "message", text, "msg_1", 900, 1.8e9)]), "entry_s")
    for kept in (
        "chief: About the release.",
        "We decided to ship build 12 on Friday.",
        "Open: who tells sales?",
        "Next, coder runs the tests.",
        "msg_1",
    ):
        assert kept in told
    assert "rained" not in told
    assert len(told) < len(text) / 3


def test_a_decision_stays_whole() -> None:
    text = "Use the store's own clock for leases, because machines disagree; see docs/clock.md. " * 3
    told = summarising.summary_of(summarising.extracts([Entry("e", "decision", text, None, 90, 1.8e9)]), "s")
    assert " ".join(text.split()) in told


@rule("C2")
def test_a_summary_that_drops_an_id_is_known() -> None:
    found = summarising.extracts([Entry("e", "note", "task_1 and /srv/x are done", "msg_2", 9, 1.8e9)])
    assert summarising.lost(found, "all done: task_1 /srv/x") == ["msg_2"]
    assert summarising.lost(found, "all done: msg_2 task_12 /srv/x/y") == ["task_1", "/srv/x"]
