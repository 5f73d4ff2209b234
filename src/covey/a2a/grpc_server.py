"""The gRPC server of the A2A door: the same handler, versions 1.0 and 0.3 side by side; the request's tenant says which agent is meant."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
from a2a.server.request_handlers.grpc_handler import GrpcHandler
from a2a.types import a2a_pb2_grpc
from grpc.aio import ServerInterceptor, ServicerContext

from covey.a2a.following import WAIT_S
from covey.a2a.service import Service
from covey.a2a.visiting import PROTOCOL_VERSION_0_3, PROTOCOL_VERSION_1_0, VISIT, GrpcContexts, Visit
from covey.agents import roster
from covey.base.errors import CoveyError, Forbidden, PortTaken, Unauthorized
from covey.base.target import in_url
from covey.base.wire import REQUEST_BYTES
from covey.doors.door import FleetDoor
from covey.store import Transaction

GRACE_S = 1.0
AGE_S, AGE_GRACE_S = 3600.0, WAIT_S
"""A connection takes no more calls after so long, and is cut that much later: a reader that does not read holds its call no longer.

gRPC tells nobody that a reader takes nothing. Whoever is cut off from a stream subscribes again.
"""
CALLS = 800
"""So many at once; whoever comes then is told that nothing is left."""
_CODES = {
    "unauthorized": grpc.StatusCode.UNAUTHENTICATED,
    "forbidden": grpc.StatusCode.PERMISSION_DENIED,
    "unknown": grpc.StatusCode.NOT_FOUND,
    "gone": grpc.StatusCode.NOT_FOUND,
}


class GrpcServer:
    """A server that is running."""

    def __init__(self, server: grpc.aio.Server, port: int) -> None:
        self._server = server
        self.port = port

    async def stop(self) -> None:
        """Take no more, and end what is open within a second."""
        await self._server.stop(GRACE_S)


async def serve(door: FleetDoor, service: Service, host: str, port: int) -> GrpcServer:
    """The server, started on that address; port 0 takes a free one.

    Raises:
        PortTaken: The port can't be had.
    """
    options = [
        ("grpc.max_receive_message_length", REQUEST_BYTES),
        ("grpc.so_reuseport", 0),
        ("grpc.max_connection_age_ms", int(AGE_S * 1000)),
        ("grpc.max_connection_age_grace_ms", int(AGE_GRACE_S * 1000)),
    ]
    server = grpc.aio.server(interceptors=[Admitting(door)], options=options, maximum_concurrent_rpcs=CALLS)
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(service, GrpcContexts(PROTOCOL_VERSION_1_0)), server)  # type: ignore[no-untyped-call]  # generated
    a2a_v0_3_pb2_grpc.add_A2AServiceServicer_to_server(CompatGrpcHandler(service, GrpcContexts(PROTOCOL_VERSION_0_3)), server)  # type: ignore[no-untyped-call]  # likewise
    try:
        bound = server.add_insecure_port(f"{in_url(host)}:{port}")
    except RuntimeError as error:
        raise PortTaken(f"{host}:{port} can't be bound for gRPC ({error}); set gateway_port so that the one behind it is free.") from error
    await server.start()
    return GrpcServer(server, bound)


class Admitting(ServerInterceptor):  # type: ignore[misc]  # untyped
    """Finds out who calls which agent, before the handler; who has no token is turned away."""

    def __init__(self, door: FleetDoor) -> None:
        self._door = door

    async def intercept_service(
        self, continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]], handler_call_details: grpc.HandlerCallDetails
    ) -> Any:
        """The handler, behind the check."""
        handler = await continuation(handler_call_details)
        if handler is None or handler.request_streaming:
            return handler
        if handler.response_streaming:
            return grpc.unary_stream_rpc_method_handler(
                self._streaming(handler.unary_stream), handler.request_deserializer, handler.response_serializer
            )
        return grpc.unary_unary_rpc_method_handler(
            self._single(handler.unary_unary), handler.request_deserializer, handler.response_serializer
        )

    def _single(self, inner: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def admitted(request: Any, context: ServicerContext) -> Any:
            await self._admit(request, context)
            return await inner(request, context)

        return admitted

    def _streaming(self, inner: Callable[..., AsyncIterator[Any]]) -> Callable[..., AsyncIterator[Any]]:
        async def admitted(request: Any, context: ServicerContext) -> AsyncIterator[Any]:
            await self._admit(request, context)
            async for each in inner(request, context):
                yield each

        return admitted

    async def _admit(self, request: Any, context: ServicerContext) -> None:
        """Set the visit, or end the call."""
        try:
            VISIT.set(await self._visit(getattr(request, "tenant", ""), context))
        except CoveyError as error:
            await context.abort(_CODES.get(error.code, grpc.StatusCode.INTERNAL), error.message)

    async def _visit(self, tenant: str, context: ServicerContext) -> Visit:
        metadata = {key.lower(): value for key, value in context.invocation_metadata() or ()}
        said = metadata.get("authorization")
        caller = await self._door.admission.caller(said.encode("latin-1", "replace") if isinstance(said, str) else said)
        if caller is None:
            raise Unauthorized("this needs a token: send the metadata `authorization: Bearer TOKEN`.")
        if caller.kind not in ("operator", "agent"):
            raise Forbidden(f"the token is {caller.name}'s, which gives no work; use the operator's or an agent's.")
        return Visit(caller, await self._door.store.read(_meant, tenant), self._door.settings.host)


def _meant(tx: Transaction, tenant: str) -> str:
    """The agent that is meant: the tenant's name, or the lead for who names none."""
    return roster.find(tx, tenant[:64] or roster.lead(tx)[0], field="tenant").id
