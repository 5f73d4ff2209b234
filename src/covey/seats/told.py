"""What a seat's hooks have told their assistant so far, and how often they kept it from stopping. One hook at a time.

Imported by each hook: keep it light.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MOST_KEPT = 3
"""So often in a row an assistant is kept from stopping; then it may, whatever waits."""


class Told:
    """Up to which mark all was told, and how often in a row the assistant was kept from stopping."""

    __slots__ = ("kept", "mark")

    def __init__(self, mark: str = "", kept: int = 0) -> None:
        self.mark = mark
        self.kept = kept

    def written(self) -> bytes:
        """As it is kept."""
        return json.dumps({"mark": self.mark, "kept": self.kept}).encode()


@contextmanager
def turn(path: Path) -> Iterator[Told | None]:
    """What was told; what is changed in it is kept. None if another hook of this seat is at it: that one tells."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        told = _read(handle)
        before = told.written()
        yield told
        if told.written() != before:
            os.ftruncate(handle, 0)
            os.pwrite(handle, told.written(), 0)
    finally:
        os.close(handle)


def _read(handle: int) -> Told:
    """What stands there; what can't be read is as if nothing had been told: better twice than never."""
    try:
        found = json.loads(os.pread(handle, 4096, 0))
        return Told(str(found["mark"]), int(found["kept"]))
    except (ValueError, KeyError, TypeError):
        return Told()
