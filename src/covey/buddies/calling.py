"""One HTTP call to an agent's own port, bounded in time and size. No library: an agent's process makes one such call an hour.

Whatever comes back is data of a stranger until `judge` has looked at it.
"""

from __future__ import annotations

import asyncio
import os
import re

from covey.base.target import authority_of, reached_by
from covey.buddies.model import ANSWER_BYTES, PATIENCE_S, Reply, Silence

HEAD_BYTES = 16_384
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5]\d\d)(?: |\r|$)")
_LENGTH = re.compile(rb"(?im)^content-length:[ \t]*(\d{1,15})[ \t]*\r?$")
_ODD = re.compile(rb"(?im)^transfer-encoding:")


async def call(
    method: str, host: str, port: int, path: str, *, token: str = "", body: bytes = b"", patience_s: float = PATIENCE_S
) -> Reply | Silence:
    """The answer, its body cut after so many bytes; or why there is none. It raises nothing that a peer can cause."""
    reached = reached_by(host)
    where = authority_of(host, port)
    lines = [f"{method} {path} HTTP/1.1", f"Host: {where}", "Connection: close", "Accept: application/json", f"Content-Length: {len(body)}"]
    lines += [f"Authorization: Bearer {token}"] if token else []
    lines += ["Content-Type: application/json"] if body else []
    request = "\r\n".join([*lines, "", ""]).encode("latin-1") + body
    try:
        async with asyncio.timeout(patience_s):
            return await _exchange(reached, port, request)
    except TimeoutError:
        return Silence("slow", f"{method} {path} was not answered within {patience_s:g} s")
    except (OSError, asyncio.IncompleteReadError) as error:
        return Silence("no answer", f"{method} {path} at {where}: {_why(error)}")
    except (ValueError, asyncio.LimitOverrunError):
        return Silence("garbage", f"{method} {path} was answered with something that is no HTTP")


async def _exchange(host: str, port: int, request: bytes) -> Reply | Silence:
    reader, writer = await asyncio.open_connection(host, port, limit=HEAD_BYTES)
    try:
        writer.write(request)
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        return await _reply(head, reader)
    finally:
        writer.transport.abort()


async def _reply(head: bytes, reader: asyncio.StreamReader) -> Reply | Silence:
    status = _STATUS.match(head)
    if status is None or _ODD.search(head):
        return Silence("garbage", "it was answered with something that is no plain HTTP")
    length = _LENGTH.search(head)
    wanted = min(int(length[1]), ANSWER_BYTES) if length else ANSWER_BYTES
    body = b""
    while len(body) < wanted and (more := await reader.read(wanted - len(body))):
        body += more
    whole = len(body) == int(length[1]) if length else await reader.read(1) == b""
    return Reply(int(status[1]), body, whole)


def _why(error: OSError | asyncio.IncompleteReadError) -> str:
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return "the connection ended before an answer" if isinstance(error, asyncio.IncompleteReadError) else type(error).__name__
