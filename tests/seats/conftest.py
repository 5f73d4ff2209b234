"""What the tests of seats share: a home of its own, the fleet's port on a real socket, a seat that reaches it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from covey.doors.serving import Serving, serve
from covey.seats import seat
from covey.seats.assistants import Joining
from covey.seats.seat import Seat
from tests.api.conftest import world
from tests.api.world import World, token_of
from tests.client.conftest import url_of

__all__ = ["world"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home, with a project `work` in it."""
    found = tmp_path / "home"
    (found / "work").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(found))
    for name in ("XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "OPENCLAW_CONFIG_PATH", "OPENCLAW_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    return found


@pytest.fixture
async def served(world: World) -> AsyncIterator[Serving]:
    """The fleet's port on a real socket."""
    found = await serve(world.fleet_port, "127.0.0.1", 0)
    yield found
    await found.stop()


def seat_of(home: Path, assistant: str = "claude", api: str = url_of(9), agent: str = "coder") -> Seat:
    """A seat in a fleet elsewhere."""
    return Seat(assistant, agent, api, "", token_of(agent), str(home / "work"), "covey", [])


def joining_of(
    home: Path, *, variable: str | None = None, hook: str = "covey hook /s/claude-coder.json", hooks: bool = True, server: str = "covey"
) -> Joining:
    """What is to be written."""
    return Joining("coder", server, "http://127.0.0.1:8900/mcp", token_of("coder"), variable, hook, hooks, home / "work", home, {})


def taken(home: Path, api: str, agent: str = "coder") -> Path:
    """The file of a seat that reaches an API; no assistant's file is written."""
    path = seat.path_of(seat.folder_of(), "claude", agent)
    seat.write(path, seat_of(home, api=api, agent=agent))
    return path
