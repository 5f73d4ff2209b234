"""All tools, in the order in which a client lists them."""

from __future__ import annotations

from typing import Any

from covey.mcp import tools_claiming, tools_inbox, tools_memory, tools_self, tools_sending, tools_tasks, tools_team, tools_work
from covey.mcp.tooling import Tool

GROUPS = (tools_self, tools_inbox, tools_sending, tools_claiming, tools_work, tools_tasks, tools_team, tools_memory)
TOOLS: tuple[Tool[Any], ...] = tuple(tool for group in GROUPS for tool in group.TOOLS)
BY_NAME: dict[str, Tool[Any]] = {tool.name: tool for tool in TOOLS}
