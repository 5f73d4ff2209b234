"""The fleet's API over HTTP, for a fleet elsewhere, and for brains, which have its address and their token in their environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from covey.base import token_file
from covey.base.errors import CoveyError, Failed, Invalid, NotRunning, Unauthorized
from covey.client.lines import Line
from covey.client.place import Place
from covey.client.stream import PLACE, Reader, Told

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Far:
    """Calls an API by its address. `data_dir` is asked for only if the address is this machine's and no token is in the environment."""

    def __init__(self, url: str, data_dir: Callable[[], Path]) -> None:
        self._place = Place(url, "--url")
        self._data_dir = data_dir

    def call(self, method: str, target: str, raw: bytes, by: str | None, patience_s: float) -> tuple[int, bytes]:
        """Status and body of one answer.

        Raises:
            NotRunning: Nobody answers there.
        """
        answer = Line(self._place).call(self._place.trip(method, target, self._token(by), raw), patience_s)
        return answer.status, answer.body

    def stream(self, target: str) -> Iterator[Told]:
        """What an event stream tells, until it ends or breaks.

        Raises:
            NotRunning, CoveyError: It could not be had.
        """
        reader, begun = Reader(), False
        try:
            for part in Line(self._place).stream(
                self._place.trip("GET", target, self._token(None), accept="text/event-stream"), self._refused
            ):
                begun = True
                yield from (told for told in reader.feed(part) if told.kind != PLACE)
        except NotRunning:
            if not begun:
                raise

    def _refused(self, status: int, _: bytes) -> CoveyError:
        said = f"{self._place.url} answered with HTTP status {status}"
        return Unauthorized(f"{said}; is the token in COVEY_TOKEN the right one?") if status in (401, 403) else Failed(f"{said}.")

    def _token(self, by: str | None) -> str:
        """The token to show: that of COVEY_TOKEN; on this machine also what the fleet's own file has.

        Raises:
            Invalid: Another one is wanted than there is.
        """
        given = os.environ.get("COVEY_TOKEN", "")
        if given and by in (None, os.environ.get("COVEY_AGENT", "")):
            return given
        known = token_file.read(self._data_dir()) if self._place.target.host in _LOOPBACK else {}
        name = by or "operator"
        if name in known:
            return known[name]
        if by is not None:
            raise Invalid(
                f"--from {by} needs the token of {by}, which is not here: put it into COVEY_TOKEN and leave --from out.", field="--from"
            )
        url = self._place.url
        raise Invalid(f"{url} needs a token: put it into COVEY_TOKEN; `covey token show operator` prints it on the fleet's machine.")
