"""How a command reaches the fleet: on its machine through the API in this process, elsewhere over HTTP; by the same paths."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

import click
import msgspec

from covey.base.config import load, load_text, locate
from covey.base.errors import Failed
from covey.base.settings import Settings
from covey.cli.output import Refused, print_json
from covey.client.request import encoded, with_query

T = TypeVar("T")
PATIENCE_S = 30.0
"""An answer comes within so long, beside what it was asked to wait for."""
WAIT_S = 60.0
"""So long one call over HTTP waits at most; then the next one does."""
LOOK_S = 0.1
"""On this machine one looks so often."""
AGAIN_S = 1.0
"""A stream that broke is taken up again after so long."""


class Reach:
    """One command's way to the fleet. Used as a context: it closes what it opened."""

    def __init__(
        self,
        *,
        as_json: bool = False,
        home: Path | None = None,
        config: Path | None = None,
        base_port: int | None = None,
        url: str | None = None,
    ) -> None:
        self.as_json = as_json
        self.flags: dict[str, object] = {"dir": str(home.absolute()) if home else None, "base_port": base_port}
        self._config = config
        self._url = url
        self._settings: Settings | None = None
        self._runner: asyncio.Runner | None = None
        self._local: Any = None
        self._far: Any = None

    def flag(self, **flags: object) -> None:
        """Further flags that the settings are read with."""
        self.flags |= flags
        self._settings = None

    @property
    def settings(self) -> Settings:
        """The fleet's settings.

        Raises:
            Misconfigured: covey.toml has faults; it is refused whole.
        """
        if self._settings is None:
            self._settings = self.load(self.flags)
        return self._settings

    def load(self, flags: Mapping[str, object]) -> Settings:
        """The settings as covey.toml, the environment and these flags say."""
        return load(self._config, dir=Path.cwd(), environ=os.environ, flags=flags)

    def load_text(self, text: str) -> Settings:
        """The settings as this text in place of covey.toml, the environment and the flags say."""
        flags = {name: value for name, value in self.flags.items() if name != "dir" and value is not None}
        folder = str(self.flags["dir"] or "")
        return load_text(text, root=self.file.parent, home=Path(folder) if folder else None, environ=os.environ, flags=flags)

    @property
    def file(self) -> Path:
        """The covey.toml that is read, or would be if it were there."""
        given = {name: value for name, value in self.flags.items() if value is not None}
        return locate(self._config, dir=Path.cwd(), environ=os.environ, flags=given).file

    # calls

    def get(self, path: str, *, by: str | None = None, **query: Any) -> Any:
        """What is at a path; a parameter that is None is left out."""
        return self._call("GET", with_query(path, query), None, by, patience_s=PATIENCE_S + (query.get("wait") or 0.0))

    def post(self, path: str, body: Any = None, *, by: str | None = None) -> Any:
        """What comes of a call."""
        return self._call("POST", path, {} if body is None else body, by, patience_s=PATIENCE_S)

    def _call(self, method: str, target: str, body: Any, by: str | None, *, patience_s: float) -> Any:
        raw = encoded(body) if body is not None else b""
        if self._url:
            status, answer = self._over_there().call(method, target, raw, by, patience_s)
        else:
            status, answer = self.run(self._in_here(making=method != "GET").call(method, target, raw, by or "operator"))
        found = _decoded(answer, status)
        if status >= 400:
            raise Refused(found if "code" in found else Failed(f"{target} was answered with HTTP status {status}.").problem())
        return found

    @property
    def url(self) -> str | None:
        """The address of the API, if it is reached over HTTP."""
        return self._url

    def until(
        self, ended: Callable[[Any], bool], path: str, timeout_s: float, *, look_s: float = LOOK_S, by: str | None = None, **query: Any
    ) -> Any:
        """What is at a path once it has ended, or as it stands when the time is over."""
        end = time.monotonic() + timeout_s
        while True:
            left = end - time.monotonic()
            found = self.get(path, by=by, wait=min(max(left, 0.0), WAIT_S) if self._url else 0, **query)
            if ended(found) or left <= 0:
                return found
            if not self._url:
                time.sleep(min(look_s, left))

    def follow(self, path: str, since: str | None, **query: Any) -> Iterator[dict[str, Any]]:
        """What an event list tells, without end, from after `since` on, or from now on. A connection that breaks is taken up again.

        Raises:
            NotRunning: It can't be had.
        """
        yield from self._follow_there(path, since, query) if self._url else self._follow_here(path, since, query)

    def _follow_there(self, path: str, since: str | None, query: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        while True:
            for told in self._over_there().stream(with_query(path, {**query, "since": since})):
                since = told.cursor or since
                if told.kind != "end":
                    yield {"kind": told.kind, **told.data}
            time.sleep(AGAIN_S)

    def _follow_here(self, path: str, since: str | None, query: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        since = since if since is not None else self.run(self._in_here().last())
        while True:
            page = self.get(path, since=since, **query)
            since = page["cursor"]
            if page["resync"]:
                yield {"kind": "resync", "cursor": since}
            yield from page["items"]
            if not page["more"]:
                time.sleep(LOOK_S)

    def now(self) -> float:
        """The store's time."""
        found: float = self.get("/api/v1/status")["at"] if self._url else self.run(self._in_here().now())
        return found

    def say(self, value: Any, words: str) -> None:
        """Print what came of a command: the value where JSON was asked for, the words else."""
        if self.as_json:
            print_json(value)
        else:
            click.echo(words)

    def run(self, step: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on this command's loop."""
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(step)

    def _in_here(self, *, making: bool = False) -> Any:
        """The API in this process. What only reads makes no fleet where there is none; one that was made meanwhile is seen."""
        if self._local is not None and self._local.is_over(self.settings, making=making):
            self.run(self._local.close())
            self._local = None
        if self._local is None:
            from covey.cli.local import Local  # noqa: PLC0415 - only a fleet on this machine is reached by the API itself

            self._local = self.run(Local.open(self.settings, making=making))
        return self._local

    def _over_there(self) -> Any:
        if self._far is None:
            from covey.cli.far import Far  # noqa: PLC0415 - what speaks HTTP costs 30 ms that only calls over it pay

            assert self._url
            self._far = Far(self._url, lambda: Path(self.settings.data_dir))
        return self._far

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._runner is not None:
            if self._local is not None:
                self._runner.run(self._local.close())
            self._runner.close()


def _decoded(answer: bytes, status: int) -> Any:
    try:
        return msgspec.json.decode(answer) if answer else {}
    except msgspec.DecodeError as error:
        raise Failed(f"the answer, of HTTP status {status}, is no JSON; is the address that of a fleet's API?") from error
