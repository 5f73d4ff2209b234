"""A folder of files that are each written whole, by a temporary name and a rename, and whose edits from outside are noticed.

It remembers how each file looked when it was written (inode, size, times): one `lstat` tells that nobody touched it. What is in
the files is not its business. A symbolic link in a file's place is replaced, never followed.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

FILE_MODE = 0o640
FOLDER_MODE = 0o750
OLD_PART_S = 60.0


class Look(NamedTuple):
    """How a file looks from outside."""

    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, found: os.stat_result) -> Look:
        """The look of a stat result."""
        return cls(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


class Written(NamedTuple):
    """What was written, and how it looked right after."""

    look: Look | None
    digest: bytes
    size: int


class Folder:
    """The files below one root, by their names relative to it. Blocking: call it from a thread."""

    def __init__(self, root: Path, folders: Iterable[str] = ("",)) -> None:
        self.root = root
        self._folders = tuple(folders)
        self._written: dict[str, Written] = {}

    def make(self) -> list[str]:
        """Make the folders that are missing; which of them held files of ours before.

        Raises:
            OSError: One can't be made.
        """
        gone = []
        for name in self._folders:
            path = self.root / name
            if not path.is_dir():
                path.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
                if self._forget_below(name):
                    gone.append(name)
        return gone

    def _forget_below(self, folder: str) -> bool:
        lost = [name for name in self._written if name.rpartition("/")[0] == folder]
        for name in lost:
            del self._written[name]
        return bool(lost)

    def forget(self) -> None:
        """Nobody knows any more what was written: as at the start."""
        self._written.clear()

    def changed(self, names: Iterable[str]) -> list[str]:
        """Those of our files that do not look as they were left."""
        root = f"{self.root}/"  # joined as text: this is done for hundreds of files, twice a second
        return [name for name in names if (kept := self._written.get(name)) is not None and _look(root + name) != kept.look]

    def put(self, name: str, content: bytes) -> bool:
        """Make this the file's content, if it is not already; whether somebody else had edited the file since it was written.

        Raises:
            OSError: It can't be written; the file is as it was.
        """
        path = self.root / name
        digest = _digest(content)
        kept = self._written.get(name)
        now = _look(path)
        if kept is not None and now == kept.look and digest == kept.digest:
            return False
        edited = kept is not None and now != kept.look and not _holds(path, now, kept.size, kept.digest)
        if _holds(path, now, len(content), digest):
            self._written[name] = Written(now, digest, len(content))
            return False
        self._written[name] = Written(write_whole(path, content), digest, len(content))
        return edited

    def remove(self, name: str) -> None:
        """The file is no more."""
        self._written.pop(name, None)
        (self.root / name).unlink(missing_ok=True)

    def names(self, folder: str) -> list[str]:
        """The names of the files in one folder; parts that a killed process left there are removed on the way."""
        found = []
        with os.scandir(self.root / folder) as entries:
            for entry in entries:
                if _is_part(entry.name):
                    _remove_old(Path(entry.path))
                else:
                    found.append(entry.name)
        return found


def write_whole(path: Path, content: bytes, mode: int = FILE_MODE, *, alone: bool = False) -> Look:
    """The look of the file, which has this content now: another process sees the old content or the new one, never a part.

    `alone`: no other process writes this file, so a part that a killed one left is where the next part goes.

    Raises:
        OSError: It can't be written; the file is as it was.
    """
    part = path.with_name(f".{path.name}.tmp" if alone else f".{path.name}.{os.getpid()}.tmp")
    descriptor = _create(part, mode)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
        part.replace(path)
        return Look.of(os.fstat(descriptor))
    except OSError:
        with suppress(OSError):
            part.unlink()
        raise
    finally:
        os.close(descriptor)


def _create(part: Path, mode: int) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        return os.open(part, flags, mode)
    except FileExistsError:  # of a process that had our pid and was killed
        part.unlink()
        return os.open(part, flags, mode)


def _is_part(name: str) -> bool:
    return name.startswith(".") and name.endswith(".tmp")


def _remove_old(part: Path) -> None:
    """Remove a part that nobody writes any more: others in its folder were written a minute later."""
    with suppress(OSError):
        if part.parent.stat().st_mtime - part.lstat().st_mtime > OLD_PART_S:
            part.unlink()


def _look(path: Path | str) -> Look | None:
    try:
        return Look.of(os.lstat(path))
    except (FileNotFoundError, NotADirectoryError):
        return None


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _holds(path: Path, look: Look | None, size: int, digest: bytes) -> bool:
    """Whether a regular file with exactly this content lies there."""
    if look is None or look.size != size:
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        with open(descriptor, "rb", closefd=False) as file:
            return _digest(file.read(size + 1)) == digest
    except OSError:
        return False
    finally:
        os.close(descriptor)
