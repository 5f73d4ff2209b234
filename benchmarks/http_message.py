"""`POST /message` over 32 connections, validated and stored, beside a bare Starlette and msgspec echo on the same uvicorn."""

from __future__ import annotations

import asyncio
import multiprocessing as mp
import statistics
import time
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from benchmarks.measuring import EIGHT, Figure, folder, store_in
from covey.agents import tokens
from covey.agents.model import Caller
from covey.api.agent_port import make_app
from covey.api.door import Door
from covey.doors.serving import serve
from covey.messages.model import Draft

CONNECTIONS = 32
REQUESTS = 6400
TOKEN = "a-token-of-the-benchmark-alone"
BODY = msgspec.json.encode({"content": {"subject": "figures", "body": "a message of an ordinary length, as agents write them. " * 4}})


async def _echo(request: Request) -> Response:
    draft = msgspec.json.decode(await request.body(), type=Draft)
    return Response(msgspec.json.encode(draft), media_type="application/json")


class _Local:
    def health(self) -> Any:
        return "healthy"

    def ready(self) -> bool:
        return True

    async def emergency_stop(self, by: Caller, reason: str, grace_s: float | None = None) -> dict[str, Any]:
        raise NotImplementedError


def _serve_ours(path: str, ready: mp.Queue[int], stop: mp.Queue[int]) -> None:
    async def run() -> None:
        async with store_in(Path(path), full=False) as store:
            await store.write(tokens.put, "operator", tokens.hash_of(TOKEN))
            serving = await serve(make_app(Door(store=store, settings=EIGHT, agent="coder", local=_Local())), "127.0.0.1", 0)
            ready.put(serving.port)
            await asyncio.to_thread(stop.get)
            await serving.stop()

    asyncio.run(run())


def _serve_bare(_: str, ready: mp.Queue[int], stop: mp.Queue[int]) -> None:
    async def run() -> None:
        app = Starlette(routes=[Route("/message", _echo, methods=["POST"])])
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", access_log=False, lifespan="off"))
        task = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110 - uvicorn tells nobody
            await asyncio.sleep(0.01)
        ready.put(server.servers[0].sockets[0].getsockname()[1])
        await asyncio.to_thread(stop.get)
        server.should_exit = True
        await task

    asyncio.run(run())


async def _load(port: int) -> float:
    """Requests a second over keep-alive connections, each waiting for its answer."""
    head = f"POST /message HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
    request = f"{head}Content-Length: {len(BODY)}\r\n\r\n".encode() + BODY

    async def connection() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(REQUESTS // CONNECTIONS):
            writer.write(request)
            answer = await reader.readuntil(b"\r\n\r\n")
            assert answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201")), answer
            length = int(answer.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(connection() for _ in range(CONNECTIONS)))
    return REQUESTS / (time.perf_counter() - began)


def _once(server: Any) -> float:
    context = mp.get_context("spawn")
    with folder() as path:
        ready: mp.Queue[int] = context.Queue()
        stop: mp.Queue[int] = context.Queue()
        process = context.Process(target=server, args=(str(path), ready, stop))
        process.start()
        try:
            return asyncio.run(_load(ready.get(timeout=30)))
        finally:
            stop.put(1)
            process.join(30)


def measure(runs: int = 5) -> list[Figure]:
    """The median of the ratio, run by run."""
    pairs = [(_once(_serve_ours), _once(_serve_bare)) for _ in range(runs)]
    ours, bare = (statistics.median(each[place] for each in pairs) for place in (0, 1))
    share = statistics.median(a / b for a, b in pairs)
    return [
        Figure(
            "POST /message, 32 connections, normal",
            f"{ours:,.0f}/s ({share:.0%} of bare)",
            f"{bare:,.0f}/s bare echo",
            "≥ 25 % of bare",
            share >= 0.25,
        )
    ]
