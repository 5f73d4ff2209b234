"""All tools, in the order in which a client lists them."""

from __future__ import annotations

from typing import Any

from covey.mcp import tools_self
from covey.mcp.tooling import Tool

TOOLS: tuple[Tool[Any], ...] = (*tools_self.TOOLS,)
BY_NAME: dict[str, Tool[Any]] = {tool.name: tool for tool in TOOLS}
