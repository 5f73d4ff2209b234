"""A thread that ends the process when its event loop has stood still for too long, so that whoever supervises it starts it again."""

from __future__ import annotations

import asyncio
import faulthandler
import os
import sys
import threading
import time
from collections.abc import Callable

EX_HUNG = 70
"""Exit code of a process whose loop hung."""
ROUNDS = 6


class Watchdog:
    """Watches one event loop. Counts its own rounds, not seconds, so that a suspended machine does not end a healthy process (H8b)."""

    def __init__(self, loop: asyncio.AbstractEventLoop, after_s: float, end: Callable[[int], object] = os._exit) -> None:
        self._loop = loop
        self._round_s = max(after_s / ROUNDS, 0.05)
        self._turned = threading.Event()
        self._turned.set()
        self._stopping = threading.Event()
        self._end = end
        self.missed = 0
        self._thread = threading.Thread(target=self._watch, name="covey-watchdog", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> None:
        """Cease to watch."""
        self._stopping.set()

    def _watch(self) -> None:
        while not self._stopping.wait(self._round_s):
            self.one_round()

    def one_round(self) -> None:
        """Ask the loop to turn; after `ROUNDS` rounds without a turn the process ends."""
        if self._turned.is_set():
            self.missed = 0
        else:
            self.missed += 1
        self._turned.clear()
        if self.missed >= ROUNDS:
            at, hung_s = time.strftime("%FT%TZ", time.gmtime()), self._round_s * ROUNDS
            sys.stderr.write(f"{at} the event loop has not turned for {hung_s:g} s; this process ends now\n")
            faulthandler.dump_traceback(all_threads=True)
            self._end(EX_HUNG)
            return
        try:
            self._loop.call_soon_threadsafe(self._turned.set)
        except RuntimeError:
            self._stopping.set()
