"""Each bound and type error at the HTTP doors gives a problem that names the field, and nothing is stored (M10)."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.messages import reading
from covey.tasks import reading as tasks
from tests.api.world import World, bearer, problem_of
from tests.rules import rule

HEADERS = {"Content-Type": "application/json", **bearer("operator")}
FULL = {"content": {"body": "x"}}


def message(**content: Any) -> bytes:
    return json.dumps({"content": {"body": "x"} | content}).encode()


def top(**fields: Any) -> bytes:
    return json.dumps(FULL | fields).encode()


WRONG_MESSAGES: list[tuple[str, bytes, int, str, str]] = [
    ("nothing at all", b"", 400, "invalid", ""),
    ("no JSON", b"{", 400, "invalid", ""),
    ("not an object", b"[]", 400, "invalid", ""),
    ("not UTF-8", b'{"content": {"body": "\xff"}}', 400, "invalid", ""),
    ("a lone surrogate", b'{"content": {"body": "\\ud800"}}', 400, "invalid", "content.body"),
    ("a lone surrogate as a key", b'{"content": {"body": "x", "data": {"\\udc00": 1}}}', 400, "invalid", "content.data"),
    ("a NUL", b'{"content": {"body": "a\\u0000b"}}', 400, "invalid", "content.body"),
    ("NaN", b'{"content": {"body": "x", "deadline": NaN}}', 400, "invalid", "content.deadline"),
    ("Infinity", b'{"content": {"body": "x", "data": {"a": Infinity}}}', 400, "invalid", "content.data.a"),
    ("a number past the floats", b'{"content": {"body": "x", "deadline": 1e999}}', 400, "invalid", "content.deadline"),
    ("such a number in data", b'{"content": {"body": "x", "data": {"a": 1e999}}}', 400, "invalid", "content.data.a"),
    ("a number of 5,000 digits", b'{"content": {"body": "x"}, "priority": ' + b"1" * 5000 + b"}", 400, "invalid", ""),
    ("a duplicate key", b'{"content": {"body": "x"}, "type": "task", "type": "task"}', 400, "invalid", "type"),
    ("a duplicate key deep in data", b'{"content": {"body": "x", "data": {"a": {"b": 1, "b": 2}}}}', 400, "invalid", "content.data.a.b"),
    ("endless nesting", b'{"content": {"body": "x", "data": ' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}}", 400, "invalid", ""),
    ("an unknown field", top(colour="red"), 400, "invalid", "colour"),
    ("an unknown field of content", message(colour="red"), 400, "invalid", "content.colour"),
    ("an unknown field of context", top(context={"colour": "red"}), 400, "invalid", "context.colour"),
    ("no content", b"{}", 400, "invalid", "content"),
    ("no body", b'{"content": {}}', 400, "invalid", "content.body"),
    ("an empty body", message(body="  \n"), 400, "invalid", "content.body"),
    ("a body that is no text", message(body=7), 400, "invalid", "content.body"),
    ("a body over 256 KiB", message(body="x" * (256 * 1024 + 1)), 413, "too-large", "content.body"),
    ("a body over 256 KiB in UTF-8", message(body="€" * 90_000), 413, "too-large", "content.body"),
    ("a subject over 500 characters", message(subject="x" * 501), 413, "too-large", "content.subject"),
    ("data over 64 KiB", message(data={"a": "x" * 65_536}), 413, "too-large", "content.data"),
    ("data that is no object", message(data=[1]), 400, "invalid", "content.data"),
    ("a deadline as text", message(deadline="soon"), 400, "invalid", "content.deadline"),
    ("a deadline in the past", message(requiresResponse=True, deadline=1.0), 400, "invalid", "content.deadline"),
    ("requiresResponse as a number", message(requiresResponse=1), 400, "invalid", "content.requiresResponse"),
    ("an unknown type", top(type="shout"), 400, "invalid", "type"),
    ("an unknown priority", top(priority="asap"), 400, "invalid", "priority"),
    ("a priority that is no whole number", top(priority=1.5), 400, "invalid", "priority"),
    ("an id with a slash", top(messageId="a/b"), 400, "invalid", "messageId"),
    ("an id of 129 characters", top(messageId="a" * 129), 400, "invalid", "messageId"),
    ("an empty id", top(messageId=""), 400, "invalid", "messageId"),
    ("a threadId with a space", top(context={"threadId": "a b"}), 400, "invalid", "context.threadId"),
    ("relatedTasks that are no list", top(context={"relatedTasks": "t1"}), 400, "invalid", "context.relatedTasks"),
    ("a chain of one's own", top(visited=["chief"]), 400, "invalid", "visited"),
    ("a reply to nothing", top(inReplyTo="msg_none"), 404, "not_found", "inReplyTo"),
    ("an expiry in the past", top(expiresAt=5), 400, "invalid", "expiresAt"),
    ("a timestamp as text", top(timestamp="now"), 400, "invalid", "timestamp"),
    ("the seed's port as receiver", top(to=8002), 400, "invalid", "to"),
]  # fmt: skip


@rule("M10")
@pytest.mark.parametrize(("what", "body", "status", "code", "field"), WRONG_MESSAGES, ids=[each[0] for each in WRONG_MESSAGES])
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_a_wrong_message_is_refused_by_its_field_at_both_doors(
    world: World, what: str, body: bytes, status: int, code: str, field: str
) -> None:
    for client, path in ((world.agent, "/message"), (world.fleet, "/api/v1/messages")):
        answer = await client.post(path, content=body, headers=HEADERS)
        problem = problem_of(answer)
        assert (answer.status_code, problem["code"]) == (status, code), problem
        assert problem["field"] == field, problem
    assert await world.store.read(reading.latest) == []


@rule("M10")
async def test_what_is_within_its_bounds_is_taken_whole(world: World) -> None:
    body = "€" * (256 * 1024 // 3)
    content = {"body": body, "subject": "s" * 500, "data": {"a": "x" * (65_536 - 8)}}
    answer = await world.agent.post("/message", json={"content": content}, headers=bearer("operator"))
    assert answer.status_code == 201, answer.text
    (message,) = await world.store.read(reading.latest)
    assert (message.body, message.content["subject"], message.content["data"]) == (body, content["subject"], content["data"])


def task(**fields: Any) -> bytes:
    return json.dumps({"description": "x"} | fields).encode()


WRONG_TASKS: list[tuple[str, bytes, int, str, str]] = [
    ("no description", b"{}", 400, "invalid", "description"),
    ("an empty description", task(description=" "), 400, "invalid", "description"),
    ("a description over 256 KiB", task(description="x" * (256 * 1024 + 1)), 413, "too-large", "description"),
    ("an unknown field", task(colour="red"), 400, "invalid", "colour"),
    ("dependencies that are no list", task(dependencies="t"), 400, "invalid", "dependencies"),
    ("101 dependencies", task(dependencies=[f"t{n}" for n in range(101)]), 400, "invalid", "dependencies"),
    ("a dependency that is not there", task(dependencies=["t1"]), 404, "not_found", "dependencies"),
    ("an estimate of nothing", task(estimatedSeconds=0), 400, "invalid", "estimatedSeconds"),
    ("an endless estimate", b'{"description": "x", "estimatedSeconds": 1e999}', 400, "invalid", "estimatedSeconds"),
    ("no attempts", task(maxAttempts=0), 400, "invalid", "maxAttempts"),
    ("a deadline in the past", task(deadline=3.0), 400, "invalid", "deadline"),
    ("an id with a slash", task(taskId="a/b"), 400, "invalid", "taskId"),
    ("data over 64 KiB", task(data={"a": "x" * 65_536}), 413, "too-large", "data"),
    ("approval as text", task(approval="yes"), 400, "invalid", "approval"),
]  # fmt: skip


@rule("M10", "K1")
@pytest.mark.parametrize(("what", "body", "status", "code", "field"), WRONG_TASKS, ids=[each[0] for each in WRONG_TASKS])
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_a_wrong_task_is_refused_by_its_field_at_both_doors(
    world: World, what: str, body: bytes, status: int, code: str, field: str
) -> None:
    for client, path in ((world.agent, "/task"), (world.fleet, "/api/v1/tasks")):
        answer = await client.post(path, content=body, headers=HEADERS)
        problem = problem_of(answer)
        assert (answer.status_code, problem["code"], problem["field"]) == (status, code, field), problem
    assert (await world.store.read(tasks.listed)).items == []


@rule("M10")
@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/buddy-check", {"checkId": "a b"}, "checkId"),
        ("/buddy-check", {"timestamp": -1}, "timestamp"),
        ("/buddy-check", {"who": 1}, "who"),
        ("/context-sync", {"entries": [{"id": "e1", "text": ""}]}, "entries[0].text"),
        ("/context-sync", {"entries": [{"id": "e 1", "text": "x"}]}, "entries[0].id"),
        ("/context-sync", {"entries": [{"id": "e1", "text": "x", "kind": "rumour"}]}, "entries[0].kind"),
        ("/context-sync", {"entries": [{"id": f"e{n}", "text": "x"} for n in range(101)]}, "entries"),
        ("/emergency-stop", {"grace_s": -1}, "grace_s"),
        ("/emergency-stop", {"grace_s": 61}, "grace_s"),
        ("/emergency-stop", {"graceS": 1}, "graceS"),
        ("/emergency-stop", {"reason": "x" * 2001}, "reason"),
        ("/emergency-stop", {"restart": "yes"}, "restart"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_a_wrong_body_of_the_other_endpoints_names_its_field(world: World, path: str, body: dict[str, Any], field: str) -> None:
    answer = await world.agent.post(path, json=body, headers=bearer("operator"))
    assert (answer.status_code, problem_of(answer)["field"]) == (400, field)
    assert world.process.stops == []


@rule("M10")
@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/api/v1/tasks?limit=0", "limit"),
        ("/api/v1/tasks?limit=201", "limit"),
        ("/api/v1/tasks?limit=ten", "limit"),
        ("/api/v1/tasks?state=lost", "state"),
        ("/api/v1/tasks?cursor=-1", "cursor"),
        ("/api/v1/tasks?cursor=99999999999999999999999999", "cursor"),
        ("/api/v1/tasks?colour=red", "colour"),
        ("/api/v1/tasks?limit=1&limit=2", "limit"),
        ("/api/v1/tasks?agent=a%00b", "agent"),
        ("/api/v1/tasks?agent=%ff", "query"),
        ("/api/v1/tasks?" + "&".join(f"a{n}=1" for n in range(51)), "query"),
        ("/api/v1/tasks/a%20b", "id"),
        ("/api/v1/tasks/" + "a" * 129, "id"),
        ("/api/v1/tasks/x%00", "id"),
        ("/api/v1/agents/operator/inbox?unread=perhaps", "unread"),
        ("/api/v1/search", "q"),
        ("/api/v1/search?q=" + "a" * 501, "q"),
        ("/api/v1/events?since=yesterday", "since"),
        ("/api/v1/events?since=" + "9" * 40, "since"),
        ("/api/v1/events?kinds=<b>", "kinds"),
        ("/api/v1/messages/m1/replies?wait=301", "wait"),
        ("/api/v1/messages/m1/replies?wait=nan", "wait"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_a_wrong_query_or_path_names_its_part(world: World, path: str, field: str) -> None:
    answer = await world.fleet.get(path, headers=bearer("operator"))
    assert (answer.status_code, problem_of(answer)["field"]) == (400, field)


@rule("M10")
@pytest.mark.parametrize(
    "media", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx", ""]
)
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_a_body_of_another_type_is_refused(world: World, media: str) -> None:
    answer = await world.agent.post("/message", content=message(), headers={"Content-Type": media, **bearer("operator")})
    assert (answer.status_code, problem_of(answer)["code"]) == (415, "unsupported_media_type")
    assert await world.store.read(reading.latest) == []


@pytest.mark.parametrize("media", ["application/json", "Application/JSON; charset=utf-8"])
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_json_is_json_however_it_is_spelt(world: World, media: str) -> None:
    answer = await world.agent.post("/message", content=message(), headers={"Content-Type": media, **bearer("operator")})
    assert answer.status_code == 201


@rule("M10")
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_a_request_over_a_mebibyte_is_refused_while_it_is_read(world: World) -> None:
    for chunks in ([b" " * (1024 * 1024 + 1)], [b" " * 300_000] * 4):
        sent = iter(chunks)

        async def stream(sent: Any = sent) -> Any:
            for chunk in sent:
                yield chunk

        answer = await world.agent.post("/message", content=stream(), headers=HEADERS)
        assert (answer.status_code, problem_of(answer)["code"]) == (413, "too-large")
        assert answer.headers["connection"] == "close"


async def test_what_is_not_there_and_what_is_not_done_there_are_problems_too(world: World) -> None:
    missing = await world.fleet.get("/api/v1/nothing", headers=bearer("operator"))
    assert (missing.status_code, problem_of(missing)["code"]) == (404, "not_found")
    wrong = await world.fleet.delete("/api/v1/tasks", headers=bearer("operator"))
    assert (wrong.status_code, problem_of(wrong)["code"]) == (405, "method_not_allowed")
    assert wrong.headers["allow"] == "GET, HEAD, POST"
    unknown = await world.fleet.post("/api/v1/messages", json={"to": "codr", "content": {"body": "x"}}, headers=bearer("operator"))
    assert (unknown.status_code, problem_of(unknown)["nearest"][0]) == (404, "coder")


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
FIELDS = [
    "content",
    "to",
    "messageId",
    "from",
    "type",
    "priority",
    "timestamp",
    "context",
    "inReplyTo",
    "visited",
    "expiresAt",
    "traceparent",
]
INNER = ["body", "subject", "data", "requiresResponse", "deadline", "threadId", "projectId", "relatedTasks"]
ANY_DRAFT = st.dictionaries(
    st.sampled_from(FIELDS) | st.text(max_size=5),
    JSON_VALUES | st.dictionaries(st.sampled_from(INNER) | st.text(max_size=5), JSON_VALUES, max_size=5),
    max_size=6,
).map(lambda found: json.dumps(found).encode())


@rule("M10")
@pytest.mark.parametrize("database", ["sqlite", "postgres"], indirect=True)
@given(body=ANY_DRAFT | st.binary(max_size=200))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_whatever_is_posted_is_taken_or_refused_as_a_problem(world: World, body: bytes) -> None:
    answer: httpx.Response = await world.agent.post("/message", content=body, headers=HEADERS)
    if answer.status_code in (201, 202):
        assert answer.json()["outcomes"].keys() == {"coder"}
    else:
        assert problem_of(answer)["status"] in (400, 403, 404, 409, 413), answer.text
