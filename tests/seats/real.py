"""Real coding assistants against a real fleet, for scripts/try-clients: `python -m tests.seats.real COVEY PORT BIN OPENCLAW_BIN`. A line each.

Each has a home of its own. Their models are not called: Claude Code talks to a stand-in that notes what it is told.
"""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

AGENT = "coder"


class Model(http.server.BaseHTTPRequestHandler):
    """Stands in for the API of Claude's model: reads a file first, then says a word each time; it keeps what it is told."""

    trial: Trial
    asked: list[str]

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        if "count_tokens" in self.path:
            self._answer("application/json", b'{"input_tokens": 1}')
            return
        self.asked.append(raw)
        if len(self.asked) < 3:  # while it thinks something comes
            self.trial.covey("send", AGENT, f"words {len(self.asked) + 1}")
        self._answer("text/event-stream", _reads(self.trial.work / "covey.toml") if len(self.asked) == 1 else _says("a word"))

    def _answer(self, media: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", media)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


def _spoken(block: dict[str, Any], delta: dict[str, Any], reason: str) -> bytes:
    """A turn of one block, as the API streams it."""
    message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "x", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events).encode()


def _says(text: str) -> bytes:
    return _spoken({"type": "text", "text": ""}, {"type": "text_delta", "text": text}, "end_turn")


def _reads(path: Path) -> bytes:
    block = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}}
    return _spoken(block, {"type": "input_json_delta", "partial_json": json.dumps({"file_path": str(path)})}, "tool_use")


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
        self.env |= {"ANTHROPIC_API_KEY": "sk-ant-none", "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port + 600}"}

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

    def connected(self, assistant: str, tools: Callable[[], str]) -> None:
        self.covey("join", assistant, "--as", AGENT)
        listed = self.run(assistant, "mcp", "list")
        line = next((line for line in listed.splitlines() if line.strip(" ✓").startswith("covey")), listed[-300:])
        self.say(f"{assistant}: mcp list", "covey" in line, line.strip())
        found = tools()
        self.say(f"{assistant}: is connected", any(word in found for word in ("claim_task", "Connected", "17 tools")), found.strip()[-200:])
        self.run(self.covey_path, "leave", assistant, "--as", AGENT)
        token = self.covey("token", "show", AGENT).split()[-1].encode()
        settings = [path for path, (raw, _) in self.tree().items() if token in raw]
        self.say(f"{assistant}: after covey leave our token is nowhere in its home", not settings, ", ".join(settings))

    def claude_state(self) -> str:
        """How Claude Code's own look at the server went."""
        return next(line for line in self.run("claude", "mcp", "get", "covey").splitlines() if "Status" in line)

    def gemini_state(self) -> str:
        """As of Gemini: its list connects."""
        return next(line for line in self.run("gemini", "mcp", "list").splitlines() if "covey" in line)

    def codex_tools(self) -> str:
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
        found: dict[str, Any] = next((each["tools"] for each in answer["result"]["data"] if each["name"] == "covey"), {})
        return f"{len(found)} tools, {', '.join(sorted(found))}"

    def claude_hooks(self) -> None:
        """What Claude Code's hooks tell its model: at the start what waits, after a tool and at its stop what came meanwhile."""
        self.covey("join", "claude", "--as", AGENT)
        self.covey("send", AGENT, "words 1")
        asked: list[str] = []
        model = type("Here", (Model,), {"trial": self, "asked": asked})
        with http.server.ThreadingHTTPServer(("127.0.0.1", self.port + 600), model) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            began = time.monotonic()
            self.run("claude", "-p", "hello")
            took = time.monotonic() - began
            server.shutdown()
        for place, when in enumerate(("at its start", "after a tool", "at its stop, which is put off")):
            now = asked[place] if place < len(asked) else ""
            new = now.count(f"words {place + 1}") and not (place and f"words {place + 1}" in asked[place - 1])
            self.say(f"claude: a hook tells what waits {when}", bool(new) and "covey-mail" in now)
        self.say("claude: and then it ends", len(asked) == 3 and took < 60, f"{len(asked)} turns, {took:.0f} s")
        self.run(self.covey_path, "leave", "claude", "--as", AGENT)


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
            (trial.home / ".claude.json").write_text(json.dumps({"projects": {str(trial.work): {"hasTrustDialogAccepted": True}}}))
            for assistant in ("claude", "codex", "gemini"):
                trial.restored(assistant)
            trial.connected("claude", trial.claude_state)
            trial.connected("codex", trial.codex_tools)
            trial.connected("gemini", trial.gemini_state)
            trial.claude_hooks()
            trial.env["PATH"] = f"{openclaw}:{trial.env['PATH']}"
            trial.restored("openclaw")
            trial.connected("openclaw", lambda: trial.run("openclaw", "mcp", "probe", "covey"))
        finally:
            trial.covey("down")
    return trial.failed


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:5]), 1))
