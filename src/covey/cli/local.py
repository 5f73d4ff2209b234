"""The fleet's API in this process, on the store itself, so that commands work while the fleet is down.

It never waits inside the API: that would take the console's bell, which one process of a machine has.
"""

from __future__ import annotations

import asyncio
import io
import logging
import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self
from urllib.parse import unquote

import msgspec

from covey.app.opening import has_store, open_store, prepare
from covey.app.tokens import tokens_of
from covey.base import token_file, tracing
from covey.base.errors import NotFound
from covey.base.settings import Settings
from covey.cli.ending import debugging, write_trace
from covey.doors.door import FleetDoor
from covey.doors.operations import Operation
from covey.doors.port import Port
from covey.store import Transaction, events

PARTS = (
    "fleet_messages",
    "fleet_tasks",
    "fleet_events",
    "fleet_agents",
    "fleet_links",
    "fleet_budgets",
    "fleet_incidents",
    "fleet_buddies",
    "fleet_contexts",
    "fleet_votes",
    "fleet_handoffs",
    "fleet_teams",
    "fleet_glance",
    "fleet_webhooks",
    "fleet_nodes",
    "fleet_figures",
    "fleet_external",
)
"""The parts of the API, in the order of what they cost: only what is called is loaded."""


class Local:
    """An open store with as much of the API on it as is called."""

    def __init__(self, door: FleetDoor, tokens: dict[str, str], passing: TemporaryDirectory[str] | None = None) -> None:
        self._door = door
        self._tokens = tokens
        self._passing = passing
        self._log = _Log()
        logging.getLogger().addHandler(self._log)

    @classmethod
    async def open(cls, settings: Settings, *, making: bool) -> Self:
        """Open the store. A fleet that was never started gets agents and tokens: to stay if `making`, else in a folder that goes with this.

        Raises:
            NotFound: What only reads finds a fleet on a server, and none of its tokens here.
        """
        if making or has_store(settings):
            return await cls._opened(settings, making=making)
        passing = TemporaryDirectory(prefix="covey-")
        try:
            return await cls._opened(msgspec.structs.replace(settings, data_dir=passing.name), making=True, passing=passing)
        except BaseException:
            passing.cleanup()
            raise

    @classmethod
    async def _opened(cls, settings: Settings, *, making: bool, passing: TemporaryDirectory[str] | None = None) -> Self:
        store = open_store(settings)
        try:
            if not making:
                _want_tokens(settings)
            await prepare(store, settings)
            return cls(FleetDoor(store=store, settings=settings), await tokens_of(store, settings), passing)
        except BaseException:
            await store.close()
            raise

    def is_over(self, settings: Settings, *, making: bool) -> bool:
        """Whether this was a fleet in passing, and there is or is to be one that stays."""
        return self._passing is not None and (making or has_store(settings))

    async def call(self, method: str, target: str, raw: bytes, by: str) -> tuple[int, bytes]:
        """One request as the operator or an agent; status and body of the answer.

        Raises:
            NotFound: There is no token for this name.
        """
        if by not in self._tokens:
            raise NotFound(f"there is no token for {by!r}; the fleet has: {', '.join(self._tokens)}.", field="from")
        answer = _Answer(raw)
        scope = self._scope(method, target, by, len(raw))
        port = Port(self._door, operations_at(scope["path"]))
        await port(scope, answer.receive, answer.send)
        body = b"".join(answer.parts)
        return answer.status, self._log.named_in(body) if answer.status == 500 else body

    def _scope(self, method: str, target: str, by: str, length: int) -> dict[str, Any]:
        path, _, query = target.partition("?")
        here = ("127.0.0.1", self._door.settings.console_port)
        headers = [
            (b"host", f"{here[0]}:{here[1]}".encode()),
            (b"authorization", f"Bearer {self._tokens[by]}".encode()),
            (b"content-type", b"application/json"),
            (b"content-length", str(length).encode()),
        ]
        if (trace := tracing.inherited(os.environ)) is not None:
            headers.append((b"traceparent", trace.header.encode()))
        return {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http", "path": unquote(path),
            "raw_path": path.encode(), "query_string": query.encode(), "root_path": "", "headers": headers, "client": here, "server": here,
        }  # fmt: skip

    async def now(self) -> float:
        """The store's time."""
        return await self._door.store.read(_now)

    async def last(self) -> str:
        """The cursor of the last event."""
        return str(await self._door.store.read(events.last))

    async def close(self) -> None:
        """Close the store."""
        logging.getLogger().removeHandler(self._log)
        await self._door.store.close()
        if self._passing is not None:
            self._passing.cleanup()


def _want_tokens(settings: Settings) -> None:
    """Go on only if the tokens of a fleet on a server are here: new ones would take the place of those that it goes by."""
    if settings.store and not token_file.read(Path(settings.data_dir)):
        raise NotFound(
            f"{settings.data_dir} has no tokens of the fleet in {settings.store.split('@')[-1]}: copy {token_file.NAME} here from where "
            "it runs, or reach it by --url; the first `covey up` of a new fleet makes them.",
            field="--dir",
        )


def operations_at(path: str) -> Sequence[Operation[Any, Any]]:
    """The operations of the part of the API that has this path."""
    found: Sequence[Operation[Any, Any]] = ()
    for name in PARTS:
        found = import_module(f"covey.api.{name}").OPERATIONS
        if any(_leads_to(operation.path, path) for operation in found):
            break
    return found


def _leads_to(form: str, path: str) -> bool:
    """Whether a path is of a form like `/api/v1/tasks/{id}`. Pure."""
    parts, given = form.split("/"), path.split("/")
    return len(parts) == len(given) and all(part == one or part.startswith("{") for part, one in zip(parts, given, strict=True))


def _now(tx: Transaction) -> float:
    return tx.now


class _Answer:
    """Gives the request's body and keeps what is answered."""

    def __init__(self, raw: bytes) -> None:
        self._raw: bytes | None = raw
        self.status = 0
        self.parts: list[bytes] = []

    async def receive(self) -> dict[str, Any]:
        if self._raw is None:
            await asyncio.Event().wait()
        raw, self._raw = self._raw, None
        return {"type": "http.request", "body": raw, "more_body": False}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.parts.append(message.get("body", b""))


class _Log(logging.StreamHandler[io.StringIO]):
    """Keeps what the API and the store log off the screen, for the file that a fault of ours is written to."""

    def __init__(self) -> None:
        super().__init__(io.StringIO())
        self.setLevel(logging.DEBUG if debugging() else logging.WARNING)

    def named_in(self, body: bytes) -> bytes:
        """The problem, naming the file that says what happened."""
        problem = msgspec.json.decode(body)
        path = write_trace(self.stream.getvalue())
        said = str(problem.get("detail", "")).partition("; the log has it")[0]
        return msgspec.json.encode(problem | {"detail": f"{said}; {path} says where. Please report it.", "log": str(path)})
