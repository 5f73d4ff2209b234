"""Who calls which agent, found out before the A2A package sees the request; HTTP and gRPC hand it on in the call's context."""

from __future__ import annotations

from contextvars import ContextVar
from typing import NamedTuple

from a2a.extensions.common import HTTP_EXTENSION_HEADER, get_requested_extensions
from a2a.server.context import ServerCallContext
from a2a.server.request_handlers.grpc_handler import GrpcServerCallContextBuilder
from a2a.server.routes.common import ServerCallContextBuilder
from a2a.utils.constants import PROTOCOL_VERSION_0_3, PROTOCOL_VERSION_1_0, VERSION_HEADER
from a2a.utils.errors import VersionNotSupportedError
from grpc.aio import ServicerContext
from starlette.requests import Request

from covey.agents.model import Caller

KEY = "covey.a2a"
"""Where the visit stands in the ASGI scope and in the call's state."""


class Visit(NamedTuple):
    """One call: who, to which agent, under which name of this machine, in which version."""

    caller: Caller
    agent: str
    host: str
    version: str = PROTOCOL_VERSION_1_0
    traceparent: str | None = None
    """The trace that the call belongs to (W3C)."""


VISIT: ContextVar[Visit] = ContextVar("covey_a2a_visit")
"""The visit of the gRPC call that this task serves."""


def visit_of(context: ServerCallContext) -> Visit:
    """The visit that a call belongs to."""
    found: Visit = context.state[KEY]
    return found


class HttpContexts(ServerCallContextBuilder):
    """Makes the context of a request over HTTP."""

    def build(self, request: Request) -> ServerCallContext:
        """The context, with the visit that the guard has found."""
        visit: Visit = request.scope[KEY]
        return ServerCallContext(
            state={"headers": dict(request.headers), KEY: visit},
            requested_extensions=get_requested_extensions(request.headers.getlist(HTTP_EXTENSION_HEADER)),
        )


class GrpcContexts(GrpcServerCallContextBuilder):
    """Makes the context of a call over gRPC, and checks its version, which the package does not."""

    def __init__(self, version: str) -> None:
        self._version = version

    def build(self, context: ServicerContext) -> ServerCallContext:
        """The context, with the visit that the interceptor has found.

        Raises:
            VersionNotSupportedError: The caller speaks another version than this service.
        """
        metadata = [(key.lower(), _text(value)) for key, value in context.invocation_metadata() or ()]
        said = next((value for key, value in metadata if key == VERSION_HEADER.lower()), "") or self._version
        if said.split(".")[0] != self._version.split(".")[0]:
            raise VersionNotSupportedError(f"A2A version {said[:20]!r} is not spoken here; this service speaks {self._version}.")
        return ServerCallContext(
            state={"headers": {VERSION_HEADER: said}, KEY: VISIT.get()._replace(version=self._version)},
            requested_extensions=get_requested_extensions([value for key, value in metadata if key == HTTP_EXTENSION_HEADER.lower()]),
        )


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


__all__ = ["KEY", "PROTOCOL_VERSION_0_3", "PROTOCOL_VERSION_1_0", "VISIT", "GrpcContexts", "HttpContexts", "Visit", "visit_of"]
