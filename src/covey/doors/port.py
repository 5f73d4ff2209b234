"""A port as an ASGI application: guards, routes from one table, handlers, and the one place where an error becomes an answer."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
from typing import Any

from starlette.routing import BaseRoute, Route, Router
from starlette.types import Receive, Scope, Send

from covey.agents.model import Caller
from covey.base import tracing
from covey.base.errors import CoveyError, Failed, MethodNotAllowed, NotFound
from covey.doors.answer import Answer, Stream, fault, problem
from covey.doors.bodies import Disconnected
from covey.doors.call import KEY, Call, call_of
from covey.doors.door import FleetDoor
from covey.doors.hosts import Hosts, asked
from covey.doors.operations import Operation, admit

log = logging.getLogger("covey.doors")


class Port:
    """One port's application; `mounted` are applications of other doors, which stand behind the same guards."""

    def __init__(self, door: FleetDoor, operations: Sequence[Operation[Any, Any]], mounted: Sequence[BaseRoute] = ()) -> None:
        self.door = door
        self.operations = operations
        self._hosts = Hosts(door.settings)
        self._settings = door.settings
        self._router = Router([*self._routes(), *mounted], redirect_slashes=False, default=no_such_path)

    def _routes(self) -> list[Route]:
        paths: dict[str, dict[str, Endpoint]] = {}
        for operation in self.operations:
            paths.setdefault(operation.path, {})[operation.method] = Endpoint(self, operation)
        return [Route(path, endpoint=Resource(methods)) for path, methods in paths.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. The blanket except of a door."""
        if scope["type"] != "http":
            await _other(scope, receive, send)
            return
        call: Call[Any, Any] = Call(self.door, scope, receive, send)
        scope[KEY] = call
        try:
            scope["covey.loopback"] = self.hosts.check(asked(scope, call.headers))
            await self._router(scope, receive, call.pass_on)
        except Disconnected:
            return
        except CoveyError as error:
            await self._refuse(call, error)
        except Exception as error:
            if call.started:
                raise
            await self._refuse(call, error)

    @property
    def hosts(self) -> Hosts:
        """The names that may be asked for, as the settings are now."""
        if self._settings is not self.door.settings:
            self._settings = self.door.settings
            self._hosts = Hosts(self._settings)
        return self._hosts

    async def _refuse(self, call: Call[Any, Any], error: Exception) -> None:
        """Answer with the error. One of our own faults goes to the log, and only its reference to the caller."""
        if not isinstance(error, CoveyError) or isinstance(error, Failed):
            reference = secrets.token_hex(4)
            log.error("%s %s failed (reference %s)", call.scope["method"], call.scope["path"], reference, exc_info=error)
            error = fault(reference)
        if call.started:
            log.warning("%s %s: %s", call.scope["method"], call.scope["path"], error.message)
            return
        try:
            await call.answer(self.refusal(call, error))
        except Disconnected:
            return

    async def caller(self, call: Call[Any, Any]) -> Caller | None:
        """Who calls, by the bearer token of the request.

        Raises:
            Unauthorized: The token is nobody's.
        """
        return await self.door.admission.caller(call.headers.get(b"authorization"))

    def refusal(self, _call: Call[Any, Any], error: CoveyError) -> Answer:
        """The error as it is answered: a problem object, unless a door's callers read something else."""
        return problem(error, self.door.clock.wall())

    def open_to(self, operation: Operation[Any, Any], scope: Scope) -> bool:
        """Whether status or metrics are open to this request: on loopback, asked for by a loopback name, or by the settings."""
        settings = self.door.settings
        opened = settings.open_metrics if operation.who == "metrics" else settings.open_status
        return opened or (self.door.on_loopback and scope["covey.loopback"])


class Endpoint:
    """One operation of a port: admits, decodes, has it handled, answers."""

    def __init__(self, port: Port, operation: Operation[Any, Any]) -> None:
        self._port = port
        self._operation = operation
        self._empty = operation.empty_body()

    async def __call__(self, call: Call[Any, Any]) -> None:
        """Handle one call."""
        operation = self._operation
        call.port = self._port
        if operation.who != "anyone":
            caller = await call.recognise()
            admit(operation, call, caller, open_here=self._port.open_to(operation, call.scope))
        call.query = call.read_query(operation.query)
        if operation.method != "GET":
            call.body = await (call.read_form(operation.body) if operation.form else call.read_body(operation.body, self._empty))
        with tracing.entered(tracing.parse(call.headers.get(b"traceparent", b"").decode("latin-1"))):
            answer = await operation.handler(call)
        if isinstance(answer, Stream):
            await call.stream(answer)
        else:
            await call.answer(answer)


class Resource:
    """All operations of one path, as an ASGI application; HEAD is GET without its body."""

    def __init__(self, methods: dict[str, Endpoint]) -> None:
        self._methods = methods | ({"HEAD": methods["GET"]} if "GET" in methods else {})

    async def __call__(self, scope: Scope, _receive: Receive, _send: Send) -> None:
        """Pick the operation by its method."""
        endpoint = self._methods.get(scope["method"])
        if endpoint is None:
            allow = sorted(self._methods)
            raise MethodNotAllowed(f"{scope['path'][:200]} does not take {scope['method'][:20]}; it takes {', '.join(allow)}.", allow=allow)
        await endpoint(call_of(scope))


async def no_such_path(scope: Scope, _receive: Receive, _send: Send) -> None:
    """There is nothing at this path."""
    raise NotFound(f"there is nothing at {scope['path'][:200]!r}; /openapi.json lists all that is there.", field="path")


async def _other(scope: Scope, receive: Receive, send: Send) -> None:
    """No websockets; nothing to do at start and end."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
    while scope["type"] == "lifespan":
        step = (await receive())["type"]
        await send({"type": f"{step}.complete"})
        if step == "lifespan.shutdown":
            return
