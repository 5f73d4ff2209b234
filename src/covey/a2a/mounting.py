"""Opens the A2A door: its routes for the gateway, its gRPC server on the port behind the gateway's, and what pushes news."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.routing import BaseRoute

from covey.a2a import grpc_server
from covey.a2a.pushing import Pusher
from covey.a2a.routes import routes
from covey.a2a.service import Service
from covey.doors.door import FleetDoor

_WRONG_CALLS = (
    "Failed to validate base JSON-RPC request",
    "Failed to parse request params",
    "Failed to validate base JSON-RPC request for v0.3",
)
_READERS = ("a2a.server.routes.jsonrpc_dispatcher", "a2a.compat.v0_3.jsonrpc_adapter")


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a line of the package belongs in the log: a call that can't be read is its caller's fault, which it is told."""
    return record.msg not in _WRONG_CALLS


@asynccontextmanager
async def opened(door: FleetDoor, *, once: bool = True) -> AsyncIterator[Sequence[BaseRoute]]:
    """The routes of the A2A door, which is open meanwhile. `once` is as in `Service`.

    Raises:
        PortTaken: The port behind the gateway's, which is gRPC's, can't be had.
    """
    logging.getLogger("a2a").setLevel(logging.ERROR)  # it tells what callers did wrong, with their words
    for name in _READERS:  # and these with a trace as well, so that whoever may call could fill the log
        logging.getLogger(name).addFilter(_is_news)
    pusher = Pusher(door)
    service = Service(door, pusher.wake, once=once)
    server = await grpc_server.serve(door, service, door.settings.host, door.settings.gateway_port + 1)
    pushing = asyncio.create_task(pusher.run())
    try:
        yield routes(door, service)
    finally:
        await server.stop()
        pushing.cancel()
        await asyncio.gather(pushing, return_exceptions=True)
        await pusher.close()
