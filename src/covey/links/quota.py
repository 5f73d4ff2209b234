"""The arithmetic of a link's credits: windows, spending, changed limits. Pure; times are store time in Unix seconds (L2, L5, L7, L9)."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """How much one direction of a link may carry."""

    messages: int
    window_s: float


class Bucket(NamedTuple):
    """What is left in one direction, when it is full again (None: no window runs), and when its window began."""

    credits: int
    reset_at: float | None
    began_at: float | None = None


def full(limits: Limits) -> Bucket:
    """A bucket that nothing was taken from."""
    return Bucket(limits.messages, None)


def effective(bucket: Bucket, limits: Limits, now: float) -> Bucket:
    """The bucket as it counts now: full again once its window has lapsed, however many windows ago (L5, L9)."""
    return full(limits) if bucket.reset_at is None or now >= bucket.reset_at else bucket


def spend(bucket: Bucket, limits: Limits, now: float) -> Bucket | None:
    """The bucket after one message, or None if it is empty. The first message after a lapse starts the window (L5)."""
    left = effective(bucket, limits, now)
    if left.credits <= 0:
        return None
    return left._replace(credits=left.credits - 1) if left.reset_at is not None else Bucket(left.credits - 1, now + limits.window_s, now)


def relimited(bucket: Bucket, old: Limits, new: Limits, now: float) -> Bucket:
    """The bucket under new limits (L7): raised, the difference is added; lowered, it is clamped; a shorter one ends earlier."""
    now_left = effective(bucket, old, now)
    if now_left.reset_at is None:
        return full(new)
    left = max(0, min(now_left.credits + max(0, new.messages - old.messages), new.messages))
    # A window that was made longer while it ran ends sooner after its start than the limits say. The version before writes no starts.
    began_at = max(now_left.began_at or 0.0, now_left.reset_at - old.window_s)
    return effective(Bucket(left, min(now_left.reset_at, began_at + new.window_s), began_at), new, now)
