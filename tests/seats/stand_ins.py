"""Stand in for the models of real coding assistants: a model's API on a port of this machine that notes what it is told and says what it is to."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self


class StandIn:
    """Answers while it is entered; `speech` has the number of a call, from 1 on, and gives the stream that answers it."""

    def __init__(self, port: int, speech: Callable[[int], bytes]) -> None:
        self.asked: list[str] = []
        """What it was told, call by call."""
        self.speech = speech
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), type("Here", (_Calls,), {"model": self}))

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Calls(http.server.BaseHTTPRequestHandler):
    model: StandIn

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        if "count" in self.path.lower():  # of tokens
            self._answer("application/json", b'{"input_tokens": 1, "totalTokens": 1}')
            return
        self.model.asked.append(raw)
        self._answer("text/event-stream", self.model.speech(len(self.model.asked)))

    def _answer(self, media: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", media)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


# as Claude's model streams a turn


def claude_says(text: str) -> bytes:
    """Words."""
    return _claude({"type": "text", "text": ""}, {"type": "text_delta", "text": text}, "end_turn")


def claude_uses(tool: str, arguments: dict[str, Any]) -> bytes:
    """The use of a tool."""
    block = {"type": "tool_use", "id": "toolu_1", "name": tool, "input": {}}
    return _claude(block, {"type": "input_json_delta", "partial_json": json.dumps(arguments)}, "tool_use")


def _claude(block: dict[str, Any], delta: dict[str, Any], reason: str) -> bytes:
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


# as Gemini's does


def gemini_says(text: str) -> bytes:
    """Words."""
    return _gemini({"text": text})


def gemini_uses(tool: str, arguments: dict[str, Any]) -> bytes:
    """The use of a tool."""
    return _gemini({"functionCall": {"name": tool, "args": arguments}})


def _gemini(part: dict[str, Any]) -> bytes:
    told = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    used = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return f"data: {json.dumps({'candidates': [told], 'usageMetadata': used})}\r\n\r\n".encode()
