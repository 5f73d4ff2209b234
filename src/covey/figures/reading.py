"""The figures of one agent or of the fleet over a window, in steps of equal length. A verb for `store.read`."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from covey.figures.model import WHOLE_FLEET, Tally, Window
from covey.figures.recording import BOOKMARK
from covey.store import Transaction, events, statement

BETWEEN = statement(__package__, "between")

_read_tally = msgspec.json.Decoder(Tally).decode


class Steps(NamedTuple):
    """What happened in each step of a window, oldest first, and in all of it."""

    start: float
    steps: list[tuple[float, Tally]]
    total: Tally
    more: bool
    """Whether there are events that the figures do not have yet."""


def over(tx: Transaction, window: Window, agent: str = WHOLE_FLEET) -> Steps:
    """The steps of the window that ends now; the last one is not over. One in which nothing happened has all zeros."""
    step_s = window.step_s
    start = (tx.now // step_s + 1) * step_s - window.length_s
    steps = [(at, Tally()) for at in range(int(start), int(tx.now) + 1, step_s)]
    total = Tally()
    for row in tx.all(BETWEEN, agent=agent, span_s=window.span_s, since=start):
        tally = _read_tally(row.tally)
        total.add(tally)
        place = int((row.at - start) // step_s)
        if place < len(steps):
            steps[place][1].add(tally)
    more = bool(events.after(tx, events.bookmark(tx, BOOKMARK), limit=1).events)
    return Steps(start, [(float(at), tally) for at, tally in steps], total, more)
