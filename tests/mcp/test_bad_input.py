"""What a hostile or broken client sends: each answered by an error that names what is wrong, nothing stored, nobody else's reached."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from mcp.shared.exceptions import MCPError

from covey.messages import reading
from covey.store import Store
from tests.api.world import bearer, until
from tests.mcp.world import World, given, refused
from tests.rules import rule

OLD = "2025-06-18"
NOW = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": NOW, "io.modelcontextprotocol/clientCapabilities": {}}


def call(method: str, ident: Any = 1, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": {**params, "_meta": META}})


def modern(method: str, name: str = "") -> dict[str, str]:
    return {"Mcp-Protocol-Version": NOW, "Mcp-Method": method} | ({"Mcp-Name": name} if name else {})


async def open_session(world: World, name: str = "coder") -> str:
    start = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    answer = await world.post(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start}), name)
    assert answer.status_code == 200
    found: str = answer.headers["mcp-session-id"]
    return found


@rule("M11")
@pytest.mark.parametrize(("name", "status"), [(None, 401), ("wrong", 401), ("owner:ann", 403)])
async def test_who_shows_no_token_of_an_agent_is_let_in_nowhere(world: World, name: str | None, status: int) -> None:
    answer = await world.post(call("tools/list"), name, **modern("tools/list"))
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert ("www-authenticate" in answer.headers) == (status == 401)


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
async def test_a_web_page_reaches_nothing_even_with_a_token(world: World, headers: dict[str, str]) -> None:
    answer = await world.post(call("tools/list"), **modern("tools/list"), **headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "foreign_origin")


@rule("M10")
async def test_an_oversize_request_is_refused_and_stored_nowhere(world: World, store: Store) -> None:
    body = call("tools/call", name="send_agent_message", arguments={"to": "chief", "text": "x" * 1_100_000})
    answer = await world.post(body, **modern("tools/call", "send_agent_message"))
    assert (answer.status_code, answer.json()["code"]) == (413, "too-large")

    async def in_parts() -> Any:
        for _ in range(20):
            yield b"x" * 100_000

    async with httpx2.AsyncClient() as http:
        answer = await http.post(world.url, content=in_parts(), headers={"Content-Type": "application/json", **bearer("coder")})
    assert answer.status_code == 413
    assert (await store.read(reading.inbox, "chief")).items == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[]", -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}', -32600),
        (call("tools/nope").encode(), -32601),
        (call("tools/call").encode(), -32602),
    ],
)
async def test_malformed_json_rpc_is_answered_by_its_error(world: World, body: bytes, code: int) -> None:
    method = json.loads(body)["method"] if body.startswith(b'{"jsonrpc": "2.0"') else "tools/list"
    answer = await world.post(body, **modern(method))
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"]["code"] == code


async def test_an_unknown_tool_names_those_that_there_are(world: World) -> None:
    async with world.connect("coder") as coder:
        with pytest.raises(MCPError, match=r"Unknown tool: drop_table\. There are: whoami, agents"):
            await coder.call_tool("drop_table", {})


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("send_agent_message", {"to": "chief"}, "text"),
        ("send_agent_message", {"to": "chief", "text": 5}, "text"),
        ("send_agent_message", {"text": "hello"}, "to"),
        ("send_agent_message", {"to": "chief", "text": "hello", "from": "devops"}, "from"),
        ("send_agent_message", {"to": "chief", "text": "a\0b"}, "text"),
        ("send_agent_message", {"to": "chief", "text": "a" * 300_000}, "text"),
        ("ask", {"to": "chief", "text": "a" * 300_000}, "text"),
        ("reply", {"messageId": "msg_none", "text": "hello"}, "messageId"),
        ("send_agent_message", {"to": "nobody", "text": "hello"}, "to"),
        ("send_agent_message", {"to": "chief", "text": "hello", "priority": "now"}, "priority"),
        ("inbox", {"limit": 0}, "limit"),
        ("inbox", {"cursor": "-1"}, "cursor"),
        ("read", {}, "messageId"),
        ("read", {"messageId": "../../etc"}, "messageId"),
        ("claim_task", {"waitS": 1e9}, "waitS"),
        ("finish_task", {"token": "x", "summary": "s", "data": {"more": {"a": "a\0b"}}}, "data.more.a"),
        ("vote", {"voteId": "v", "selection": "yes", "confidence": 2}, "confidence"),
        ("handoff", {"token": "x"}, "token"),
    ],
)
async def test_a_wrong_argument_is_named(world: World, tool: str, arguments: dict[str, Any], field: str) -> None:
    async with world.connect("coder") as coder:
        assert (await refused(coder, tool, **arguments))["field"] == field


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("send_agent_message", {"to": "chief", "body": "hello"}, "has no argument 'body'; it takes text, to, toAll,"),
        ("whoami", {"verbose": True}, "whoami has no argument 'verbose'; it takes none."),
        ("send_agent_message", {"to": "chief", "text": "hello", "priority": "now"}, "it may be high, low, medium, urgent."),
        ("claim_task", {"lane": "message"}, "it may be mail, task."),
        ("send_agent_message", {"to": "chief", "text": "a" * 300_000}, "text is 300,000 bytes long; at most 262,144"),
    ],
)
async def test_a_refusal_says_what_may_be_given(world: World, tool: str, arguments: dict[str, Any], said: str) -> None:
    async with world.connect("coder") as coder:
        assert said in (await refused(coder, tool, **arguments))["detail"]


@rule("M11")
async def test_anothers_mail_thread_and_lease_are_out_of_reach(world: World) -> None:
    async with world.connect("chief") as chief, world.connect("coder") as coder, world.connect("devops") as devops:
        sent = await given(chief, "send_agent_message", to="coder", text="between us")
        await given(chief, "add_task", description="Secret work", agent="coder")
        token = (await given(coder, "claim_task", lane="task"))["token"]
        for tool, arguments, code in (
            ("read", {"messageId": sent["messageId"]}, "forbidden"),
            ("read", {"threadId": sent["threadId"]}, "forbidden"),
            ("why", {"id": sent["messageId"]}, "forbidden"),
            ("reply", {"messageId": sent["messageId"], "text": "I heard you"}, "forbidden"),
            ("acknowledge", {"messageIds": [sent["messageId"]]}, "not_found"),
            ("finish_task", {"token": token, "summary": "stolen"}, "lease_lost"),
            ("progress", {"token": token, "text": "stolen"}, "lease_lost"),
            ("handoff", {"token": token, "to": "devops"}, "lease_lost"),
        ):
            assert (await refused(devops, tool, **arguments))["code"] == code, tool
        with pytest.raises(MCPError, match="between others"):
            await devops.read_resource(f"covey://threads/{sent['threadId']}")
        assert "between us" not in str(await devops.read_resource("covey://inbox"))
        assert "between us" in str(await given(coder, "read", messageId=sent["messageId"]))


async def test_a_session_is_of_no_use_to_another_agent(world: World) -> None:
    session = await open_session(world, "coder")
    listing = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    headers = {"Mcp-Session-Id": session, "Mcp-Protocol-Version": OLD}
    assert (await world.post(listing, "coder", **headers)).status_code == 200
    assert (await world.post(listing, "devops", **headers)).status_code == 404


async def test_a_caller_has_a_share_of_sessions_of_its_own(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("covey.mcp.desks.SESSIONS", 2)
    for _ in range(2):
        await open_session(world, "coder")
    start = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    third = await world.post(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start}), "coder")
    assert third.status_code == 503
    await open_session(world, "devops")


@pytest.mark.parametrize("old", [False, True])
async def test_a_client_that_vanishes_while_it_waits_leaves_nothing_behind(world: World, old: bool) -> None:
    body = call("tools/call", name="claim_task", arguments={"waitS": 50})
    headers = {"Mcp-Session-Id": await open_session(world), "Mcp-Protocol-Version": OLD} if old else modern("tools/call", "claim_task")
    headers |= {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **bearer("coder")}
    async with httpx2.AsyncClient() as http:
        with pytest.raises(httpx2.ReadTimeout):
            await http.post(world.url, content=body, headers=headers, timeout=0.5)
    await until(lambda: not world.door.news.awaited and not world.serving.connections, "the call to end")
    async with world.connect("chief") as chief:
        task = (await given(chief, "add_task", description="Still to do", agent="coder"))["taskId"]
        assert (await given(chief, "read", taskId=task))["task"]["state"] == "queued"


async def test_a_fault_of_our_own_is_told_by_its_reference_alone(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with world.connect("coder") as coder:
        monkeypatch.setattr("covey.mcp.tools_self.told.why_of", lambda *_: 1 / 0)
        problem = await refused(coder, "why", id="coder")
        assert problem["code"] == "failed"
        assert "division" not in problem["detail"]
        assert problem["reference"] in caplog.text
        assert "ZeroDivisionError" in caplog.text


async def test_the_operator_has_no_lanes_of_work(world: World) -> None:
    async with world.connect("operator") as operator:
        assert (await given(operator, "whoami"))["profile"] == "lead"
        assert (await refused(operator, "claim_task"))["code"] == "forbidden"
        assert (await refused(operator, "note", text="hello"))["code"] == "forbidden"
    async with world.connect("sales") as sales:
        assert "only an agent with `brain" in (await refused(sales, "claim_task"))["detail"]


async def test_text_that_is_none_is_refused(world: World) -> None:
    for text in ("\ud800", float("nan")):
        answer = await world.post(call("tools/call", name="note", arguments={"text": text}), **modern("tools/call", "note"))
        result = answer.json()["result"]
        assert (result["isError"], result["structuredContent"]["field"]) == (True, "text")
