"""How reports say times, lengths, lists and counts in plain English. Pure; no store and no clock."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from covey.base.clock import LAST_DATE

_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
HEAD_CHARS = 120
LISTED = 5


def span(seconds: float) -> str:
    """A length of time in its largest unit and the next one: `0.4 s`, `12 s`, `1 min 30 s`, `2 h 10 min`."""
    seconds = abs(seconds)
    if seconds < 10:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    whole = round(seconds)
    place = next(place for place, (size_s, _) in enumerate(_UNITS) if whole >= size_s)
    (large_s, large), (small_s, small) = _UNITS[place], _UNITS[min(place + 1, len(_UNITS) - 1)]
    count_of_small = whole % large_s // small_s
    return f"{whole // large_s:,} {large}{f' {count_of_small} {small}' if count_of_small else ''}"


def utc(at: float) -> str:
    """A time of the store as a date: `2026-11-29 19:20:00 UTC`."""
    if not 0.0 <= at <= LAST_DATE:
        return f"Unix time {at:.0f}"
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def when(at: float, now: float) -> str:
    """A time as seen from now, and its date: `12 s ago (2026-…)` or `in 5 min (2026-…)`."""
    distance = f"{span(now - at)} ago" if at <= now else f"in {span(at - now)}"
    return f"{distance} ({utc(at)})"


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 task`, `1,200 tasks`, `no tasks`."""
    words = noun if number == 1 else plural or f"{noun}s"
    return f"{number:,} {words}" if number else f"no {words}"


def waiting(number: int, noun: str) -> str:
    """`1 task waits`, `no tasks wait`."""
    return f"{count(number, noun)} {'waits' if number == 1 else 'wait'}"


def listed(names: Sequence[Any], *, most: int = LISTED, word: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`; of a long list the first few and how many more."""
    shown = [str(name) for name in names[:most]]
    if len(names) > most:
        shown.append(f"{len(names) - most:,} more")
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} {word} {shown[-1]}"


def head(text: str, chars: int = HEAD_CHARS) -> str:
    """The text on one line, cut to so many characters."""
    flat = " ".join(text[: chars * 4].split())
    return flat if len(flat) <= chars and len(text) <= chars * 4 else flat[: chars - 1].rstrip() + "…"


def percent(share: float) -> str:
    """A share of 0 to 1 as `12 %`."""
    return f"{share * 100:.0f} %"


def size(size_bytes: float) -> str:
    """So many bytes as `1.4 GiB`."""
    amount = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(amount) < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"
