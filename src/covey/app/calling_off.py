"""`covey down` calls off a start that is still under way: it leaves word when it was, and a node that started earlier ends at once."""

from __future__ import annotations

import os

import msgspec

from covey.app.opening import run_dir
from covey.base.clock import Clock
from covey.base.processes import stat_of
from covey.base.settings import Settings

_NAME = "down"


class _Word(msgspec.Struct):
    boot_id: str
    at: float


def call_off(settings: Settings, clock: Clock) -> None:
    """From now on no node comes up that has started before."""
    path = run_dir(settings) / _NAME
    part = path.with_suffix(f".{os.getpid()}")
    part.write_bytes(msgspec.json.encode(_Word(clock.boot_id(), clock.boot())))
    part.replace(path)


def is_called_off(settings: Settings, clock: Clock) -> bool:
    """Whether the fleet was taken down since this process started."""
    try:
        word = msgspec.json.decode((run_dir(settings) / _NAME).read_bytes(), type=_Word)
    except (FileNotFoundError, msgspec.DecodeError):
        return False
    me = stat_of(os.getpid())
    assert me is not None
    return word.boot_id == clock.boot_id() and word.at > me.start_ticks / os.sysconf("SC_CLK_TCK")
