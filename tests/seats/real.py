"""Real coding assistants against a real fleet, for scripts/try-clients: `python -m tests.seats.real COVEY PORT BIN OPENCLAW_BIN`. A line each.

Each has a home of its own. Their models are not called: Claude Code and Gemini CLI talk to stand-ins that note what they are told.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from covey.mcp.table import TOOLS
from covey.mcp.tooling import listed
from tests.seats.stand_ins import StandIn, claude_says, claude_uses, gemini_says, gemini_uses

AGENT = "coder"
OURS = {tool.name for tool in listed(TOOLS, "worker")}
"""What an agent is served that is not the lead."""


class Trial:
    """A fleet with its gateway, a home for the assistants, and what was found so far."""

    def __init__(self, covey: str, port: int, folder: Path, programs: str) -> None:
        self.covey_path, self.port = covey, port
        self.home, self.work = folder / "home", folder / "work"
        self.work.mkdir()
        self.home.mkdir()
        self.failed = 0
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("COVEY_", "CLAUDE", "CODEX", "GEMINI", "ANTHROPIC"))
        }
        self.env = kept | {"HOME": str(self.home), "NO_COLOR": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        self.env["PATH"] = f"{programs}:{kept['PATH']}"
        self.model_port = port + 600
        model = f"http://127.0.0.1:{self.model_port}"
        self.env |= {"ANTHROPIC_API_KEY": "sk-ant-none", "ANTHROPIC_BASE_URL": model}
        self.env |= {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": model}

    def run(self, *words: str, check: bool = True) -> str:
        """What a program prints, on both."""
        done = subprocess.run(words, cwd=self.work, env=self.env, capture_output=True, text=True, timeout=120, check=False)
        if check and done.returncode:
            raise RuntimeError(f"{' '.join(words[:3])} ended with {done.returncode}: {(done.stdout + done.stderr)[-500:]}")
        return done.stdout + done.stderr

    def covey(self, *words: str) -> str:
        return self.run(self.covey_path, *words, "--base-port", str(self.port))

    def say(self, what: str, found: bool, more: str = "") -> None:
        self.failed += not found
        print(f"{'ok  ' if found else 'FAIL'} {what}{': ' + more if more else ''}", flush=True)

    def tree(self) -> dict[str, tuple[bytes, int]]:
        """Every file and folder of the home and the project but the fleet's own."""
        skipped = (self.home / ".local", *(self.work / name for name in (".covey", "shared", "logs", "covey.toml")))
        paths = [*self.home.rglob("*"), *self.work.rglob("*")]
        return {
            str(path): (path.read_bytes() if path.is_file() else b"", path.stat().st_mode)
            for path in paths
            if not any(each == path or each in path.parents for each in skipped)
        }

    # checks

    def restored(self, assistant: str) -> None:
        before = self.tree()
        self.covey("join", assistant, "--as", AGENT)
        joined = self.tree()
        self.run(self.covey_path, "leave", assistant, "--as", AGENT)
        self.say(f"{assistant}: covey leave restores its files byte for byte", self.tree() == before != joined)

    def connected(self, assistant: str, tools: Callable[[], set[str]]) -> None:
        self.covey("join", assistant, "--as", AGENT)
        shown = self.run(assistant, "mcp", "list")
        line = next((line for line in shown.splitlines() if line.strip(" ✓").startswith("covey")), shown[-300:])
        self.say(f"{assistant}: mcp list", "covey" in line, line.strip())
        found = tools()
        wrong = f"; missing or too many: {', '.join(sorted(OURS ^ found))}" if found != OURS else ""
        self.say(f"{assistant}: lists our tools", found == OURS, f"{len(OURS & found)} of {len(OURS)}{wrong}")
        self.run(self.covey_path, "leave", assistant, "--as", AGENT)
        token = self.covey("token", "show", AGENT).split()[-1].encode()
        settings = [path for path, (raw, _) in self.tree().items() if token in raw]
        self.say(f"{assistant}: after covey leave our token is nowhere in its home", not settings, ", ".join(settings))

    def used(self, assistant: str, asked: list[str]) -> None:
        """Say whether the stand-in's use of `whoami` was answered: what it is told next has what came of it."""
        told = asked[1].replace("\\", "") if len(asked) > 1 else ""
        self.say(f"{assistant}: uses one for its model", f'"name":"{AGENT}"' in told, "whoami")

    def claude_tools(self) -> set[str]:
        """The tools of ours that Claude Code names when it begins; its model then uses one."""
        with StandIn(self.model_port, lambda turn: claude_uses("mcp__covey__whoami", {}) if turn == 1 else claude_says("a word")) as model:
            said = self.run("claude", "-p", "hello", "--output-format", "stream-json", "--verbose", "--allowedTools", "mcp__covey")
        self.used("claude", model.asked)
        begun: Any = next(each for each in map(json.loads, said.splitlines()) if each.get("subtype") == "init")
        return _without("mcp__covey__", begun["tools"])

    def gemini_tools(self) -> set[str]:
        """The tools of ours that Gemini CLI offers to its model, which then uses one."""
        with StandIn(self.model_port, lambda turn: gemini_uses("mcp_covey_whoami", {}) if turn == 1 else gemini_says("a word")) as model:
            self.run("gemini", "--model", "gemini-2.5-flash", "--yolo", "-p", "hello")
        self.used("gemini", model.asked)
        offered: Any = json.loads(model.asked[0])["tools"]
        return _without("mcp_covey_", [each["name"] for tool in offered for each in tool.get("functionDeclarations", [])])

    def openclaw_tools(self) -> set[str]:
        """The tools that OpenClaw has from ours; beside them it makes some of its own out of prompts and resources."""
        said = self.run("openclaw", "mcp", "probe", "covey", "--json")
        names: list[str] = json.loads(said[said.index("{") :])["tools"]
        return {name for name in _without("covey__", names) if not name.startswith(("prompts_", "resources_"))}

    def codex_tools(self) -> set[str]:
        """The tools that Codex's own server has from ours."""
        with subprocess.Popen(
            ["codex", "app-server"],
            cwd=self.work,
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            bound = threading.Timer(60, server.kill)
            bound.start()
            answer: dict[str, Any] = {}
            try:
                asked = [("initialize", {"clientInfo": {"name": "t", "title": "t", "version": "1"}}), ("mcpServerStatus/list", {})]
                for ident, (method, params) in enumerate(asked):
                    server.stdin.write(json.dumps({"id": ident, "method": method, "params": params}) + "\n")
                    server.stdin.flush()
                    answer = next(each for each in map(json.loads, server.stdout) if each.get("id") == ident)
            finally:
                bound.cancel()
                server.kill()
        return set(next((each["tools"] for each in answer["result"]["data"] if each["name"] == "covey"), {}))

    def claude_hooks(self) -> None:
        """What Claude Code's hooks tell its model: at the start what waits, after a tool and at its stop what came meanwhile."""
        self.covey("join", "claude", "--as", AGENT)
        self.covey("send", AGENT, "words 1")
        began = time.monotonic()
        with StandIn(self.model_port, self._turn_of_claude) as model:
            self.run("claude", "-p", "hello")
        took, asked = time.monotonic() - began, model.asked
        for place, when in enumerate(("at its start", "after a tool", "at its stop, which is put off")):
            now = asked[place] if place < len(asked) else ""
            new = now.count(f"words {place + 1}") and not (place and f"words {place + 1}" in asked[place - 1])
            self.say(f"claude: a hook tells what waits {when}", bool(new) and "covey-mail" in now)
        self.say("claude: and then it ends", len(asked) == 3 and took < 60, f"{len(asked)} turns, {took:.0f} s")
        self.run(self.covey_path, "leave", "claude", "--as", AGENT)

    def _turn_of_claude(self, turn: int) -> bytes:
        """It reads a file first, then says a word each time; while it thinks something comes."""
        if turn < 3:
            self.covey("send", AGENT, f"words {turn + 1}")
        return claude_uses("Read", {"file_path": str(self.work / "covey.toml")}) if turn == 1 else claude_says("a word")


def _without(prefix: str, names: Iterable[str]) -> set[str]:
    """The names that begin so, without it."""
    return {name.removeprefix(prefix) for name in names if name.startswith(prefix)}


def gateway_is_up(url: str) -> bool:
    """Whether the gateway answers within a minute; it refuses who shows no token."""
    for _ in range(120):
        try:
            urllib.request.urlopen(url, timeout=5)
        except urllib.error.HTTPError as error:
            return error.code == 401
        except OSError:
            time.sleep(0.5)
    return False


def main(covey: str, port: int, programs: str, openclaw: str) -> int:
    """How many checks failed."""
    with tempfile.TemporaryDirectory(prefix="covey-clients-") as folder:
        trial = Trial(covey, port, Path(folder), programs)
        (trial.work / "covey.toml").write_text(f'[agents.chief]\n[agents.{AGENT}]\nbrain = "external"\n')
        trial.covey("up", "--detach")
        try:
            trial.say("the gateway is up", gateway_is_up(f"http://127.0.0.1:{port + 900}/mcp"))
            (trial.home / ".gemini").mkdir()
            (trial.home / ".gemini/trustedFolders.json").write_text(json.dumps({str(trial.work): "TRUST_FOLDER"}))
            # it takes a key to another address than its own only if its settings say so
            (trial.home / ".gemini/settings.json").write_text(json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}))
            (trial.home / ".claude.json").write_text(json.dumps({"projects": {str(trial.work): {"hasTrustDialogAccepted": True}}}))
            for assistant in ("claude", "codex", "gemini"):
                trial.restored(assistant)
            trial.connected("claude", trial.claude_tools)
            trial.connected("codex", trial.codex_tools)
            trial.connected("gemini", trial.gemini_tools)
            trial.claude_hooks()
            trial.env["PATH"] = f"{openclaw}:{trial.env['PATH']}"
            trial.restored("openclaw")
            trial.connected("openclaw", trial.openclaw_tools)
        finally:
            trial.covey("down")
    return trial.failed


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:5]), 1))
