"""Ask a process of ours over HTTP whether it lives. One request, no library, no store."""

from __future__ import annotations

import asyncio
import contextlib


async def answers(host: str, port: int, timeout_s: float = 5.0) -> bool:
    """Whether `GET /health` (or `/healthz`) is answered with 200 in time."""
    try:
        async with asyncio.timeout(timeout_s):
            return b" 200 " in await _status_line(host, port)
    except (OSError, TimeoutError, asyncio.IncompleteReadError, ValueError):
        return False


async def _status_line(host: str, port: int) -> bytes:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        name = f"[{host}]" if ":" in host else host
        writer.write(f"GET /health HTTP/1.1\r\nHost: {name}:{port}\r\nConnection: close\r\n\r\n".encode())
        return await reader.readline()
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
