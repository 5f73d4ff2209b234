"""Ask a process of ours over HTTP whether it lives. One request, no library, no store."""

from __future__ import annotations

import asyncio
import socket

from covey.base.target import authority_of, reached_by


async def answers(host: str, port: int, timeout_s: float = 5.0) -> bool:
    """Whether `GET /health` is answered with 200 in time."""
    try:
        async with asyncio.timeout(timeout_s):
            return b" 200 " in await _status_line(host, port)
    except (OSError, TimeoutError, asyncio.IncompleteReadError, ValueError):
        return False


async def _status_line(host: str, port: int) -> bytes:
    """The first line of the answer.

    The connection has SO_REUSEADDR: its own port, which the kernel picks, may be the one that a process of ours is about to bind,
    and would be kept from it for a minute.
    """
    loop, host = asyncio.get_running_loop(), reached_by(host)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC) as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        await loop.sock_connect(peer, (host, port))
        await loop.sock_sendall(peer, f"GET /health HTTP/1.1\r\nHost: {authority_of(host, port)}\r\nConnection: close\r\n\r\n".encode())
        line = b""
        while b"\n" not in line and (more := await loop.sock_recv(peer, 1024)):
            line += more
        return line.partition(b"\n")[0]
