"""How close together, and how alike, messages in one direction may be: debounce and duplicates (L4). Pure; times are store time."""

from __future__ import annotations

import hashlib

from covey.links.model import Recent

LOOKED_AT = 3
ALIKE_S = 3600.0
"""A message may not say again what one of the last 3 in its direction said within the hour."""


def allowed_at(last_at: float | None, debounce_s: float, now: float) -> float | None:
    """When the next message may go, if that is later than now: `debounce_s` after the last one to the instant; else None."""
    if last_at is None or now >= last_at + debounce_s:
        return None
    return last_at + debounce_s


def digest_of(body: str, data_json: str) -> str:
    """What tells a message's words and data, its keys sorted, from others'."""
    return hashlib.blake2b(f"{len(body)}:{body}{data_json}".encode(), digest_size=8).hexdigest()


def repeats(recent: Recent, digest: str, now: float) -> float | None:
    """When the same was accepted, if it was one of the last 3 within the hour; else None."""
    return next((at for known, at in reversed(recent[-LOOKED_AT:]) if known == digest and now - at < ALIKE_S), None)


def remembered(recent: Recent, digest: str, now: float) -> Recent:
    """The last 3 with this one."""
    return (*recent, (digest, now))[-LOOKED_AT:]
