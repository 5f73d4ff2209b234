"""Events as lines of a story."""

from __future__ import annotations

from typing import Any

import pytest

from covey.console.sentences import sentence_of
from covey.console.story import lines_of, subject_of, words_of
from covey.store.events import Event


def event(**words: Any) -> Event:
    base: dict[str, Any] = dict.fromkeys(Event._fields)
    return Event(**(base | {"at": 0.0, "kind": "vote.cast", "agent": "coder", "subject": "vote_1", "data": {}} | words))


def test_a_line_says_who_and_about_what_but_not_what_the_whole_story_is_about() -> None:
    (line,) = lines_of([event()])
    assert ('href="/agents/coder"' in line.agent, 'href="/votes/vote_1"' in line.subject) == (True, True)
    (line,) = lines_of([event()], "vote_1")
    assert ('href="/agents/coder"' in line.agent, line.subject) == (True, "")
    (line,) = lines_of([event()], "coder")
    assert (line.agent, 'href="/votes/vote_1"' in line.subject) == ("", True)


@pytest.mark.parametrize(
    ("ident", "href"),
    [
        ("handoff_1", "/handoffs/handoff_1"),
        ("inc_1", "/incidents/inc_1"),
        ("task_1", "/tasks/task_1"),
        ("team_1", "/teams/team_1"),
        ("thread_1", "/threads/thread_1"),
        ("vote_1", "/votes/vote_1"),
    ],
)
def test_an_id_leads_to_its_page(ident: str, href: str) -> None:
    assert f'href="{href}"' in subject_of(ident)


def test_hostile_ids_are_no_markup() -> None:
    assert "<b>" not in subject_of("vote_<b>")
    assert not hasattr(subject_of("<b>"), "__html__")


def test_moments_are_said_as_times_and_other_numbers_as_numbers() -> None:
    assert words_of({"until": 1796006643.637, "took_s": 2.5, "n": 1796006643, "far": 1e18}) == (
        "until 2026-11-30 02:44:03 UTC, took_s 2.5, n 1796006643, far 1000000000000000000"
    )


@pytest.mark.parametrize(
    ("kind", "data", "said"),
    [
        ("message.sent", {"to": {"devops": "delivered"}, "trace": "00-1", "head": "Is it up?"}, "sent to devops: delivered – “Is it up?”"),
        ("task.done", {"took_s": 0.058}, "done in 58 ms"),
        ("task.retried", {"attempt": 2, "again_in_s": 5.0, "error": "it broke"}, "retried, attempt 2, tried again in 5.00 s – it broke"),
        (
            "task.added",
            {"by": "operator", "queue": "coder", "needs": [], "priority": "high"},
            "added by operator in the queue coder, high priority",
        ),
        ("run.priced", {"run": "run_1", "usd": 0.041, "tokens": 1098}, "priced, $0.041, 1,098 tokens"),
        ("node.moved", {"newField": {"a": 1}, "other_field": [1, 2]}, "moved, new field a: 1, other field 1 2"),
        ("team.step", {"step": 1, "state": "done"}, "step 1, done"),
        ("task.claimed", {"attempt": 1, "run": "run_1"}, ""),
        ("vote.cast", {"run": "run_1", "revised": False}, ""),
        ("task.done", {"took_s": "soon", "tokens": "many", "contextShare": None}, "done in soon, many"),
    ],
)
def test_an_event_is_a_short_sentence(kind: str, data: dict[str, Any], said: str) -> None:
    assert sentence_of(event(kind=kind, data=data)) == said


def test_a_sentence_is_capped_in_each_of_its_parts() -> None:
    said = sentence_of(event(data={"x" * 9000: "y" * 9000, "to": {"z" * 9000: ["\u202e" * 9000] * 9000}}))
    assert len(said) < 3000
    assert "\u202e" not in said
