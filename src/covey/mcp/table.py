"""All tools, in the order in which a client lists them."""

from __future__ import annotations

from typing import Any

from covey.mcp import tools_mail, tools_memory, tools_self, tools_team, tools_work
from covey.mcp.tooling import Tool

TOOLS: tuple[Tool[Any], ...] = (*tools_self.TOOLS, *tools_mail.TOOLS, *tools_work.TOOLS, *tools_team.TOOLS, *tools_memory.TOOLS)
BY_NAME: dict[str, Tool[Any]] = {tool.name: tool for tool in TOOLS}
