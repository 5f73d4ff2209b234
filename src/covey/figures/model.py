"""What is added up for one stretch of time, and which stretches there are. No I/O."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from covey.figures import sketches
from covey.figures.sketches import Sketch

WHOLE_FLEET = ""
"""The agent under which the whole fleet's figures stand."""

KEPT_S: dict[int, float] = {60: 2 * 3600.0, 300: 26 * 3600.0, 3600: 8 * 86_400.0}
"""How long each length of stretch is kept: somewhat longer than the longest window that is read from it."""


class Window(NamedTuple):
    """How far back figures are read: from stretches of `span_s`, shown in steps of `step_s`."""

    length_s: int
    span_s: int
    step_s: int


WINDOWS: dict[str, Window] = {
    "15m": Window(900, 60, 60),
    "1h": Window(3600, 60, 60),
    "6h": Window(21_600, 300, 300),
    "24h": Window(86_400, 300, 900),
    "7d": Window(604_800, 3600, 3600),
}


class Tally(msgspec.Struct, omit_defaults=True, kw_only=True):
    """What happened in a stretch of time, counted. A field that an older or newer version does not know is zero there."""

    sent: int = 0
    handled: int = 0
    response: Sketch = msgspec.field(default_factory=dict)
    """From mailbox to handled, of the messages that were handled."""
    deferred: int = 0
    throttled: int = 0
    dead: int = 0
    done: int = 0
    failed: int = 0
    cancelled: int = 0
    retried: int = 0
    """Attempts that failed and are to be tried again."""
    work: Sketch = msgspec.field(default_factory=dict)
    """From claim to end, of the tasks that were done."""
    checks: int = 0
    answered: int = 0
    """Checks of a buddy by an agent, and those that were answered."""
    compressions: int = 0
    overflows: int = 0
    stalls: int = 0
    healed: int = 0
    incidents: int = 0
    breakers: int = 0
    runs: int = 0
    """Runs that named a price or tokens."""
    usd: float = 0.0
    tokens: int = 0

    def add(self, other: Tally) -> None:
        """Add what another one counted."""
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        sketches.merge(self.response, other.response)
        sketches.merge(self.work, other.work)


COUNTS = tuple(name for name in Tally.__struct_fields__ if name not in ("response", "work"))


class Stretch(NamedTuple):
    """Whose figures, and of which stretch of time."""

    agent: str
    span_s: int
    at: float
