"""A port served by uvicorn inside a loop that runs already: no signal handlers, no access log, no tick while nothing happens."""

from __future__ import annotations

import errno
import socket
from pathlib import Path
from typing import Protocol

import uvicorn
from starlette.types import Receive, Scope, Send

from covey.agents import tokens
from covey.base.errors import Invalid, Misconfigured
from covey.base.ports import Free, probe, why_taken
from covey.doors.door import FleetDoor
from covey.doors.impatience import impatient_protocol

BACKLOG = 512
CONNECTIONS = 800
"""So many at once; whoever comes then gets 503."""
KEEP_ALIVE_S = 30
GRACE_S = 3.0
"""What is being answered at a stop is given so long."""


class Application(Protocol):
    """What can be served: an ASGI application that stands on a door."""

    @property
    def door(self) -> FleetDoor:
        """The door, whose `closing` ends what it streams."""
        ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        ...


class Serving:
    """A port that is being served."""

    def __init__(self, server: uvicorn.Server, listener: socket.socket, door: FleetDoor) -> None:
        self._server = server
        self._listener = listener
        self._door = door
        self.port: int = listener.getsockname()[1]

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._server.server_state.connections)

    async def stop(self) -> None:
        """Take no more, end streams and waits, finish what is being answered, within a bounded time."""
        if not self._door.closing.is_set():
            self._door.closing.set()
            await self._server.shutdown(sockets=[self._listener])
            self._door.news.close()


async def serve(app: Application, host: str, number: int, run_dir: Path | None = None) -> Serving:
    """The application, served on that address; number 0 takes a free port, which is in the answer.

    Raises:
        PortTaken: Somebody holds the port; the error says who (A10).
        Misconfigured: It would be reached from beyond this machine while nobody has a token.
        Invalid: It is no address to listen on.
    """
    await _refuse_open_bind(app.door, host)
    listener = _bound(host, number, run_dir)
    config = uvicorn.Config(
        app,
        http=impatient_protocol(),
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        backlog=BACKLOG,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,  # type: ignore[arg-type]  # a float is waited for as well
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    try:
        await server.startup(sockets=[listener])
    except BaseException:
        listener.close()
        raise
    return Serving(server, listener, app.door)


async def _refuse_open_bind(door: FleetDoor, host: str) -> None:
    """A bind beyond loopback needs tokens (DESIGN, Security)."""
    if not door.on_loopback and not await door.store.read(tokens.any_there):
        raise Misconfigured(
            f"host is {host}, which others can reach, and nobody has a token yet; start the fleet by `covey up`, which makes them."
        )


def _bound(host: str, number: int, run_dir: Path | None) -> socket.socket:
    """A socket that is bound; the port is probed first, so that whoever holds it is named (A10)."""
    found = probe(host, number, run_dir) if number else Free()
    if not isinstance(found, Free):
        raise why_taken(host, number, found)
    family, _, _, _, address = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    # the protocol is named, else asyncio does not turn off Nagle on what it accepts, and each answer takes 40 ms
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        found = probe(host, number, run_dir)
        if error.errno == errno.EADDRINUSE and not isinstance(found, Free):
            raise why_taken(host, number, found) from error
        raise Invalid(f"{host}:{number} can't be bound ({error.strerror}); give another address or port.", field="port") from error
    listener.setblocking(False)
    return listener
