"""Change a file that others may be reading: one changer at a time, and a reader sees the old or the new, whole."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def turn(folder: Path) -> Iterator[None]:
    """One change at a time, by a lock on the folder: a lock on the file would go with the file that is replaced."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def replace(path: Path, raw: bytes, mode: int) -> None:
    """Write beside, flush, rename: a reader sees the old or the new, and so does one after a power cut.

    Raises:
        OSError: It can't be written; what was there is as it was.
    """
    handle, part = tempfile.mkstemp(prefix=".covey-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as new:
            new.write(raw)
            new.flush()
            os.fchmod(handle, mode)
            os.fsync(handle)
        Path(part).replace(path)
    except OSError:
        Path(part).unlink(missing_ok=True)
        raise
