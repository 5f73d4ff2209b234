"""The page for users lists the tools that there are, and no others."""

from __future__ import annotations

import re
from pathlib import Path

from covey.mcp import prompts, resources
from covey.mcp.table import TOOLS

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text()
LINE = re.compile(r"^\| `(\w+)` \| (\w+) \| (\w+) \| .+ \|$", re.MULTILINE)


def test_the_page_lists_every_tool_with_its_profile_and_effect() -> None:
    assert LINE.findall(PAGE) == [(tool.name, tool.profile, tool.effect) for tool in TOOLS]


def test_the_page_names_the_resources_and_prompts() -> None:
    for uri in (resources.INBOX, resources.ROSTER, resources.THREAD, resources.TASK):
        assert f"`{uri}`" in PAGE
    for each in prompts.TEMPLATES:
        assert f"`{each.name}`" in PAGE
