"""Packages that only some doors and brains need are not loaded by anything else: an agent's process pays for none of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("mcp", "mcp_types", "a2a", "pydantic", "pydantic_ai", "opentelemetry", "jinja2", "grpc", "httpx", "httpx2", "anthropic", "openai")
AGENT = ("covey.app.hosting", "covey.app.consoling", "covey.app.noding", "covey.brains.making", "covey.brains.rules", "covey.brains.python")


def loaded_by(*modules: str) -> set[str]:
    """The packages that are there once these modules are."""
    code = f"import sys\nfor name in {modules!r}: __import__(name)\nprint(*{{each.partition('.')[0] for each in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("modules", [("covey",), AGENT, ("covey.cli", "covey.cli.starting", "covey.cli.local", "covey.cli.assisting")])
def test_nothing_heavy_is_loaded_by_who_does_not_use_it(modules: tuple[str, ...]) -> None:
    assert loaded_by(*modules) & set(HEAVY) == set()


def test_the_gateway_loads_its_doors_when_it_opens_them_and_not_before() -> None:
    assert "mcp" not in loaded_by("covey.app.gateway")
    assert "mcp" in loaded_by("covey.mcp.mounting")
