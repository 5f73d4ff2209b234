"""The fleet's API over HTTP, for a fleet elsewhere, and for brains, which have its address and their token in their environment."""

from __future__ import annotations

import http.client
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from covey.base import token_file, tracing
from covey.base.errors import CoveyError, Invalid, NotRunning, Unauthorized
from covey.cli.stream import Reader, Told

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
STREAM_S = 60.0
"""A stream says within so long that it lives."""


class Far:
    """Calls an API by its address. `data_dir` is asked for only if the address is this machine's and no token is in the environment."""

    def __init__(self, url: str, data_dir: Callable[[], Path]) -> None:
        self._url = url
        self._at = urlsplit(url)
        self._data_dir = data_dir
        try:
            right = self._at.scheme in ("http", "https") and bool(self._at.hostname) and self._at.port != 0
        except ValueError:
            right = False
        if not right:
            raise Invalid(f"the address is {url[:200]!r}; give one as http://host:8000", field="--url")

    def call(self, method: str, target: str, raw: bytes, by: str | None, patience_s: float) -> tuple[int, bytes]:
        """Status and body of one answer.

        Raises:
            NotRunning: Nobody answers there.
        """
        connection = self._connect(patience_s)
        try:
            answer = self._ask(connection, method, target, raw, {"Authorization": f"Bearer {self._token(by)}"})
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise self._lost(error) from error
        finally:
            connection.close()

    def stream(self, target: str) -> Iterator[Told]:
        """What an event stream tells, until it ends or breaks.

        Raises:
            NotRunning, CoveyError: It could not be had.
        """
        connection = self._connect(STREAM_S)
        headers = {"Authorization": f"Bearer {self._token(None)}", "Accept": "text/event-stream"}
        try:
            answer = self._ask(connection, "GET", target, b"", headers)
            if answer.status != 200:
                raise Unauthorized(f"{self._url} answered with HTTP status {answer.status}; is the token in COVEY_TOKEN the right one?")
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise self._lost(error) from error
        reader = Reader()
        try:
            while part := answer.read1(65_536):
                yield from reader.feed(part)
        except (OSError, http.client.HTTPException):
            return
        finally:
            connection.close()

    def _connect(self, timeout_s: float) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._at.scheme == "https" else http.client.HTTPConnection
        return kind(self._at.hostname or "", self._at.port, timeout=timeout_s)

    def _ask(
        self, connection: http.client.HTTPConnection, method: str, target: str, raw: bytes, headers: dict[str, str]
    ) -> http.client.HTTPResponse:
        trace = tracing.inherited(os.environ)
        usual = {"Content-Type": "application/json"} | ({"traceparent": trace.header} if trace is not None else {})
        connection.request(method, self._at.path.rstrip("/") + target, raw, usual | headers)
        return connection.getresponse()

    def _lost(self, error: Exception) -> CoveyError:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return NotRunning(f"{self._url} can't be reached ({why}); is the fleet up there, and the address right?")

    def _token(self, by: str | None) -> str:
        """The token to show: that of COVEY_TOKEN; on this machine also what the fleet's own file has.

        Raises:
            Invalid: Another one is wanted than there is.
        """
        given = os.environ.get("COVEY_TOKEN", "")
        if given and by in (None, os.environ.get("COVEY_AGENT", "")):
            return given
        known = token_file.read(self._data_dir()) if self._at.hostname in _LOOPBACK else {}
        name = by or "operator"
        if name in known:
            return known[name]
        if by is not None:
            raise Invalid(
                f"--from {by} needs the token of {by}, which is not here: put it into COVEY_TOKEN and leave --from out.", field="--from"
            )
        raise Invalid(f"{self._url} needs a token: put it into COVEY_TOKEN; `covey token show operator` prints it on the fleet's machine.")
