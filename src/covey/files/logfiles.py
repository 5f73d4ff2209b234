"""One log file: lines appended, rotated by size, bounded; its end read, and followed over a rotation. Knows no event."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

FILE_BYTES = 10_000_000
FILES = 5
"""A log is so many files of so many bytes at most, the one written to among them."""
MODE = 0o640
BLOCK = 65_536
TAIL_BYTES = 4_000_000
"""So much of a log's end is looked through at most."""

DISK_TROUBLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ENFILE, errno.EMFILE})
"""What concerns all files, and passes."""


def append(path: Path, lines: bytes, file_bytes: int = FILE_BYTES) -> None:
    """Put whole lines at the end of a log, which is rotated first if they would make it too long.

    Raises:
        OSError: They could not be written; no part of them was.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o750)
    descriptor = _open(path)
    try:
        size = os.fstat(descriptor).st_size
        if size and size + len(lines) > file_bytes:
            os.close(descriptor)
            descriptor = -1
            rotate(path)
            descriptor, size = _open(path), 0
        _write(descriptor, lines, size)
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _open(path: Path) -> int:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, MODE)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file")
    return descriptor


def _write(descriptor: int, lines: bytes, size: int) -> None:
    view = memoryview(lines)
    try:
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError:
        with suppress(OSError):
            os.ftruncate(descriptor, size)
        raise


def rotate(path: Path) -> None:
    """`x.log` becomes `x.log.1` and so on; the oldest goes."""
    for number in range(FILES - 1, 0, -1):
        older = _numbered(path, number - 1)
        with suppress(FileNotFoundError):
            older.replace(_numbered(path, number))


def rotate_in_place(path: Path, file_bytes: int = FILE_BYTES) -> bool:
    """Rotate a file that another process holds open for appending: it is copied and emptied. What is written meanwhile may be lost.

    Raises:
        OSError: It can't be copied; nothing is emptied.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size <= file_bytes:
            return False
        part = path.with_name(f"{path.name}.part")
        _copy_end(descriptor, part, found.st_size, file_bytes)
        for number in range(FILES - 2, 0, -1):
            with suppress(FileNotFoundError):
                _numbered(path, number).replace(_numbered(path, number + 1))
        part.replace(_numbered(path, 1))
        os.ftruncate(descriptor, 0)
        return True
    finally:
        os.close(descriptor)


def _copy_end(source: int, part: Path, size: int, file_bytes: int) -> None:
    """Copy its last bytes, as many as one file may have."""
    part.unlink(missing_ok=True)
    target = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, MODE)
    try:
        offset = max(0, size - file_bytes)
        while offset < size and (sent := os.sendfile(target, source, offset, size - offset)):
            offset += sent
    finally:
        os.close(target)


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}") if number else path


def last_lines(path: Path, count: int) -> list[str]:
    """The last lines of a log, over its older files too, oldest first; none if there is no such log."""
    found: list[str] = []
    for number in range(FILES):
        wanted = count - len(found)
        if wanted <= 0:
            break
        found = _end_of(_numbered(path, number), wanted) + found
    return found


def _end_of(path: Path, count: int) -> list[str]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return []
    with os.fdopen(descriptor, "rb") as file:
        start = end = file.seek(0, os.SEEK_END)
        text = b""
        while start > 0 and text.count(b"\n") <= count and end - start < TAIL_BYTES:
            start = max(0, start - BLOCK)
            file.seek(start)
            text = file.read(min(BLOCK, end - start - len(text))) + text
    lines = text.splitlines()
    return [line.decode(errors="replace") for line in (lines if start == 0 else lines[1:])[-count:]]


class Follower:
    """Reads on in a log as it grows, over rotations of either kind. Blocking, and quick."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._offset = 0
        self._rest = b""
        self._open(at_end=True)

    def _open(self, *, at_end: bool) -> None:
        with suppress(FileNotFoundError):
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            self._offset = os.fstat(self._descriptor).st_size if at_end else 0

    def read(self) -> list[str]:
        """The whole lines that came since the last call."""
        if self._descriptor is None:
            self._open(at_end=False)
        text = self._read_on()
        if self._descriptor is not None and self._was_replaced():
            text += self._read_on()
            self.close()
            self._open(at_end=False)
            text += self._read_on()
        *lines, self._rest = (self._rest + text).split(b"\n")
        return [line.decode(errors="replace") for line in lines]

    def _read_on(self) -> bytes:
        if self._descriptor is None:
            return b""
        if os.fstat(self._descriptor).st_size < self._offset:
            self._offset = 0
        text = os.pread(self._descriptor, TAIL_BYTES, self._offset)
        self._offset += len(text)
        return text

    def _was_replaced(self) -> bool:
        assert self._descriptor is not None
        try:
            now = self._path.stat()
        except FileNotFoundError:
            return False
        mine = os.fstat(self._descriptor)
        return (now.st_ino, now.st_dev) != (mine.st_ino, mine.st_dev)

    def close(self) -> None:
        """Give back the descriptor."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
