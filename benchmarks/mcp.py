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

import uvicorn
from mcp import types
from mcp.server.lowlevel import Server

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
TOKEN = "a-token-of-the-benchmark-alone"
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
            serving = await serve(gateway_port.make_app(door, routes), "127.0.0.1", 0)
            ready.put(serving.port)
            await asyncio.to_thread(stop.get)
            await serving.stop()


def _serve_bare(_: str, ready: mp.Queue[int], stop: mp.Queue[int]) -> None:
    asyncio.run(_bare(ready, stop))


async def _bare(ready: mp.Queue[int], stop: mp.Queue[int]) -> None:
    async def call(_ctx: Any, _params: types.CallToolRequestParams) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text="hello")])

    app = Server("bare", on_call_tool=call).streamable_http_app()
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", access_log=False))
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn tells nobody
        await asyncio.sleep(0.01)
    ready.put(server.servers[0].sockets[0].getsockname()[1])
    await asyncio.to_thread(stop.get)
    server.should_exit = True
    await task


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
        writer.write(_request(port, tool, number))
        answer = await reader.readuntil(b"\r\n\r\n")
        length = int(answer.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        body = await reader.readexactly(length)
        found.append(time.perf_counter() - began)
        assert answer.startswith(b"HTTP/1.1 200"), answer
        assert not json.loads(body)["result"]["isError"], body
    writer.close()
    return found[WARM:]


def _once(server: Any, *tools: str) -> list[list[float]]:
    context = mp.get_context("spawn")
    with folder() as path:
        ready: mp.Queue[int] = context.Queue()
        stop: mp.Queue[int] = context.Queue()
        process = context.Process(target=server, args=(str(path), ready, stop))
        process.start()
        try:
            port = ready.get(timeout=30)
            return [asyncio.run(_times(port, tool)) for tool in tools]
        finally:
            stop.put(1)
            process.join(30)


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
    (bare,) = _once(_serve_bare, "hello")
    with folder() as path:
        alone = asyncio.run(_sends_alone(path))
    beside = f"{ms(percentile(bare, 0.5))} a bare tool, {ms(percentile(alone, 0.5))} the send by itself"
    figures = []
    for tool, times in zip(("inbox", "send_agent_message"), _once(_serve_ours, "inbox", "send_agent_message"), strict=True):
        half = percentile(times, 0.5)
        reached = f"{ms(half)} (p99 {ms(percentile(times, 0.99))})"
        figures.append(Figure(f"MCP {tool} over HTTP, p50", reached, beside, "< 10 ms", half < GOAL_S))
    return figures
