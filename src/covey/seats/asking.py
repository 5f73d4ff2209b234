"""One GET of the API for a hook, which an assistant waits for: HTTP/1.0, whose answer ends with its connection, needs no library.

Everything else calls by `covey.client`. Imported by each hook: keep it light.
"""

from __future__ import annotations

import socket
import time

from covey.base.errors import NotRunning
from covey.base.sockets import connected
from covey.base.target import Target

ANSWER_BYTES = 1024 * 1024
"""An answer is read so far; a glance is a hundredth of it."""


def get(target: Target, path: str, token: str, timeout_s: float) -> bytes:
    """The body of the answer, in so many seconds altogether.

    Raises:
        NotRunning: It is not 200, or no answer.
        OSError: Nobody answers there in time.
    """
    until = time.monotonic() + timeout_s
    with connected(target, timeout_s) as sock:
        sock.sendall(f"GET {path} HTTP/1.0\r\nHost: {target.authority}\r\nAuthorization: Bearer {token}\r\n\r\n".encode("ascii"))
        answer = b""
        while part := _received(sock, until):
            answer += part
            if len(answer) > ANSWER_BYTES:
                raise NotRunning(f"{target.authority} answers with more than {ANSWER_BYTES:,} bytes.")
    head, ended, body = answer.partition(b"\r\n\r\n")
    status = head.split(b" ", 2)[1:2]
    if not ended or status != [b"200"]:
        raise NotRunning(f"{target.authority} answered {head.partition(bytes([13]))[0][:60]!r}.")
    return body


def _received(sock: socket.socket, until: float) -> bytes:
    sock.settimeout(max(0.001, until - time.monotonic()))
    return sock.recv(65_536)
