"""The arithmetic of a link's credits: windows, spending, changed limits. Pure; times are store time in Unix seconds (L2, L5, L7, L9)."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """How much one direction of a link may carry."""

    messages: int
    window_s: float


class Bucket(NamedTuple):
    """What is left in one direction, and when it is full again; None: no window runs."""

    credits: int
    reset_at: float | None


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
    return Bucket(left.credits - 1, left.reset_at if left.reset_at is not None else now + limits.window_s)


def relimited(bucket: Bucket, old: Limits, new: Limits, now: float) -> Bucket:
    """The bucket under new limits (L7): raised, the difference is added; lowered, it is clamped; a shorter one ends earlier."""
    now_left = effective(bucket, old, now)
    if now_left.reset_at is None:
        return full(new)
    left = max(0, min(now_left.credits + max(0, new.messages - old.messages), new.messages))
    reset_at = now_left.reset_at + min(0.0, new.window_s - old.window_s)
    return effective(Bucket(left, reset_at), new, now)
