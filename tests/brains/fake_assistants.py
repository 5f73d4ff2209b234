"""Fakes of coding assistants: programs that print what the real ones printed, and note how they were called."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ID = "e6cc1a40-ea64-40c6-9c8f-d73b60dd7bdc"
NEXT = "2d01e1b0-e708-4243-a9b8-fa7bcb981221"
FAKE = """#!{python}
import json, pathlib, sys, time
here = pathlib.Path(__file__).parent
given = sys.stdin.read()
with open(here / "calls.jsonl", "a") as file:
    file.write(json.dumps({{"argv": sys.argv[1:], "stdin": given}}) + "\\n")
script = json.loads((here / "script.json").read_text())
at = sum(1 for _ in open(here / "calls.jsonl")) - 1
reply = script[min(at, len(script) - 1)]
for line in reply["out"]:
    print(json.dumps(line), flush=True)
print(reply.get("err", ""), file=sys.stderr, flush=True)
sys.exit(reply.get("code", 0))
"""


def claude(text: str = "Done.", session: str = ID, context: int = 30_000, **more: Any) -> dict[str, Any]:
    """As Claude Code 2.1.332 prints it with --output-format stream-json --verbose."""
    usage = {"input_tokens": 4, "cache_creation_input_tokens": 1000, "cache_read_input_tokens": context - 1034, "output_tokens": 30}
    out = [
        {"type": "system", "subtype": "init", "cwd": "/w", "session_id": session, "tools": ["Bash"], "model": "claude-opus-5-5"},
        {
            "type": "assistant",
            "message": {"content": [{"type": "tool_use", "name": "Bash", "input": {"command": "npm test"}}], "usage": usage},
            "session_id": session,
        },
        {"type": "user", "message": {"content": [{"type": "tool_result", "content": "3 failed"}]}, "session_id": session},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": text}], "usage": usage}, "session_id": session},
        {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "result": text,
            "session_id": session,
            "total_cost_usd": 0.0375,
            "usage": usage,
            "modelUsage": {"claude-opus-5-5": {"contextWindow": 200_000}},
        },
    ]
    return {"out": out} | more


CLAUDE_LOST = {
    "out": [
        {
            "type": "result",
            "subtype": "error_during_execution",
            "is_error": True,
            "session_id": ID,
            "total_cost_usd": 0,
            "usage": {"input_tokens": 0, "output_tokens": 0},
            "modelUsage": {},
            "errors": [f"No conversation found with session ID: {ID}"],
        }
    ],
    "err": f"No conversation found with session ID: {ID}",
    "code": 1,
}
CODEX = {
    "out": [
        {"type": "thread.started", "thread_id": ID},
        {"type": "turn.started"},
        {"type": "error", "message": "Reconnecting... 2/5 (stream disconnected before completion)"},
        {"type": "item.started", "item": {"id": "1", "type": "command_execution", "command": "bash -lc 'npm test'"}},
        {"type": "item.completed", "item": {"id": "2", "type": "agent_message", "text": "Done."}},
        {"type": "turn.completed", "usage": {"input_tokens": 24763, "cached_input_tokens": 24448, "output_tokens": 122}},
    ]
}
CODEX_LOST = {"out": [], "err": f"Error: thread/resume: thread/resume failed: no rollout found for thread id {ID} (code -32600)", "code": 1}
GEMINI = {
    "out": [
        {"type": "init", "timestamp": "t", "session_id": ID, "model": "auto"},
        {"type": "message", "timestamp": "t", "role": "user", "content": "do it"},
        {"type": "message", "timestamp": "t", "role": "assistant", "content": "I look.", "delta": True},
        {"type": "tool_use", "timestamp": "t", "tool_name": "run_shell_command", "tool_id": "1", "parameters": {"command": "npm test"}},
        {"type": "tool_result", "timestamp": "t", "tool_id": "1", "status": "success", "output": "ok"},
        {"type": "message", "timestamp": "t", "role": "assistant", "content": "Do", "delta": True},
        {"type": "message", "timestamp": "t", "role": "assistant", "content": "ne.", "delta": True},
        {"type": "result", "timestamp": "t", "status": "success", "stats": {"input_tokens": 900, "output_tokens": 20, "cached": 0}},
    ]
}
GEMINI_LOST = {"out": [], "err": "Error resuming session: No previous sessions found for this project.", "code": 42}
ALL = [("claude", claude()), ("codex", CODEX), ("gemini", GEMINI)]
LOST = [("claude", CLAUDE_LOST, claude()), ("codex", CODEX_LOST, CODEX), ("gemini", GEMINI_LOST, GEMINI)]


class Fake:
    """The program of a preset in a folder of its own, which is to be in its agent's PATH."""

    def __init__(self, folder: Path, preset: str, *script: dict[str, Any]) -> None:
        self.folder = folder
        program = folder / preset
        program.write_text(FAKE.format(python=sys.executable))
        program.chmod(0o755)
        (folder / "script.json").write_text(json.dumps(script))

    @property
    def calls(self) -> list[dict[str, Any]]:
        """How it was called: argv and stdin, in order."""
        return [json.loads(line) for line in (self.folder / "calls.jsonl").read_text().splitlines()]
