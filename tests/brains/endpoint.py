"""An endpoint that speaks OpenAI's chat completions as a script tells it to: real HTTP on a port of its own, any fault at will."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Reply:
    """What the endpoint answers once. `endless`: bytes without end in place of a body; `silent`: nothing at all."""

    body: Any = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    endless: bytes = b""
    silent: bool = False
    after: asyncio.Event | None = None
    """What must have happened before it is given."""


def says(
    text: str | None,
    *,
    tokens: tuple[int, int] = (100, 20),
    reason: str = "stop",
    model: str = "scripted",
    calls: list[dict[str, Any]] | None = None,
) -> Reply:
    """A completion in words, or with calls of tools."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = calls
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_800_000_000,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)},
    }
    return Reply(body)


def calls(*named: tuple[str, Any], text: str | None = None) -> Reply:
    """A completion that calls tools, each with its arguments as an object, or as text as it stands."""
    made = [
        {
            "id": f"call_{at}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for at, (name, given) in enumerate(named)
    ]
    return says(text, calls=made, reason="tool_calls")


def fails(status: int, message: str, headers: dict[str, str] | None = None, **more: Any) -> Reply:
    """An error as OpenAI words it."""
    return Reply({"error": {"message": message, **more}}, status, headers or {})


@dataclass
class Endpoint:
    """A served script: each reply once, the last one for ever. `asked` are the requests' bodies, `headers` their headers."""

    url: str
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    open: int = 0
    """How many connections are open now."""

    def tools(self, request: int = -1) -> dict[str, dict[str, Any]]:
        """The schemas of the tools that a request offered, by name."""
        offered = self.asked[request].get("tools") or []
        return {each["function"]["name"]: each["function"]["parameters"] for each in offered}

    def said(self, role: str, request: int = -1) -> str:
        """All that a request had in this role."""
        return "\n".join(str(each.get("content")) for each in self.asked[request]["messages"] if each["role"] == role)


Script = Callable[[dict[str, Any]], Reply]


@asynccontextmanager
async def served(*script: Reply | Script) -> AsyncIterator[Endpoint]:
    """The endpoint, serving."""
    lines: Iterator[Reply | Script] = iter(script)
    last: list[Reply | Script] = []
    serving: set[asyncio.Task[Any]] = set()

    def next_reply(asked: dict[str, Any]) -> Reply:
        line = next(lines, None) or last[0]
        last[:] = [line]
        return line if isinstance(line, Reply) else line(asked)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving.add(task)
        endpoint.open += 1
        try:
            while head := await _head(reader):
                body = await reader.readexactly(int(head.get("content-length", "0")))
                endpoint.headers.append(head)
                endpoint.asked.append(json.loads(body))
                await _answer(reader, writer, next_reply(endpoint.asked[-1]))
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            endpoint.open -= 1
            serving.discard(task)
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    endpoint = Endpoint(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    try:
        yield endpoint
    finally:
        server.close()
        for task in list(serving):
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)


async def _head(reader: asyncio.StreamReader) -> dict[str, str]:
    """A request's headers in lower case; empty at the end of the connection."""
    found = {}
    await reader.readline()
    while (line := (await reader.readline()).decode().strip()) != "":
        name, _, value = line.partition(":")
        found[name.lower()] = value.strip()
    return found


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reply: Reply) -> None:
    if reply.after is not None:
        await reply.after.wait()
    if reply.silent:
        await reader.read()  # until the other end lets go
        return
    body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
    headers = {"content-type": "application/json"} | reply.headers
    if not reply.endless:
        headers["content-length"] = str(len(body))
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {reply.status} Scripted\r\n{head}\r\n".encode() + body)
    await writer.drain()
    while reply.endless:
        writer.write(reply.endless)
        await writer.drain()
        await asyncio.sleep(0)
