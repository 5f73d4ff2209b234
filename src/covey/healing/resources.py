"""When a machine is short of disk, memory or file handles, and when no more: with hysteresis, so that it does not flap (H10). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from covey.reports.machine import DISK_BYTES, DISK_SHARE, FILES_SHARE, MEMORY_SHARE, Room
from covey.reports.phrases import percent, size

Resource = Literal["disk", "memory", "files"]
RESOURCES: tuple[Resource, ...] = ("disk", "memory", "files")

EASE = 1.2
"""So many times the bound must be free again before a shortage is over."""
FILES_EASE = 0.75
"""The share of file handles in use below which theirs is."""


class _Bounds(NamedTuple):
    """Below these a shortage is there; of file handles above."""

    disk_bytes: float
    disk_share: float
    memory_share: float
    files_used: float


_BEGINS = _Bounds(DISK_BYTES, DISK_SHARE, MEMORY_SHARE, FILES_SHARE)
_LASTS = _Bounds(EASE * DISK_BYTES, EASE * DISK_SHARE, EASE * MEMORY_SHARE, FILES_EASE)


def short_of(before: Iterable[Resource], room: Room) -> frozenset[Resource]:
    """What a machine is short of now, given what it was short of before."""
    was = frozenset(before)
    return frozenset(each for each in RESOURCES if _is_short(each, room, _LASTS if each in was else _BEGINS))


def _is_short(resource: Resource, room: Room, bounds: _Bounds) -> bool:
    if resource == "disk":
        return room.disk_bytes < bounds.disk_bytes or room.disk_share < bounds.disk_share
    if resource == "memory":
        return room.memory_share < bounds.memory_share
    return room.files_used > bounds.files_used


def told(short: Iterable[Resource], room: Room) -> str:
    """What is short, in one sentence."""
    words = {
        "disk": f"disk ({size(room.disk_bytes)}, {percent(room.disk_share)} free)",
        "memory": f"memory ({percent(room.memory_share)} available)",
        "files": f"file handles ({percent(room.files_used)} in use)",
    }
    return " and ".join(words[each] for each in RESOURCES if each in set(short))
