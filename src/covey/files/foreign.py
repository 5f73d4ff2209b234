"""Reading files that others wrote, whatever is wrong with them: each fault is told with its place, and all that is sound is given (S4)."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from covey.base import wire
from covey.base.errors import CoveyError

FILE_BYTES = 64 * 1024 * 1024
LINE_BYTES = 4 * 1024 * 1024
"""A file that is read whole, and a line of one that is not, may be so long."""
FAULTS_KEPT = 1000
LISTS = ("messages", "notifications", "tasks", "queue", "taskQueue")
"""Under these names an object may hold the list that a file is about."""

_LIST = re.compile(rf'"(?:{"|".join(LISTS)})"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")


class Fault(msgspec.Struct, frozen=True):
    """Something that was not taken, or not as it stood: in which file, where in it, and why."""

    file: str
    place: str
    what: str


class Faults:
    """The faults of one import, counted, and the first thousand kept."""

    def __init__(self) -> None:
        self.kept: list[Fault] = []
        self.count = 0

    def add(self, file: str, place: str, what: str) -> None:
        """Tell of one."""
        self.count += 1
        if len(self.kept) < FAULTS_KEPT:
            self.kept.append(Fault(_text(file), _text(place), _text(what)[:1000]))


class Item(NamedTuple):
    """One thing in a file, as plain JSON values, and where it stands."""

    file: str
    place: str
    value: Any


def load(root: Path, name: str, faults: Faults) -> Any:
    """The JSON value of a file; None if there is no such file, or nothing in it can be read."""
    text = _text_of(root, name, faults)
    if text is None:
        return None
    try:
        return json.loads(text)
    except RecursionError:
        faults.add(name, "", "it nests too deeply; nothing of it was taken.")
    except ValueError as error:
        found = list(_salvaged(text))
        faults.add(
            name, _where(error), f"it is not JSON ({getattr(error, 'msg', error)}); {len(found)} whole entries before that were taken."
        )
        return found
    return None


def items(root: Path, name: str, faults: Faults) -> list[Item]:
    """The objects of the list that a file holds; what is no object is told."""
    value = load(root, name, faults)
    if isinstance(value, dict):
        value = next((value[key] for key in LISTS if isinstance(value.get(key), list)), value)
    if value is None:
        return []
    if not isinstance(value, list):
        faults.add(name, "", f"it holds {_kind(value)}, not a list; nothing of it was taken.")
        return []
    return objects(name, "", value, faults)


def objects(name: str, place: str, values: list[Any], faults: Faults) -> list[Item]:
    """The objects of a list that are sound."""
    found = [Item(name, f"{place}[{index}]", value) for index, value in enumerate(values)]
    return [item for item in found if is_sound(item, faults)]


def is_sound(item: Item, faults: Faults) -> bool:
    """Whether it is an object of valid text and finite numbers; if not, it is told."""
    if not isinstance(item.value, dict):
        faults.add(item.file, item.place, f"it is {_kind(item.value)}, not an object.")
        return False
    try:
        wire.check_value(item.value)
    except CoveyError as error:
        faults.add(item.file, item.place, error.message)
        return False
    return True


def lines(root: Path, name: str, faults: Faults, moved: Callable[[int], object] | None = None) -> Iterator[Item]:
    """The objects of a file that has one a line, one by one: it may be of any length. `moved` is told how many bytes were read."""
    descriptor = _open(root, name, faults)
    if descriptor is None:
        return
    with os.fdopen(descriptor, "rb") as file:
        number = 0
        while line := file.readline(LINE_BYTES):
            number += 1
            if moved is not None:
                moved(file.tell())
            if len(line) == LINE_BYTES and not line.endswith(b"\n"):
                faults.add(name, f"line {number}", f"it is longer than {LINE_BYTES:,} bytes.")
                while (rest := file.readline(LINE_BYTES)) and not rest.endswith(b"\n"):
                    pass
            elif line.strip() and (item := _line(name, number, line, faults)) is not None:
                yield item


def _line(name: str, number: int, line: bytes, faults: Faults) -> Item | None:
    place = f"line {number}"
    try:
        item = Item(name, place, json.loads(line.decode(errors="surrogateescape")))
    except (ValueError, RecursionError) as error:
        faults.add(name, place, f"it is not JSON ({getattr(error, 'msg', error)}).")
        return None
    return item if is_sound(item, faults) else None


def _text_of(root: Path, name: str, faults: Faults) -> str | None:
    descriptor = _open(root, name, faults)
    if descriptor is None:
        return None
    with os.fdopen(descriptor, "rb") as file:
        raw = file.read(FILE_BYTES + 1)
    if len(raw) > FILE_BYTES:
        faults.add(name, "", f"it is longer than {FILE_BYTES:,} bytes; nothing of it was taken.")
        return None
    if not raw.strip():
        faults.add(name, "", "it is empty.")
        return None
    return raw.removeprefix(b"\xef\xbb\xbf").decode(errors="surrogateescape")


def _open(root: Path, name: str, faults: Faults) -> int | None:
    """A regular file, never through a link; None if it is not there or is something else, which is told."""
    try:
        descriptor = os.open(root / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        faults.add(name, "", f"it can't be read ({error.strerror}).")
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    faults.add(name, "", "it is not a regular file.")
    return None


def _salvaged(text: str) -> Iterator[Any]:
    """The whole entries of a list that is cut off somewhere, or broken."""
    start = text.find("[") + 1 if text.lstrip().startswith("[") else found.end() if (found := _LIST.search(text)) else 0
    decoder = json.JSONDecoder()
    while start:
        start = _BETWEEN.match(text, start).end()  # type: ignore[union-attr]  # it matches the empty text too
        try:
            value, start = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            return
        yield value


def _where(error: ValueError) -> str:
    return f"line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _text(text: str) -> str:
    return text.encode(errors="replace").decode()
