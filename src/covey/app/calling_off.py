"""`covey down` leaves word: when it was, so that a node that is still starting ends at once; and whom it found alive.

The word stands until the fleet is started again, so that two `down` at once agree on who ended because of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import msgspec

from covey.app.opening import run_dir
from covey.base.clock import Clock
from covey.base.processes import stat_of
from covey.base.settings import Settings

_NAME = "down"


class _Word(msgspec.Struct):
    boot_id: str
    at: float
    alive: list[str] = []


def call_off(settings: Settings, clock: Clock, alive: Iterable[str]) -> set[str]:
    """From now on no node comes up that has started before. Who was alive when the fleet was told to go down, now or by an earlier word."""
    path = run_dir(settings) / _NAME
    word = _read(settings)
    names = {*alive, *(word.alive if word is not None and word.boot_id == clock.boot_id() else ())}
    part = path.with_suffix(f".{os.getpid()}")
    part.write_bytes(msgspec.json.encode(_Word(clock.boot_id(), clock.boot(), sorted(names))))
    part.replace(path)
    return names


def _read(settings: Settings) -> _Word | None:
    try:
        return msgspec.json.decode((run_dir(settings) / _NAME).read_bytes(), type=_Word)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def is_called_off(settings: Settings, clock: Clock) -> bool:
    """Whether the fleet was taken down since this process started. If not, an older word stands no more."""
    word = _read(settings)
    me = stat_of(os.getpid())
    assert me is not None
    if word is not None and word.boot_id == clock.boot_id() and word.at > me.start_ticks / os.sysconf("SC_CLK_TCK"):
        return True
    (run_dir(settings) / _NAME).unlink(missing_ok=True)
    return False
