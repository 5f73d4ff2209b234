"""What a client is shown: tools by profile with schemas that models understand, prompts, resources, and who may be named."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import msgspec
import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from covey.agents import configuring
from covey.base.settings import AgentSettings
from covey.mcp.table import BY_NAME, TOOLS
from covey.mcp.tooling import PROFILES, listed, schema_of, with_names
from tests.mcp.world import JOINED, MODES, World, given, refused

READER = {"whoami", "agents", "why", "inbox", "read", "recall"}
WORKER = READER | {
    *("acknowledge", "send_agent_message", "reply", "ask", "claim_task", "progress", "finish_task", "fail_task"),
    *("handoff", "vote", "note"),
}
LEAD = WORKER | {"split_task", "add_task"}


@pytest.mark.parametrize("mode", MODES)
async def test_a_connection_lists_the_tools_of_its_profile(world: World, mode: str) -> None:
    for name, query, wanted in (
        *(("coder", "", WORKER), ("chief", "", LEAD), ("operator", "", LEAD)),
        *(("coder", "?profile=reader", READER), ("coder", "?profile=lead", LEAD)),
    ):
        async with world.connect(name, mode, query) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == wanted


async def test_an_agents_profile_is_in_its_settings(world: World) -> None:
    agents = tuple(msgspec.structs.replace(each, mcp_profile="reader") if each.id == "coder" else each for each in JOINED.agents)
    world.door.settings = msgspec.structs.replace(JOINED, agents=agents)
    async with world.connect("coder") as coder:
        assert {tool.name for tool in (await coder.list_tools()).tools} == READER
        assert (await given(coder, "whoami"))["profile"] == "reader"


async def test_an_unknown_profile_is_refused_by_its_name(world: World) -> None:
    answer = await world.post("{}", "coder")
    assert answer.status_code == 400
    world.url += "?profile=boss"
    answer = await world.post("{}", "coder")
    assert (answer.status_code, answer.json()["field"]) == (400, "profile")


async def test_tools_say_what_is_safe(world: World) -> None:
    async with world.connect("chief") as chief:
        hints = {tool.name: tool.annotations for tool in (await chief.list_tools()).tools}
    reads = {name for name, hint in hints.items() if hint is not None and hint.read_only_hint}
    ends = {name for name, hint in hints.items() if hint is not None and hint.destructive_hint}
    assert reads == READER
    assert ends == {"finish_task", "fail_task", "split_task", "handoff"}
    assert all(hint is not None and hint.open_world_hint is False for hint in hints.values())


async def test_who_may_be_written_to_stands_in_the_schema(world: World) -> None:
    async with world.connect("coder") as coder:
        to = await _receivers(coder)
        assert "coder" not in to
        assert {"chief", "devops", "operator"} <= set(to)
        more = msgspec.structs.replace(JOINED, agents=(*JOINED.agents, AgentSettings(id="newcomer", port=9000)))
        await world.store.write(configuring.configure, more)
        assert "newcomer" in await _receivers(coder)


async def _receivers(client: Any) -> list[str]:
    tool = next(each for each in (await client.list_tools()).tools if each.name == "ask")
    found: list[str] = tool.input_schema["properties"]["to"]["enum"]
    return found


def test_a_large_fleet_is_not_listed_name_by_name() -> None:
    names = [f"agent-{number}" for number in range(500)]
    schema = with_names(BY_NAME["ask"].input_schema, names)
    assert "enum" not in schema["properties"]["to"]


def test_schemas_stand_in_one_piece_and_say_what_each_argument_is() -> None:
    for tool in TOOLS:
        for schema in (tool.input_schema, tool.output_schema):
            assert schema["type"] == "object"
            assert "$ref" not in str(schema)
            assert "$defs" not in schema
        assert tool.input_schema["additionalProperties"] is False
        first = tool.description.splitlines()[0]
        assert first.endswith((".", ":")), tool.name
        assert 20 < len(tool.description) < 700, tool.name


def test_profiles_grow_and_stay_small() -> None:
    sizes = []
    for profile in PROFILES:
        tools = [(tool.description, tool.input_schema) for tool in listed(TOOLS, profile)]
        sizes.append(len(msgspec.json.encode(tools)))
    assert sizes == sorted(sizes)
    assert sizes[-1] < 16_000, "what a model is shown of all tools, in bytes"


class Inner(msgspec.Struct):
    """Inside."""

    name: str


class Outer(msgspec.Struct):
    """Outside."""

    title: str
    parts: list[Inner]


def test_records_within_records_are_written_out() -> None:
    schema = schema_of(Outer)
    assert schema["properties"]["title"] == {"type": "string"}
    assert schema["properties"]["parts"]["items"]["properties"] == {"name": {"type": "string"}}


@pytest.mark.parametrize("mode", MODES)
async def test_prompts_and_resources_are_there(world: World, mode: str) -> None:
    async with world.connect("coder", mode) as coder:
        assert [each.name for each in (await coder.list_prompts()).prompts] == ["work", "catch_up", "delegate"]
        filled = await coder.get_prompt("delegate", {"what": "the dishes"})
        assert "the dishes" in str(filled.messages[0].content)
        assert [str(each.uri) for each in (await coder.list_resources()).resources] == ["covey://inbox", "covey://agents"]
        templates = (await coder.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == ["covey://threads/{id}", "covey://tasks/{id}"]
        assert '"name":"devops"' in getattr((await coder.read_resource("covey://agents")).contents[0], "text", "")


async def test_a_profile_keeps_what_it_does_not_list_from_being_called(world: World) -> None:
    async with world.connect("coder", query="?profile=reader") as coder:
        with pytest.raises(Exception, match="Unknown tool: note"):
            await coder.call_tool("note", {"text": "hello"})
        assert (await refused(coder, "why", id="nothing"))["code"] == "not_found"


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
async def test_older_revisions_are_spoken_as_they_are(world: World, version: str) -> None:
    start = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    answer = await world.post(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start}))
    line = next(each for each in answer.text.splitlines() if each.startswith("data: {"))
    found = json.loads(line.removeprefix("data: "))["result"]
    assert found["protocolVersion"] == version
    assert "the agent coder" in found["instructions"]


async def test_many_calls_at_once_are_each_answered_with_their_own(world: World) -> None:
    async with world.connect("coder") as coder, world.connect("devops", "legacy") as devops:
        idents = [(await given(coder, "note", text=f"fact number {number}"))["id"] for number in range(20)]
        found = await asyncio.gather(*(given(coder, "recall", id=ident) for ident in idents), *(given(devops, "whoami") for _ in range(20)))
    assert [each["items"][0]["id"] for each in found[:20]] == idents
    assert {each["name"] for each in found[20:]} == {"devops"}
