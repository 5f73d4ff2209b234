"""MCP tool calls over HTTP, one after the other as an assistant makes them: `inbox` and `send_agent_message`, durable, beside a bare tool.

The server is a process of its own with the gateway's application on the embedded store; the client is a plain socket, so that only the
server is measured. The bare tool says a word and stores nothing, on the official package alone.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing as mp
import time
from pathlib import Path
from typing import Any

from mcp import types
from mcp.server.lowlevel import Server

from benchmarks.doors import TOKEN, Serve, asked, bare, serving
from benchmarks.measuring import EIGHT, Figure, folder, ms, percentile, store_in
from covey.agents import tokens
from covey.agents.model import as_agent
from covey.api import gateway_port
from covey.doors.door import FleetDoor
from covey.doors.serving import serve
from covey.mcp import mounting
from covey.messages import sending
from covey.messages.model import draft

CALLS = 500
WARM = 50
UNREAD = 30
GOAL_S = 0.010
REVISION = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": REVISION, "io.modelcontextprotocol/clientCapabilities": {}}


def _serve_ours(path: str, ready: mp.Queue[int], stop: mp.Queue[int]) -> None:
    asyncio.run(_ours(Path(path), ready, stop))


async def _ours(path: Path, ready: mp.Queue[int], stop: mp.Queue[int]) -> None:
    async with store_in(path) as store:
        await store.write(tokens.put, "coder", tokens.hash_of(TOKEN))
        for number in range(UNREAD):
            await store.write(sending.send, draft("coder", f"mail number {number}, of an ordinary length"), as_agent("chief"))
        door = FleetDoor(store=store, settings=EIGHT)
        async with mounting.opened(door) as routes:
            running = await serve(gateway_port.make_app(door, routes), "127.0.0.1", 0)
            ready.put(running.port)
            await asyncio.to_thread(stop.get)
            await running.stop()


def _serve_bare(_: str, ready: mp.Queue[int], stop: mp.Queue[int]) -> None:
    asyncio.run(_bare(ready, stop))


async def _bare(ready: mp.Queue[int], stop: mp.Queue[int]) -> None:
    async def call(_ctx: Any, _params: types.CallToolRequestParams) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text="hello")])

    app = Server("bare", on_call_tool=call).streamable_http_app()
    await bare(app, ready, stop, lifespan="auto")


def _request(port: int, tool: str, number: int) -> bytes:
    words = {"limit": 10} if tool == "inbox" else {"to": "devops", "text": f"figure number {number} of an ordinary length, as agents write"}
    params = {"name": tool, "arguments": words, "_meta": META}
    body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: {REVISION}\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def _times(port: int, tool: str) -> list[float]:
    """How long each call takes, over one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    found = []
    for number in range(WARM + CALLS):
        began = time.perf_counter()
        body = await asked(reader, writer, _request(port, tool, number))
        found.append(time.perf_counter() - began)
        assert not json.loads(body)["result"]["isError"], body
    writer.close()
    return found[WARM:]


def _once(server: Serve, *tools: str) -> list[list[float]]:
    with serving(server) as port:
        return [asyncio.run(_times(port, tool)) for tool in tools]


async def _sends_alone(path: Path) -> list[float]:
    """How long the verb takes by itself, durable, one call after the other."""
    found = []
    async with store_in(path) as store:
        for number in range(WARM + CALLS):
            words = draft("devops", f"figure number {number} of an ordinary length, as agents write")
            began = time.perf_counter()
            await store.write(sending.send, words, as_agent("coder"))
            found.append(time.perf_counter() - began)
    return found[WARM:]


def measure() -> list[Figure]:
    """Half of the calls are quicker than this."""
    (plain,) = _once(_serve_bare, "hello")
    with folder() as path:
        alone = asyncio.run(_sends_alone(path))
    beside = f"{ms(percentile(plain, 0.5))} a bare tool, {ms(percentile(alone, 0.5))} the send by itself"
    figures = []
    for tool, times in zip(("inbox", "send_agent_message"), _once(_serve_ours, "inbox", "send_agent_message"), strict=True):
        half = percentile(times, 0.5)
        reached = f"{ms(half)} (p99 {ms(percentile(times, 0.99))})"
        figures.append(Figure(f"MCP {tool} over HTTP, p50", reached, beside, "< 10 ms", half < GOAL_S))
    return figures
