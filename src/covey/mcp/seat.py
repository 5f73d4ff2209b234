"""What one caller's client is served: its tools by profile, and their calls. Decode, one verb, encode."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

from covey.agents import roster
from covey.agents.model import OPERATOR, Caller
from covey.base.wire import check_value, convert
from covey.doors.door import FleetDoor
from covey.mcp import errors
from covey.mcp.table import BY_NAME, TOOLS
from covey.mcp.tooling import Call, Profile, Tool, listed, with_names
from covey.version import __version__

Context = ServerRequestContext[Any, Any]

PROFILE = "covey.profile"
"""Where the profile that a connection asks for stands in the ASGI scope."""
LISTENING = 32
"""So many streams of news a caller may have open at once."""


class Seat:
    """One caller's place at the door."""

    def __init__(self, door: FleetDoor, by: Caller, profile: Profile | None = None) -> None:
        self.door = door
        self.by = by
        self._profile = profile
        self.bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self.bus, max_subscriptions=LISTENING)

    def server(self) -> Server:
        """The server that clients of this caller talk to."""
        made = Server(
            "covey",
            version=__version__,
            title="Covey",
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_subscriptions_listen=self._listen,
            get_tool_input_schema=lambda name: BY_NAME[name].input_schema if name in BY_NAME else None,
        )
        made.middleware.clear()
        return made

    def leave(self) -> None:
        """End the streams of news in good order."""
        self._listen.close()

    def profile(self, ctx: Context) -> Profile:
        """The profile of a request: what its connection asks for, else what the agent's settings say."""
        asked: Profile | None = ctx.request.scope.get(PROFILE) if ctx.request is not None else self._profile
        if asked is not None:
            return asked
        settings = self.door.settings.agent(self.by.name)
        if settings is not None and settings.mcp_profile != "auto":
            return settings.mcp_profile
        return "lead" if self.by.name in (OPERATOR, self.door.settings.lead) else "worker"

    async def list_tools(self, ctx: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """The tools of the profile, with the names of who is there."""
        names = [each.id for each in await self.door.store.read(roster.directory)]
        receivers = [*(name for name in names if name != self.by.name), *([OPERATOR] if self.by.name != OPERATOR else [])]
        return types.ListToolsResult(tools=[shown(tool, names, receivers) for tool in listed(TOOLS, self.profile(ctx))])

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """What comes of a call. The blanket except of a door."""
        profile = self.profile(ctx)
        tool = BY_NAME.get(params.name)
        if tool is None or tool not in listed(TOOLS, profile):
            raise errors.unknown("tool", params.name, [each.name for each in listed(TOOLS, profile)])
        try:
            given = params.arguments or {}
            check_value(given)
            call = Call(self.door, self.by, profile, convert(tool.takes, given))
            return told(await tool.handler(call))
        except Exception as error:  # noqa: BLE001 - see above
            return errors.refused(error, f"the tool {tool.name}")


def told(result: Any) -> types.CallToolResult:
    """The record as structured content, and as text for clients that know no structure."""
    if isinstance(result, types.CallToolResult):
        return result
    text = msgspec.json.encode(result).decode()
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=msgspec.to_builtins(result))


def shown(tool: Tool[Any], names: list[str], receivers: list[str]) -> types.Tool:
    """A tool as it is listed."""
    hints = types.ToolAnnotations(
        read_only_hint=tool.effect == "reads",
        destructive_hint=tool.effect == "settles",
        idempotent_hint=tool.again or tool.effect == "reads",
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=with_names(tool.input_schema, names, receivers),
        output_schema=tool.output_schema,
        annotations=hints,
    )
