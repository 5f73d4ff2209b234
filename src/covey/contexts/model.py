"""What a context is made of: entries, their forms, and the bounds and lines of C2 and C3. No I/O."""

from __future__ import annotations

from typing import Literal, NamedTuple

EntryKind = Literal["message", "decision", "result", "note", "summary"]
Form = Literal["raw", "ends", "warm", "cold", "pinned"]
"""raw: as it was said. ends: head and tail of one that is whole in the archive. warm: a summary of raw ones, which are in the archive.
cold: the line and pointer to what is out of sight. pinned: what an emergency keeps. Only raw ones are ever summarised (C4)."""
DERIVED: frozenset[str] = frozenset({"ends", "warm", "cold", "pinned"})

HOT_S = 2 * 3600.0
WARM_S = 24 * 3600.0
WARN_AT = 0.8
BACK_TO = 0.5
GROWN_BY = 0.05
"""So much of the bound a context must have grown since it was compressed, before it is again (C3)."""
COLD_SHARE = 0.125
"""The lines of what is cold take so much of the bound at most."""


class Entry(NamedTuple):
    """One thing an agent remembers."""

    id: str
    kind: str
    text: str
    source: str | None
    tokens: int
    at: float
    form: str = "raw"


class Compressed(NamedTuple):
    """What a compression came to. `tier` is how far it went; nothing at all if there was nothing to do."""

    before: int
    after: int
    archived: int
    summaries: int
    tier: Literal["none", "warm", "cold", "emergency"]
    too_large: str | None = None
    """Why the agent is in error: what must be kept is by itself larger than the bound."""


def is_due(size: int, adding: int, max_tokens: int, compressed_to: int) -> bool:
    """Whether a context is to be compressed before so much is added: above 80 %, and grown by 5 % since the last time (C3). Pure."""
    if size + adding > max_tokens:
        return True
    grown = size + adding >= compressed_to + max_tokens * GROWN_BY
    return size + adding > max_tokens * WARN_AT and (compressed_to == 0 or grown)
