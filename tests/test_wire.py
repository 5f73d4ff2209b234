"""Every door's input is decoded in one place: what is wrong is refused and named (M10)."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import Meta

from covey.base import wire
from covey.base.errors import CoveyError, Invalid, TooLarge
from covey.messages.model import Draft
from covey.tasks.model import TaskDraft
from tests.rules import rule

GOOD = '{"to": "coder", "content": {"body": "hello"}}'


def refusal(raw: bytes | str, kind: type[Any] = Draft) -> CoveyError:
    """The error with which it is refused."""
    with pytest.raises(CoveyError) as caught:
        wire.decode(kind, raw)
    return caught.value


def body_of(**content: object) -> str:
    """A message whose content has these fields besides a body."""
    return json.dumps({"to": "coder", "content": {"body": "hello"} | content})


@rule("M1", "M10")
def test_the_seeds_message_is_read_field_by_field() -> None:
    raw = """{"messageId": "msg_12345", "from": "chief", "to": "coder", "type": "task", "priority": "urgent", "timestamp": 1703275200,
      "content": {"subject": "Code review required", "body": "Please review", "data": {}, "requiresResponse": true, "deadline": 1703278800},
      "context": {"threadId": "thread_123", "projectId": "project_a", "relatedTasks": ["task_123"]}}"""
    draft = wire.decode(Draft, raw)
    assert (draft.message_id, draft.from_, draft.to, draft.type, draft.priority) == ("msg_12345", "chief", "coder", "task", "urgent")
    assert (draft.content.subject, draft.content.requires_response, draft.content.deadline) == ("Code review required", True, 1703278800)
    assert (draft.context.thread_id, draft.context.project_id, draft.context.related_tasks) == ("thread_123", "project_a", ["task_123"])


@rule("K1")
def test_the_seeds_task_is_read_with_all_its_fields() -> None:
    raw = """{"taskId": "task_124", "description": "Schedule team sync", "priority": "medium", "dependencies": ["task_123"],
      "createdBy": "ops", "createdAt": 1703271600}"""
    draft = wire.decode(TaskDraft, raw)
    assert (draft.task_id, draft.description, draft.dependencies, draft.created_by) == (
        "task_124",
        "Schedule team sync",
        ["task_123"],
        "ops",
    )


@rule("M10")
@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ('{"to": "coder"}', "content"),
        ('{"to": "coder", "content": {}}', "content.body"),
        ('{"to": "coder", "content": {"body": 1}}', "content.body"),
        ('{"to": "coder", "content": {"body": null}}', "content.body"),
        ('{"to": "coder", "content": {"body": "x", "subject": null}}', "content.subject"),
        ('{"to": "coder", "content": {"body": "x", "requiresResponse": 1}}', "content.requiresResponse"),
        ('{"to": "coder", "content": {"body": "x", "requiresResponse": "true"}}', "content.requiresResponse"),
        ('{"to": "coder", "content": {"body": "x", "deadline": true}}', "content.deadline"),
        ('{"to": "coder", "content": {"body": "x", "deadline": "soon"}}', "content.deadline"),
        ('{"to": "coder", "content": {"body": "x", "data": []}}', "content.data"),
        ('{"to": "coder", "content": {"body": "x", "colour": "red"}}', "content.colour"),
        ('{"to": "coder", "content": "hello"}', "content"),
        ('{"to": 5, "content": {"body": "x"}}', "to"),
        ('{"to": ["coder", 5], "content": {"body": "x"}}', "to[1]"),
        ('{"to": "coder", "content": {"body": "x"}, "priority": true}', "priority"),
        ('{"to": "coder", "content": {"body": "x"}, "priority": 1.5}', "priority"),
        ('{"to": "coder", "content": {"body": "x"}, "timestamp": "now"}', "timestamp"),
        ('{"to": "coder", "content": {"body": "x"}, "context": {"relatedTasks": "task_1"}}', "context.relatedTasks"),
        ('{"to": "coder", "content": {"body": "x"}, "nonsense": 1}', "nonsense"),
        ('{"to": "coder", "content": {"body": "x", "deadline": NaN}}', "content.deadline"),
        ('{"to": "coder", "content": {"body": "x", "data": {"a": [1, Infinity]}}}', "content.data.a[1]"),
        ('{"to": "coder", "content": {"body": "x", "data": {"a": -Infinity}}}', "content.data.a"),
        ('{"to": "coder", "content": {"body": "x", "data": {"a": 1e999}}}', "content.data.a"),
        ('{"to": "coder", "content": {"body": "x", "body": "y"}}', "content.body"),
        ('{"to": "coder", "to": "ops", "content": {"body": "x"}}', "to"),
        ('{"to": "coder", "content": {"body": "x", "data": {"a": {"b": 1, "b": 1}}}}', "content.data.a.b"),
        ('{"to": "coder", "content": {"body": "\\ud800"}}', "content.body"),
        ('{"to": "coder", "content": {"body": "x", "data": {"a": ["\\udfff"]}}}', "content.data.a[0]"),
        ('{"to": "coder", "content": {"body": "x", "data": {"\\ud800": 1}}}', "content.data"),
        ('{"to": "coder", "content": {"body": "a\\u0000b"}}', "content.body"),
        ("[]", ""),
        ("7", ""),
        ("null", ""),
    ],
)
def test_a_wrong_message_is_refused_by_the_name_of_the_field(raw: str, field: str) -> None:
    error = refusal(raw)
    assert isinstance(error, Invalid)
    assert error.field == field
    problem = error.problem()
    assert (problem["status"], problem["code"], problem["field"]) == (400, "invalid", field)
    assert (field.rsplit(".", maxsplit=1)[-1] or "request") in error.message


@rule("M10", "K1")
@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ("{}", "description"),
        ('{"description": 1}', "description"),
        ('{"description": "x", "maxAttempts": true}', "maxAttempts"),
        ('{"description": "x", "maxAttempts": "3"}', "maxAttempts"),
        ('{"description": "x", "approval": 1}', "approval"),
        ('{"description": "x", "dependencies": [null]}', "dependencies[0]"),
        ('{"description": "x", "estimatedSeconds": NaN}', "estimatedSeconds"),
        ('{"description": "x", "state": "done"}', "state"),
        ('{"description": "x", "schedule": {"hourly": true}}', "schedule.hourly"),
    ],
)
def test_a_wrong_task_is_refused_by_the_name_of_the_field(raw: str, field: str) -> None:
    error = refusal(raw, TaskDraft)
    assert isinstance(error, Invalid)
    assert error.field == field


class Asked(msgspec.Struct, rename="camel"):
    """What has words to choose from, at several depths."""

    state: Literal["open", "done"] | None = None
    kinds: list[Literal["mail", "task"]] = []
    limits: dict[str, Literal["on", "off"]] = {}
    below: Asked | None = None
    last_seen: Annotated[str, Meta(pattern="^[0-9]+$", description="a cursor that was given")] | None = None
    plain: Annotated[str, Meta(pattern="^[a-z]+$")] = "a"


@rule("M10")
@pytest.mark.parametrize(
    ("raw", "field", "said"),
    [
        ('{"state": "gone"}', "state", "invalid enum value 'gone'; it may be done, open."),
        ('{"kinds": ["task", "call"]}', "kinds[1]", "it may be mail, task."),
        ('{"limits": {"a": "no"}}', "limits[...]", "it may be off, on."),
        ('{"below": {"state": "gone"}}', "below.state", "it may be done, open."),
        ('{"lastSeen": "x"}', "lastSeen", "not of the right form; it is a cursor that was given."),
        ('{"plain": "7"}', "plain", "matching regex '^[a-z]+$'."),
    ],
)
def test_a_wrong_word_is_refused_with_those_that_may_be_given(raw: str, field: str, said: str) -> None:
    error = refusal(raw, Asked)
    assert error.field == field
    assert said in error.message


@rule("M10")
@pytest.mark.parametrize(
    "raw",
    [
        b"\xff\xfe",
        b'{"to": "co\xc3\x28der"}',
        b"\xef\xbb\xbf{}",
        b"",
        b"{",
        b'{"a": }',
        b"{'a': 1}",
        b'{"a": 1,}',
        b'{"a": 01}',
        b'{"n": ' + b"9" * 5000 + b"}",
    ],
    ids=["bytes", "utf-8", "bom", "empty", "half", "no value", "quotes", "comma", "octal", "digits"],
)
def test_what_is_no_json_is_refused(raw: bytes) -> None:
    assert isinstance(refusal(raw), Invalid)


@rule("M10")
def test_a_lone_surrogate_that_is_written_out_is_refused_and_a_pair_is_not() -> None:
    assert refusal(body_of(subject="\ud83d")).field == "content.subject"
    assert wire.decode(Draft, body_of(subject="\U0001f600")).content.subject == "\U0001f600"


@rule("M10")
def test_a_request_may_be_a_mebibyte_and_not_a_byte_more() -> None:
    filler = " " * (wire.REQUEST_BYTES - len(GOOD))
    assert wire.decode(Draft, GOOD + filler).to == "coder"
    assert isinstance(refusal(GOOD + filler + " "), TooLarge)


@rule("M10")
@pytest.mark.parametrize("depth", [wire.DEPTH, 5_000, 300_000])
def test_what_nests_too_deeply_is_refused_however_deep(depth: int) -> None:
    assert isinstance(refusal('{"content": {"body": "x", "data": {"a": ' + "[" * depth + "]" * depth + "}}}"), Invalid)


def test_a_nest_within_the_bound_is_taken() -> None:
    depth = wire.DEPTH - 4
    draft = wire.decode(Draft, '{"content": {"body": "x", "data": {"a": ' + "[" * depth + "]" * depth + "}}}")
    assert draft.content.data["a"] == json.loads("[" * depth + "]" * depth)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@rule("M10")
@given(JSON)
@example({"a": "\x00"})
def test_what_is_taken_comes_out_as_it_went_in(value: Any) -> None:
    try:
        assert wire.parse(json.dumps(value)) == value
    except Invalid:
        assert "\0" in json.dumps(value, ensure_ascii=False).replace("\\u0000", "\0")


@rule("M10")
@given(st.binary(max_size=200) | st.text(max_size=200))
def test_whatever_comes_in_is_a_value_or_a_named_refusal(raw: bytes | str) -> None:
    refused: CoveyError | None = None
    try:
        wire.decode(Draft, raw)
    except CoveyError as error:
        refused = error
    assert refused is None or refused.field is not None


@given(st.text(st.characters(exclude_categories=[])), st.integers(0, 40))
@example("\ud800\0é", 3)
def test_a_text_made_fit_can_be_stored_and_keeps_its_beginning(text: str, size: int) -> None:
    found = wire.fit(text, size)
    raw = found.encode()
    assert len(raw) <= max(size, len(found) * 4 if len(text) * 4 <= size else size)
    assert "\0" not in found
    whole = "".join("\ufffd" if char == "\0" or "\ud800" <= char <= "\udfff" else char for char in text)
    assert whole.startswith(found)
    assert found == whole or len(raw) > size - 4
