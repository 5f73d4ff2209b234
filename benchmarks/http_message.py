"""`POST /message` over 32 connections, validated and stored, beside a bare Starlette and msgspec echo on the same uvicorn."""

from __future__ import annotations

import asyncio
import multiprocessing as mp
import statistics
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from benchmarks.doors import TOKEN, Serve, bare, rate, serving
from benchmarks.measuring import EIGHT, Figure, store_in
from covey.agents import tokens
from covey.agents.model import Caller
from covey.api.agent_port import make_app
from covey.api.door import Door
from covey.doors.serving import serve
from covey.messages.model import Draft

REQUESTS = 6400
BODY = msgspec.json.encode({"content": {"subject": "figures", "body": "a message of an ordinary length, as agents write them. " * 4}})


async def _echo(request: Request) -> Response:
    draft = msgspec.json.decode(await request.body(), type=Draft)
    return Response(msgspec.json.encode(draft), media_type="application/json")


class _Local:
    def health(self) -> Any:
        return "healthy"

    def why_not_ready(self) -> str | None:
        return None

    async def emergency_stop(self, by: Caller, reason: str, grace_s: float | None = None) -> dict[str, Any]:
        raise NotImplementedError


def _serve_ours(path: str, ready: mp.Queue[int], stop: mp.Queue[int]) -> None:
    async def run() -> None:
        async with store_in(Path(path), full=False) as store:
            await store.write(tokens.put, "operator", tokens.hash_of(TOKEN))
            running = await serve(make_app(Door(store=store, settings=EIGHT, agent="coder", local=_Local())), "127.0.0.1", 0)
            ready.put(running.port)
            await asyncio.to_thread(stop.get)
            await running.stop()

    asyncio.run(run())


def _serve_bare(_: str, ready: mp.Queue[int], stop: mp.Queue[int]) -> None:
    asyncio.run(bare(Starlette(routes=[Route("/message", _echo, methods=["POST"])]), ready, stop))


def _request(port: int) -> bytes:
    head = f"POST /message HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(BODY)}\r\n\r\n".encode() + BODY


def _once(server: Serve) -> float:
    with serving(server) as port:
        return asyncio.run(rate(port, _request, REQUESTS))


def measure(runs: int = 5) -> list[Figure]:
    """The median of the ratio, run by run."""
    pairs = [(_once(_serve_ours), _once(_serve_bare)) for _ in range(runs)]
    ours, plain = (statistics.median(each[place] for each in pairs) for place in (0, 1))
    share = statistics.median(a / b for a, b in pairs)
    return [
        Figure(
            "POST /message, 32 connections, normal",
            f"{ours:,.0f}/s ({share:.0%} of bare)",
            f"{plain:,.0f}/s bare echo",
            "≥ 25 % of bare",
            share >= 0.25,
        )
    ]
