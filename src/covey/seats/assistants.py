"""The coding assistants that can join, and what each wants in which of its files. Data and pure functions, no I/O.

Each file's form was taken from what the assistant's own `mcp add` writes, and from its reference of hooks.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from covey.seats.edits import Add, Part, Put

IDLE_S = 24 * 3600
HOOK_S = 10


class Joining(NamedTuple):
    """What is to be written."""

    agent: str
    server: str
    """What the fleet is called among the assistant's MCP servers."""
    mcp: str
    """The address of the gateway's `/mcp`."""
    token: str
    variable: str | None
    """The environment variable that has the token; None: the token itself is written."""
    hook: str
    """The command of the seat's hook."""
    hooks: bool
    """Whether the assistant is to run it after its steps."""
    folder: Path
    """The project."""
    home: Path
    """The user's home folder."""
    environ: Mapping[str, str]

    @property
    def headers(self) -> dict[str, str]:
        """The header that shows the token, or names where it is."""
        return {"Authorization": f"Bearer {self.token if self.variable is None else '${' + self.variable + '}'}"}


class File(NamedTuple):
    """One of the assistant's files, and our parts in it: keys of a JSON file, or a block of a TOML file."""

    path: Path
    parts: tuple[Part, ...] = ()
    block: str = ""
    secret: bool = False
    """It holds the token, so that nobody else may read it."""


def files_of(assistant: str, joining: Joining) -> list[File]:
    """What is written where for an assistant."""
    return [file for file in _FILES[assistant](joining) if file.parts or file.block]


def _claude(joining: Joining) -> list[File]:
    """Claude Code: the server in the user's own file, for this project alone; hooks in the project's local settings.

    It keeps copies of that file, so the token is not written: it asks the hook's program for it, in folders that its user trusts.
    """
    given = joining.environ.get("CLAUDE_CONFIG_DIR")
    servers = ("projects", str(joining.folder), "mcpServers", joining.server)
    shown = {"headersHelper": f"{joining.hook} --headers"} if joining.variable is None else {"headers": joining.headers}
    entry = {"type": "http", "url": joining.mcp} | shown
    idle = {"type": "command", "command": f"{joining.hook} --idle", "asyncRewake": True, "timeout": IDLE_S}
    return [
        File((Path(given) if given else joining.home) / ".claude.json", (Put(servers, entry),)),
        File(joining.folder / ".claude" / "settings.local.json", _hooks(joining, ("SessionStart", "PostToolUse", "Stop"), HOOK_S, idle)),
    ]


def _codex(joining: Joining) -> list[File]:
    """Codex: the server in its configuration, hooks in a file beside it; it asks its user whether to trust them."""
    given = joining.environ.get("CODEX_HOME")
    folder = Path(given) if given else joining.home / ".codex"
    if joining.variable is None:
        shown = f"http_headers = {{ Authorization = {_text(joining.headers['Authorization'])} }}"
    else:
        shown = f"bearer_token_env_var = {_text(joining.variable)}"
    block = f"[mcp_servers.{joining.server}]\nurl = {_text(joining.mcp)}\n{shown}\n"
    return [
        File(folder / "config.toml", block=block, secret=joining.variable is None),
        File(folder / "hooks.json", _hooks(joining, ("SessionStart", "PostToolUse", "Stop"), HOOK_S)),
    ]


def _gemini(joining: Joining) -> list[File]:
    """Gemini CLI: both in the user's settings; it connects in folders alone that its user trusts."""
    given = joining.environ.get("GEMINI_CLI_HOME")
    path = (Path(given) if given else joining.home) / ".gemini" / "settings.json"
    entry = {"url": joining.mcp, "type": "http", "headers": joining.headers}
    hooks = _hooks(joining, ("SessionStart", "AfterTool", "AfterAgent"), HOOK_S * 1000)
    return [File(path, (Put(("mcpServers", joining.server), entry), *hooks), secret=joining.variable is None)]


def _openclaw(joining: Joining) -> list[File]:
    """OpenClaw: the server in its configuration. It has no hooks of this kind; `covey listen` wakes it."""
    given = joining.environ.get("OPENCLAW_CONFIG_PATH")
    path = Path(given) if given else Path(joining.environ.get("OPENCLAW_STATE_DIR") or joining.home / ".openclaw") / "openclaw.json"
    entry = {"url": joining.mcp, "transport": "streamable-http", "headers": joining.headers}
    return [File(path, (Put(("mcp", "servers", joining.server), entry),), secret=joining.variable is None)]


_FILES: dict[str, Callable[[Joining], list[File]]] = {"claude": _claude, "codex": _codex, "gemini": _gemini, "openclaw": _openclaw}
ASSISTANTS = tuple(_FILES)


def _hooks(joining: Joining, events: tuple[str, ...], timeout: int, *idle: dict[str, Any]) -> tuple[Part, ...]:
    """A hook at each of these events; the last is the stop, at which the one that waits begins too."""
    if not joining.hooks:
        return ()
    own = {"type": "command", "command": joining.hook, "timeout": timeout}
    found: list[Part] = []
    for event in events:
        hooks = [own, *idle] if event == events[-1] else [own]
        found.append(Add(("hooks", event), {"hooks": hooks}, joining.hook))
    return tuple(found)


def _text(value: str) -> str:
    """A TOML string. Addresses, tokens and names of variables have nothing in them that needs more."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def hook_command(program: tuple[str, ...], seat: Path) -> str:
    """The command of a seat's hook, as a shell reads it."""
    return shlex.join([*program, "hook", str(seat)])
