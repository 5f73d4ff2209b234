"""What this process measures of its writes: how long commits and turns took, how much waits. In memory, since its start; no I/O."""

from __future__ import annotations

import threading
from bisect import bisect_left
from typing import Any

BOUNDS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Durations:
    """How many durations there were up to each bound, and their sum. Any thread may add one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = [0] * (len(BOUNDS_S) + 1)
        self._sum_s = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        with self._lock:
            self._counts[bisect_left(BOUNDS_S, seconds)] += 1
            self._sum_s += seconds

    def shown(self) -> dict[str, Any]:
        """How many in all, their sum, and under `buckets` how many were no longer than each bound."""
        with self._lock:
            counts, sum_s = list(self._counts), self._sum_s
        total, buckets = 0, {}
        for bound, count in zip((*BOUNDS_S, float("inf")), counts, strict=True):
            total += count
            buckets["+Inf" if bound == float("inf") else f"{bound:g}"] = total
        return {"n": total, "seconds": round(sum_s, 6), "buckets": buckets}


class Measured:
    """All that one store measures."""

    def __init__(self) -> None:
        self.commit = Durations()
        self.turn = Durations()
        self._lock = threading.Lock()
        self._verbs = 0
        self._rings = 0

    def batch(self, verbs: int, commit_s: float, turn_s: float, rings: int) -> None:
        """Count a batch that was run: its verbs, how long its commit took and its turn was waited for, whom it rang."""
        self.commit.add(commit_s)
        self.turn.add(turn_s)
        with self._lock:
            self._verbs += verbs
            self._rings += rings

    def shown(self, waiting: int) -> dict[str, Any]:
        """The figures as JSON; `waiting` writes are not done yet."""
        return {
            "verbs": self._verbs,
            "rings": self._rings,
            "waiting": waiting,
            "commit": self.commit.shown(),
            "turn": self.turn.shown(),
        }
