"""The fleet's API in this process, on the store itself, so that commands work while the fleet is down."""

from __future__ import annotations

import asyncio
from typing import Any, Self

from covey.api.door import FleetDoor
from covey.api.fleet_port import make_app
from covey.app.opening import open_store, prepare
from covey.app.tokens import tokens_of
from covey.base.errors import NotFound
from covey.base.settings import Settings


class Local:
    """An open store with the API's application on it."""

    def __init__(self, door: FleetDoor, tokens: dict[str, str]) -> None:
        self._door = door
        self._app = make_app(door)
        self._tokens = tokens

    @classmethod
    async def open(cls, settings: Settings) -> Self:
        """Open the store; a fleet that was never started gets its agents and tokens."""
        store = open_store(settings)
        await prepare(store, settings)
        return cls(FleetDoor(store=store, settings=settings), await tokens_of(store, settings))

    async def call(self, method: str, target: str, raw: bytes, by: str) -> tuple[int, bytes]:
        """One request as the operator or an agent; status and body of the answer.

        Raises:
            NotFound: There is no token for this name.
        """
        if by not in self._tokens:
            raise NotFound(f"there is no token for {by!r}; the fleet has: {', '.join(self._tokens)}.", field="from")
        path, _, query = target.partition("?")
        headers = [
            (b"host", f"127.0.0.1:{self._door.settings.console_port}".encode()),
            (b"authorization", f"Bearer {self._tokens[by]}".encode()),
            (b"content-type", b"application/json"),
            (b"content-length", str(len(raw)).encode()),
        ]
        scope: dict[str, Any] = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http", "path": path,
            "raw_path": path.encode(), "query_string": query.encode(), "root_path": "", "headers": headers, "client": ("127.0.0.1", 0),
            "server": ("127.0.0.1", self._door.settings.console_port),
        }  # fmt: skip
        answer = _Answer(raw)
        await self._app(scope, answer.receive, answer.send)
        return answer.status, b"".join(answer.parts)

    async def close(self) -> None:
        """Close the store."""
        await self._door.store.close()


class _Answer:
    """Gives the request's body and keeps what is answered."""

    def __init__(self, raw: bytes) -> None:
        self._asked = asyncio.Event()
        self._never = asyncio.Event()
        self._raw = raw
        self.status = 0
        self.parts: list[bytes] = []

    async def receive(self) -> dict[str, Any]:
        if self._asked.is_set():
            await self._never.wait()
        self._asked.set()
        return {"type": "http.request", "body": self._raw, "more_body": False}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.parts.append(message.get("body", b""))
