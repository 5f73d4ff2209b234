"""Where time comes from. Everything that needs the time is given a Clock; nothing calls `time` itself."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Protocol

LAST_DATE = 253_402_300_799.0
"""The end of the year 9999, in Unix seconds: what comes after has no date."""


class Clock(Protocol):
    """The time of this machine. The simulation brings its own (T2)."""

    def wall(self) -> float:
        """Unix seconds by the wall clock, which a person or NTP may set."""
        ...

    def boot(self) -> float:
        """Seconds since boot, suspension included: never stands still, never goes back."""
        ...

    def boot_id(self) -> str:
        """Which boot of which machine `boot()` counts from."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds of this clock."""
        ...


class SystemClock:
    """The real machine's clock."""

    def wall(self) -> float:
        """Unix seconds by the wall clock."""
        return time.time()

    def boot(self) -> float:
        """Seconds since boot, suspension included."""
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def boot_id(self) -> str:
        """The kernel's id of this boot."""
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""
        await asyncio.sleep(seconds)
