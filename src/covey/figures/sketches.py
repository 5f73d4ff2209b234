"""Many durations in a few numbers: how many fell into each bucket, from which percentiles are told within 2.5 %. Pure.

A bucket is 5 % wider than the one before it, so that a millisecond and a month need the same care. Sketches add up: that of an hour
is the sum of those of its minutes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

Sketch = dict[int, int]
"""How many durations fell into each bucket; buckets without any are left out."""

GROWTH = 1.05
LEAST_S = 0.001
"""Everything up to a millisecond is in bucket 0."""
MOST_S = 400 * 86_400.0
_LOG_GROWTH = math.log(GROWTH)
ERROR = GROWTH**0.5 - 1.0
"""How far a percentile may be off, as a share of it."""


def bucket_of(seconds: float) -> int:
    """The bucket of a duration."""
    bounded = min(max(seconds, LEAST_S), MOST_S)
    return math.ceil(math.log(bounded / LEAST_S) / _LOG_GROWTH - 1e-9)


def seconds_of(bucket: int) -> float:
    """The duration that stands for all of a bucket: the geometric middle of its bounds."""
    return LEAST_S if bucket <= 0 else LEAST_S * GROWTH ** (bucket - 0.5)


def merge(into: Sketch, other: Mapping[int, int]) -> None:
    """Add another sketch to this one."""
    for bucket, count in other.items():
        into[bucket] = into.get(bucket, 0) + count


def percentile(sketch: Mapping[int, int], share: float) -> float | None:
    """The smallest duration that so large a share of all does not exceed, within 2.5 %; None of none."""
    total = sum(sketch.values())
    left = max(1, math.ceil(share * total))
    for bucket in sorted(sketch):
        left -= sketch[bucket]
        if left <= 0:
            return round(seconds_of(bucket), 4)
    return None
