"""A tool and what it gives, as the protocol shows them. Pure."""

from __future__ import annotations

from typing import Any

import msgspec
from mcp import types

from covey.mcp.tooling import Tool, with_names


def told(result: Any) -> types.CallToolResult:
    """The record as structured content, and as text for clients that know no structure."""
    if isinstance(result, types.CallToolResult):
        return result
    text = msgspec.json.encode(result).decode()
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=msgspec.to_builtins(result))


def shown(tool: Tool[Any], receivers: list[str]) -> types.Tool:
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
        input_schema=with_names(tool.input_schema, receivers),
        output_schema=tool.output_schema,
        annotations=hints,
    )
