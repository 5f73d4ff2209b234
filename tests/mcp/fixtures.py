"""What the public conformance suite asks a server to have, by the names that it uses; served beside our own tools, in tests alone.

Each tool, resource and prompt exists to make one thing of the protocol happen: a kind of content, a notice, a question to the client.
"""

from __future__ import annotations

import asyncio
import base64
import json
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import PromptsListChanged
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

from covey.mcp.desk import Desk
from covey.mcp.resources import RESOURCES, TEMPLATES

Context = ServerRequestContext[Any, Any]
Result = types.CallToolResult | types.InputRequiredResult
Fixture = Callable[[Context, types.CallToolRequestParams], Awaitable[Result]]

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
SOUND = base64.b64encode(b"RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x02\0\0\0\0\0").decode()


def text(said: str) -> types.TextContent:
    return types.TextContent(type="text", text=said)


def said(*content: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[text(each) if isinstance(each, str) else each for each in content])


def resource(uri: str, body: str, mime: str = "text/plain") -> types.EmbeddedResource:
    return types.EmbeddedResource(type="resource", resource=types.TextResourceContents(uri=uri, mime_type=mime, text=body))


def image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PIXEL, mime_type="image/png")


def fixed(*content: Any) -> Fixture:
    """A tool that always says the same."""

    async def answer(_ctx: Context, _params: types.CallToolRequestParams) -> Result:
        return said(*content)

    return answer


async def logs(ctx: Context, _params: types.CallToolRequestParams) -> Result:
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await log(ctx, line)
        await asyncio.sleep(0.05)
    return said("logged")


async def log(ctx: Context, line: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        await ctx.session.send_log_message("info", line, related_request_id=ctx.request_id)


async def progresses(ctx: Context, _params: types.CallToolRequestParams) -> Result:
    token = (ctx.meta or {}).get("progress_token")
    if token is not None:
        for done in (0, 50, 100):
            await ctx.session.send_progress_notification(token, done, 100, related_request_id=str(ctx.request_id))
            await asyncio.sleep(0.05)
    return said(str(token))


async def fails(_ctx: Context, _params: types.CallToolRequestParams) -> Result:
    return types.CallToolResult(content=[text("This tool intentionally returns an error for testing")], is_error=True)


async def samples(ctx: Context, params: types.CallToolRequestParams) -> Result:
    asked = sampling(str((params.arguments or {}).get("prompt", "hello")))
    found = await ctx.session.send_request(asked, types.CreateMessageResult, metadata=related(ctx))
    return said(f"LLM response: {found.content.text if isinstance(found.content, types.TextContent) else ''}")


def related(ctx: Context) -> Any:
    from mcp.shared.message import ServerMessageMetadata

    return ServerMessageMetadata(related_request_id=ctx.request_id)


def sampling(prompt: str) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=text(prompt))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=100))


def question(message: str, **properties: Any) -> types.ElicitRequest:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


NAME = {"name": {"type": "string"}}
DEFAULTS: dict[str, Any] = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
ENUMS: dict[str, Any] = {
    "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
    "titledSingle": {"type": "string", "oneOf": [{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}]},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2"]}},
    "titledMulti": {"type": "array", "items": {"anyOf": [{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}]}},
}


def elicits(make: Callable[[dict[str, Any]], types.ElicitRequest]) -> Fixture:
    """A tool that asks the client's person."""

    async def ask(ctx: Context, params: types.CallToolRequestParams) -> Result:
        found = await ctx.session.send_request(make(params.arguments or {}), types.ElicitResult, metadata=related(ctx))
        return said(f"User response: action={found.action}, content={json.dumps(found.content)}")

    return ask


async def needs_sampling(ctx: Context, _params: types.CallToolRequestParams) -> Result:
    declared = ctx.session.client_capabilities
    if declared is None or declared.sampling is None:
        needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool requires the client's sampling capability", needed)
    return said("the client can sample")


async def reconnects(ctx: Context, _params: types.CallToolRequestParams) -> Result:
    if ctx.close_sse_stream is not None:
        await ctx.close_sse_stream()
    await asyncio.sleep(0.2)
    return said("Reconnection test completed")


# what the client is to answer before there is a result


def wants(state: str | None = None, **requests: Any) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests, request_state=state)


def given(params: types.CallToolRequestParams, key: str) -> Any:
    return (params.input_responses or {}).get(key)


def one_input(key: str, request: Any, answer: Callable[[Any], str]) -> Fixture:
    """A tool that needs one answer of the client."""

    async def ask(_ctx: Context, params: types.CallToolRequestParams) -> Result:
        found = given(params, key)
        return said(answer(found)) if found is not None else wants(**{key: request})

    return ask


def field(answer: Any, name: str) -> str:
    return str((answer.content or {}).get(name)) if isinstance(answer, types.ElicitResult) else "?"


async def state_goes_round(_ctx: Context, params: types.CallToolRequestParams) -> Result:
    if given(params, "confirm") is not None and params.request_state == "first":
        return said("state-ok")
    return wants("first", confirm=question("Please confirm", ok={"type": "boolean"}))


async def state_is_sealed(_ctx: Context, params: types.CallToolRequestParams) -> Result:
    if params.request_state is None:
        return wants("first", confirm=question("Please confirm", ok={"type": "boolean"}))
    return said(f"state-ok: {params.request_state}")


async def many_inputs(_ctx: Context, params: types.CallToolRequestParams) -> Result:
    keys = {"user_name", "greeting", "client_roots"}
    if keys <= (params.input_responses or {}).keys():
        return said("all inputs were given")
    return wants(
        "many",
        user_name=question("What is your name?", **NAME),
        greeting=sampling("Generate a greeting"),
        client_roots=types.ListRootsRequest(),
    )


async def many_rounds(_ctx: Context, params: types.CallToolRequestParams) -> Result:
    state = json.loads(params.request_state) if params.request_state else {}
    if state.get("round") == 1 and given(params, "step1") is not None:
        name = field(given(params, "step1"), "name")
        next_one = question("Step 2: What is your favorite color?", color={"type": "string"})
        return wants(json.dumps({"round": 2, "name": name}), step2=next_one)
    if state.get("round") == 2 and given(params, "step2") is not None:
        return said(f"{state['name']} likes {field(given(params, 'step2'), 'color')}")
    return wants(json.dumps({"round": 1}), step1=question("Step 1: What is your name?", **NAME))


async def what_the_client_can(ctx: Context, _params: types.CallToolRequestParams) -> Result:
    can = ctx.session.client_capabilities
    requests: dict[str, Any] = {}
    if can is not None and can.sampling is not None:
        requests["sample"] = sampling("Say hello")
    if can is not None and can.elicitation is not None:
        requests["ask"] = question("What is your name?", **NAME)
    return types.InputRequiredResult(input_requests=requests, request_state="gated")


FIXTURES: dict[str, Fixture] = {
    "test_simple_text": fixed("This is a simple text response for testing."),
    "test_image_content": fixed(image()),
    "test_audio_content": fixed(types.AudioContent(type="audio", data=SOUND, mime_type="audio/wav")),
    "test_embedded_resource": fixed(resource("test://embedded-resource", "This is an embedded resource content.")),
    "test_multiple_content_types": fixed(
        "Multiple content types test:",
        image(),
        resource("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
    ),
    "test_tool_with_logging": logs,
    "test_logging_tool": logs,
    "test_streaming_elicitation": one_input("user_name", question("What is your name?", **NAME), lambda answer: field(answer, "name")),
    "test_tool_with_progress": progresses,
    "test_error_handling": fails,
    "test_sampling": samples,
    "test_elicitation": elicits(lambda args: question(str(args.get("message", "")), response={"type": "string"})),
    "test_elicitation_sep1034_defaults": elicits(lambda _: question("Please fill in", **DEFAULTS)),
    "test_elicitation_sep1330_enums": elicits(lambda _: question("Please choose", **ENUMS)),
    "test_x_mcp_header": fixed("the header was right"),
    "test_missing_capability": needs_sampling,
    "test_reconnection": reconnects,
    "json_schema_2020_12_tool": fixed("the schema stands in the list"),
    "test_input_required_result_elicitation": one_input(
        "user_name", question("What is your name?", **NAME), lambda answer: f"Hello, {field(answer, 'name')}!"
    ),
    "test_input_required_result_sampling": one_input(
        "capital_question", sampling("What is the capital of France?"), lambda answer: f"Model said: {getattr(answer.content, 'text', '')}"
    ),
    "test_input_required_result_list_roots": one_input(
        "client_roots", types.ListRootsRequest(), lambda answer: f"{len(answer.roots)} roots"
    ),
    "test_input_required_result_request_state": state_goes_round,
    "test_input_required_result_tampered_state": state_is_sealed,
    "test_input_required_result_multiple_inputs": many_inputs,
    "test_input_required_result_multi_round": many_rounds,
    "test_input_required_result_capabilities": what_the_client_can,
}
ADDRESS = {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}
SCHEMAS: dict[str, dict[str, Any]] = {
    "test_x_mcp_header": {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}},
    "test_sampling": {"type": "object", "properties": {"prompt": {"type": "string"}}},
    "test_elicitation": {"type": "object", "properties": {"message": {"type": "string"}}},
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": ADDRESS},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
}

# resources and prompts

TEXTS = {
    "test://static-text": "This is the content of the static text resource.",
    "test://watched-resource": "Watched resource content",
}


def contents(uri: str) -> types.TextResourceContents | types.BlobResourceContents | None:
    if uri in TEXTS:
        return types.TextResourceContents(uri=uri, mime_type="text/plain", text=TEXTS[uri])
    if uri == "test://static-binary":
        return types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PIXEL)
    if uri.startswith("test://template/"):
        ident = uri.split("/")[3]
        body = json.dumps({"id": ident, "templateTest": True, "data": f"Data for ID: {ident}"})
        return types.TextResourceContents(uri=uri, mime_type="application/json", text=body)
    return None


def prompt(*content: Any) -> types.GetPromptResult:
    messages = [types.PromptMessage(role="user", content=text(each) if isinstance(each, str) else each) for each in content]
    return types.GetPromptResult(messages=messages)


def filled(params: types.GetPromptRequestParams) -> types.GetPromptResult | types.InputRequiredResult | None:
    args = params.arguments or {}
    if params.name == "test_simple_prompt":
        return prompt("This is a simple prompt for testing.")
    if params.name == "test_prompt_with_arguments":
        return prompt(f"Prompt with arguments: arg1='{args.get('arg1')}', arg2='{args.get('arg2')}'")
    if params.name == "test_prompt_with_embedded_resource":
        return prompt(resource(args["resourceUri"], "Embedded resource content for testing."), "Please process it.")
    if params.name == "test_prompt_with_image":
        return prompt(image(), "Please analyze the image above.")
    if params.name == "test_input_required_result_prompt":
        answer = (params.input_responses or {}).get("user_context")
        wanted = question("What context should the prompt use?", context={"type": "string"})
        return prompt(f"Use this context: {field(answer, 'context')}") if answer is not None else wants(user_context=wanted)
    return None


ARGUMENTS = {"test_prompt_with_arguments": ("arg1", "arg2"), "test_prompt_with_embedded_resource": ("resourceUri",)}
PROMPTS = (
    *("test_simple_prompt", "test_prompt_with_arguments", "test_prompt_with_embedded_resource", "test_prompt_with_image"),
    "test_input_required_result_prompt",
)


class WithFixtures:
    """A desk with the fixtures beside what it has."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def server(self) -> Server[Any]:
        made = self.desk.server()
        made.get_tool_input_schema = SCHEMAS.get
        made.add_request_handler("tools/list", types.PaginatedRequestParams, self.list_tools)
        made.add_request_handler("tools/call", types.CallToolRequestParams, self.call_tool)
        made.add_request_handler("resources/list", types.PaginatedRequestParams, self.list_resources)
        made.add_request_handler("resources/templates/list", types.PaginatedRequestParams, self.list_templates)
        made.add_request_handler("resources/read", types.ReadResourceRequestParams, self.read_resource)
        made.add_request_handler("prompts/list", types.PaginatedRequestParams, self.list_prompts)
        made.add_request_handler("prompts/get", types.GetPromptRequestParams, self.get_prompt)
        made.add_request_handler("completion/complete", types.CompleteRequestParams, self.complete)
        made.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self.set_level)
        made.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="covey"))
        return made

    async def list_tools(self, ctx: Context, params: types.PaginatedRequestParams) -> types.ListToolsResult:
        found = await self.desk.list_tools(ctx, params)
        for name in (*FIXTURES, *self.triggers()):
            found.tools.append(types.Tool(name=name, description=f"fixture {name}", input_schema=SCHEMAS.get(name, {"type": "object"})))
        return found

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> Result:
        found = FIXTURES.get(params.name) or self.triggers().get(params.name)
        return await found(ctx, params) if found is not None else await self.desk.call_tool(ctx, params)

    def triggers(self) -> dict[str, Fixture]:
        """The tools that make news of the lists."""
        return {"test_trigger_tool_change": self.tools_change, "test_trigger_prompt_change": self.prompts_change}

    async def tools_change(self, _ctx: Context, _params: types.CallToolRequestParams) -> Result:
        await self.desk.tell(set(), tools=True)
        return said("tools changed")

    async def prompts_change(self, _ctx: Context, _params: types.CallToolRequestParams) -> Result:
        await self.desk._subscriptions._bus.publish(PromptsListChanged())
        return said("prompts changed")

    async def list_resources(self, _ctx: Context, _params: types.PaginatedRequestParams) -> types.ListResourcesResult:
        more = [types.Resource(uri=uri, name=uri.rpartition("/")[2]) for uri in (*TEXTS, "test://static-binary")]
        return types.ListResourcesResult(resources=[*RESOURCES, *more])

    async def list_templates(self, _ctx: Context, _params: types.PaginatedRequestParams) -> types.ListResourceTemplatesResult:
        more = types.ResourceTemplate(uri_template="test://template/{id}/data", name="template")
        return types.ListResourceTemplatesResult(resource_templates=[*TEMPLATES, more])

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        found = contents(str(params.uri))
        return types.ReadResourceResult(contents=[found]) if found is not None else await self.desk.read_resource(ctx, params)

    async def list_prompts(self, ctx: Context, params: types.PaginatedRequestParams) -> types.ListPromptsResult:
        found = await self.desk.list_prompts(ctx, params)
        for name in PROMPTS:
            arguments = [types.PromptArgument(name=each, required=True) for each in ARGUMENTS.get(name, ())]
            found.prompts.append(types.Prompt(name=name, description=f"fixture {name}", arguments=arguments))
        return found

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult | types.InputRequiredResult:
        return filled(params) or await self.desk.get_prompt(ctx, params)

    async def complete(self, _ctx: Context, _params: types.CompleteRequestParams) -> types.CompleteResult:
        return types.CompleteResult(completion=types.Completion(values=[], total=0, has_more=False))

    async def set_level(self, _ctx: Context, _params: types.SetLevelRequestParams) -> types.EmptyResult:
        return types.EmptyResult()
