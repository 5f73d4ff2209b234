"""What the benchmarks of doors share: a server in a process of its own, asked by plain sockets, so that only the server is measured."""

from __future__ import annotations

import asyncio
import multiprocessing as mp
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import uvicorn

from benchmarks.measuring import folder

CONNECTIONS = 32
TOKEN = "a-token-of-the-benchmark-alone"

Serve = Callable[[str, "mp.Queue[int]", "mp.Queue[int]"], None]
"""Serves from a folder; puts its port into the first queue, and ends when the second says so."""


async def bare(app: Any, ready: mp.Queue[int], stop: mp.Queue[int], lifespan: Literal["auto", "off"] = "off") -> None:
    """Serve an application on uvicorn alone."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", access_log=False, lifespan=lifespan))
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn tells nobody
        await asyncio.sleep(0.01)
    ready.put(server.servers[0].sockets[0].getsockname()[1])
    await asyncio.to_thread(stop.get)
    server.should_exit = True
    await task


@contextmanager
def serving(serve: Serve) -> Iterator[int]:
    """The port of a server that runs for so long."""
    context = mp.get_context("spawn")
    with folder() as path:
        ready: mp.Queue[int] = context.Queue()
        stop: mp.Queue[int] = context.Queue()
        process = context.Process(target=serve, args=(str(path), ready, stop))
        process.start()
        try:
            yield ready.get(timeout=60)
        finally:
            stop.put(1)
            process.join(30)


async def asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> bytes:
    """The body of the answer, which must be a good one."""
    writer.write(request)
    answer = await reader.readuntil(b"\r\n\r\n")
    length = int(answer.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    body = await reader.readexactly(length)
    assert answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201")), answer
    return body


async def rate(port: int, request: Callable[[int], bytes], requests: int, holds: bytes = b"") -> float:
    """Requests a second over keep-alive connections, each waiting for its answer, which holds these bytes."""

    async def connection() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(requests // CONNECTIONS):
            assert holds in await asked(reader, writer, request(port))
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(connection() for _ in range(CONNECTIONS)))
    return requests / (time.perf_counter() - began)
