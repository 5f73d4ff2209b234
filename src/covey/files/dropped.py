"""A file of the drop folder: looked at without following it, read, told what it is. It moves nothing and stores nothing (S2)."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from covey.base import wire
from covey.base.errors import Invalid, TooLarge
from covey.messages.model import Draft
from covey.tasks.model import TaskDraft

FILE_BYTES = wire.REQUEST_BYTES
"""A dropped file may be so long at most: 1 MiB."""
NAME_BYTES = 160
"""Of a long name so much is kept, so that there is room for what is put before and behind it."""
NOT_YET = (".tmp", ".part", ".partial", ".swp", ".crdownload", "~")
"""Endings of what somebody is still writing."""
STORES_OWN = frozenset({"createdBy", "createdAt", "assignedBy", "startTime", "estimatedCompletion"})
"""Fields of a seed's task that the store sets; they are left out, and the receipt says so."""


_TAKEN = re.compile(r"([0-9a-f]{1,16})-[0-9a-f]{1,16}-(.+)", re.DOTALL)


class Found(NamedTuple):
    """A file in the drop folder, as one `lstat` saw it; `name` is the one it was dropped under."""

    path: Path
    name: str
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    mode: int
    arrived_ns: int
    """When it was moved in, as precisely as the file system keeps time."""

    @property
    def shown(self) -> str:
        """Its name as text that can be stored and shown."""
        return os.fsencode(self.name).decode(errors="replace")


def find(path: Path) -> Found | None:
    """What lies there now, without following a link; None if it is gone, or not meant for us: hidden, unfinished, a folder."""
    name = path.name
    return None if name.startswith(".") or name.endswith(NOT_YET) else _found(path, name, None)


def find_taken(path: Path) -> Found | None:
    """The same of a file that was taken under `taken_name`; None of anything else."""
    form = _TAKEN.fullmatch(path.name)
    return _found(path, form[2], int(form[1], 16)) if form else None


def taken_name(found: Found) -> str:
    """A name that no other file that is taken has: when it came, which one it is, and the name it came under."""
    name = os.fsdecode(os.fsencode(found.name)[:NAME_BYTES])
    return f"{found.ctime_ns:x}-{found.inode:x}-{name}"


def _found(path: Path, name: str, arrived_ns: int | None) -> Found | None:
    try:
        seen = os.lstat(path)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(seen.st_mode):
        return None
    arrived = seen.st_ctime_ns if arrived_ns is None else arrived_ns
    return Found(path, name, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_mode, arrived)


def read(found: Found) -> bytes:
    """The file's bytes.

    Raises:
        Invalid, TooLarge: It is no regular file, or too long; nothing of it was read.
        OSError: It can't be opened, or is gone.
    """
    if not stat.S_ISREG(found.mode):
        kind = "a symbolic link, which is never followed" if stat.S_ISLNK(found.mode) else "not a regular file"
        raise Invalid(f"{found.shown} is {kind}; move the JSON file itself in.", field="")
    if found.size > FILE_BYTES:
        raise TooLarge(
            f"{found.shown} is {found.size:,} bytes long; at most {FILE_BYTES:,} are taken. Send the path of a file instead.", field=""
        )
    descriptor = os.open(found.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        seen = os.fstat(descriptor)
        if (seen.st_ino, stat.S_ISREG(seen.st_mode)) != (found.inode, True):
            raise FileNotFoundError(found.path)
        return file.read(FILE_BYTES + 1)


class Dropped(NamedTuple):
    """What a file asks for: a message or a task, with an id that is the same at each reading of the same file."""

    draft: Draft | TaskDraft
    id: str
    left_out: list[str]


def decode(found: Found, raw: bytes) -> Dropped:
    """The message or task that a file holds.

    Raises:
        Invalid, TooLarge: It holds none; the sentence and `field` say what is wrong.
    """
    try:
        value = wire.parse(raw)
        return _as_task(found, raw, value) if _kind(value) == "task" else _as_message(found, raw, value)
    except RecursionError as error:
        raise Invalid("the file nests too deeply; flatten it.", field="") from error
    except (Invalid, TooLarge) as error:
        error.message = error.message.replace("the request", "the file")
        raise


def _kind(value: Any) -> str:
    if not isinstance(value, dict):
        raise Invalid("the file holds no JSON object; put one message or one task into it.", field="")
    told = [field for field in ("content", "description") if field in value]
    if told == ["content"]:
        return "message"
    if told == ["description"]:
        return "task"
    which = "both" if told else "neither"
    raise Invalid(f"the file has {which} of `content`, which makes a message, and `description`, which makes a task; give one.", field="")


def _as_message(found: Found, raw: bytes, value: dict[str, Any]) -> Dropped:
    draft = wire.convert(Draft, value)
    draft.message_id = draft.message_id or id_of(found, raw)
    return Dropped(draft, draft.message_id, [])


def _as_task(found: Found, raw: bytes, value: dict[str, Any]) -> Dropped:
    left_out = sorted(STORES_OWN & value.keys())
    draft = wire.convert(TaskDraft, {key: each for key, each in value.items() if key not in STORES_OWN})
    draft.task_id = draft.task_id or id_of(found, raw)
    return Dropped(draft, draft.task_id, left_out)


def id_of(found: Found, raw: bytes) -> str:
    """The id of a file that brings none: by this very file and its content, so that the same content dropped again is another one (T3).

    The rename that took the file set its change time, and nothing changes that until it is stored and moved on.
    """
    this = f"{found.inode}:{found.ctime_ns}:".encode() + os.fsencode(found.name) + b"\0" + raw
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", found.shown)[:60]
    return f"drop:{name}:{hashlib.sha256(this).hexdigest()[:32]}"


def is_whole(raw: bytes) -> bool:
    """Whether it is a JSON object from its first brace to its last: then nobody is still writing it."""
    text = raw.strip()
    if not (text.startswith(b"{") and text.endswith(b"}")):
        return False
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def resting_place(found: Found, folder: Path, ident: str) -> Path:
    """Where it may lie in done/ or refused/ for good: its own name, or one made different by what it is; nothing is overwritten there."""
    if not _is_anothers(folder / found.name, ident):
        return folder / found.name
    stem, dot, suffix = found.name.rpartition(".")
    this = hashlib.sha256(f"{ident}:{found.inode}:{found.ctime_ns}".encode()).hexdigest()[:12]
    return folder / (f"{stem}.{this}.{suffix}" if dot and stem else f"{found.name}.{this}")


def reason_of(path: Path) -> Path:
    """Where the reason beside it lies."""
    return path.with_name(f"{path.name}.reason")


def _is_anothers(path: Path, ident: str) -> bool:
    """Whether the name is taken; a reason of ours without its file is of a move that was cut short."""
    if os.path.lexists(path):
        return True
    try:
        reason = msgspec.json.decode(reason_of(path).read_bytes())
    except FileNotFoundError:
        return False
    except (OSError, msgspec.DecodeError, ValueError):
        return True
    return not (isinstance(reason, dict) and reason.get("id") == ident)
