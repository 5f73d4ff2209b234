"""Times as a sentence to a model has them. Pure."""

from __future__ import annotations

import math


def until(at: float, now: float) -> str:
    """How long it is until then, in words: `in 5 h 12 min`. Never too short."""
    seconds = max(0.0, at - now)
    if seconds < 90:
        return f"in {math.ceil(seconds * 10) / 10:g} s" if seconds < 10 else f"in {math.ceil(seconds)} s"
    minutes = math.ceil(seconds / 60)
    if minutes < 90:
        return f"in {minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"in {hours} h" + (f" {rest} min" if rest else "")
