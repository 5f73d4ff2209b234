"""A hook in the background of an assistant that has stopped: it waits for what wakes an idle brain (M4b), says it, and ends with 2.

One for each seat: a second one ends at once. It ends with its assistant.
"""

from __future__ import annotations

import fcntl
import os
import sys
import time
from pathlib import Path

from covey.base.errors import CoveyError
from covey.seats import hook, told
from covey.seats import seat as seats
from covey.seats.hook import AGAIN_S, HOOK_S, WAIT_S, WAKES


def wait(path: Path) -> int:
    """2 once something has come, which was said on stderr; 0 if another one waits already, or the assistant is gone."""
    seat = seats.read(path)
    parent = os.getppid()
    handle = os.open(seats.idle_path(path), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 0
    while os.getppid() == parent and path.exists():
        text = _once(path, seat)
        if text:
            sys.stderr.write(text + "\n")
            return WAKES
    return 0


def _once(path: Path, seat: seats.Seat) -> str:
    """What came within one call's time; while no fleet answers that time passes too."""
    with told.turn(seats.told_path(path)) as so_far:
        mark = so_far.mark if so_far is not None else ""
    try:
        glance = hook.look(seat, mark, WAIT_S + HOOK_S * 10, idle="true", wait=f"{WAIT_S:g}")
    except (CoveyError, OSError, ValueError):
        time.sleep(AGAIN_S)
        return ""
    with told.turn(seats.told_path(path)) as so_far:
        if so_far is None or so_far.mark != mark or not glance["text"]:
            return ""
        so_far.mark = glance["mark"]
        return str(glance["text"])
