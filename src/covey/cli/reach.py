"""How a command reaches the fleet: on its machine through the API's own application in this process, elsewhere over HTTP. One set of paths."""

from __future__ import annotations

import asyncio
import http.client
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from covey.base.config import load
from covey.base.errors import CoveyError, NotRunning
from covey.base.settings import Settings
from covey.cli.output import Refused


class Reach:
    """One command's way to the fleet."""

    def __init__(self, *, folder: Path, config: Path | None, url: str | None, as_json: bool, flags: Mapping[str, object]) -> None:
        self.as_json = as_json
        self._folder = folder
        self._config = config
        self._url = url
        self._flags = flags
        self._settings: Settings | None = None
        self._runner: asyncio.Runner | None = None
        self._local: Any = None

    def flag(self, **flags: object) -> None:
        """Further flags that the settings are read with."""
        self._flags = {**self._flags, **flags}

    @property
    def settings(self) -> Settings:
        """The fleet's settings; refused whole if covey.toml has faults."""
        if self._settings is None:
            try:
                self._settings = load(self._config, dir=self._folder, environ=os.environ, flags=self._flags)
            except CoveyError as error:
                raise Refused.of(error, as_json=self.as_json) from error
        return self._settings

    def get(self, path: str, *, by: str | None = None, **query: Any) -> Any:
        """What is at a path; a parameter that is None is left out."""
        asked = {name: str(value).lower() if isinstance(value, bool) else value for name, value in query.items() if value is not None}
        return self._call("GET", f"{path}?{urlencode(asked)}" if asked else path, None, by)

    def post(self, path: str, body: Any = None, *, by: str | None = None) -> Any:
        """What comes of a call."""
        return self._call("POST", path, {} if body is None else body, by)

    def _call(self, method: str, path: str, body: Any, by: str | None) -> Any:
        raw = msgspec.json.encode(body) if body is not None else b""
        try:
            status, answer = self._over_http(method, path, raw) if self._url else self.run(self._here(method, path, raw, by or "operator"))
        except CoveyError as error:
            raise Refused.of(error, as_json=self.as_json) from error
        found = msgspec.json.decode(answer) if answer else None
        if status >= 400 and isinstance(found, dict) and "code" in found and "detail" in found:
            raise Refused(found, as_json=self.as_json)
        return found

    def run(self, step: Any) -> Any:
        """Run a coroutine on this command's loop."""
        if self._runner is None:
            self._runner = asyncio.Runner()
        try:
            return self._runner.run(step)
        except CoveyError as error:
            raise Refused.of(error, as_json=self.as_json) from error

    async def _here(self, method: str, path: str, raw: bytes, by: str) -> tuple[int, bytes]:
        if self._local is None:
            # the API's application is loaded only by commands that reach a fleet on this machine
            from covey.cli.local import Local

            self._local = await Local.open(self.settings)
        found: tuple[int, bytes] = await self._local.call(method, path, raw, by)
        return found

    def _over_http(self, method: str, path: str, raw: bytes) -> tuple[int, bytes]:
        at = urlsplit(self._url or "")
        kind = http.client.HTTPSConnection if at.scheme == "https" else http.client.HTTPConnection
        connection = kind(at.hostname or "", at.port, timeout=330)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('COVEY_TOKEN', '')}"}
        try:
            connection.request(method, at.path.rstrip("/") + path, raw, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except OSError as error:
            raise NotRunning(f"{self._url} can't be reached ({error}); is the fleet up there, and the address right?") from error
        finally:
            connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._runner is not None:
            if self._local is not None:
                self._runner.run(self._local.close())
            self._runner.close()


def part(text: str) -> str:
    """A name or id as a part of a path."""
    return quote(text, safe="")
