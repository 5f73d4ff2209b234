"""What a test leaves running. A thread that outlives its test moves `random` on, say, under a property test that must draw alike twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

PATIENCE_S = 10.0
"""A thread that was told to end may take so long, as one that waits for a collector's answer does."""
_FOR_LIFE = ("(_poll_wrapper)",)
"""How the names end of threads that a process has once and for life: the poller of gRPC's asyncio."""


def left_of(before: Iterable[threading.Thread], patience_s: float = PATIENCE_S) -> list[str]:
    """The names of the threads that were begun since, and still run after so long."""
    known, until = set(before), time.monotonic() + patience_s
    begun = [thread for thread in threading.enumerate() if thread not in known and not thread.name.endswith(_FOR_LIFE)]
    for thread in begun:
        thread.join(max(0.0, until - time.monotonic()))
    return [thread.name for thread in begun if thread.is_alive()]
