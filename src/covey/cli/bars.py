"""How far something is, as one line: a bar, the share, the time left. Pure; `output.Progress` puts it on the terminal."""

from __future__ import annotations

from typing import NamedTuple

WIDTH = 30
NARROWEST = 5
FULL, EMPTY = "█", "░"
PLAIN_FULL, PLAIN_EMPTY = "#", "."
FEW = 100
"""So many or fewer are counted beside their share; more are bytes or rows, whose number says nothing."""
LEARNING_S = 3.0
"""Before so long nobody can tell how long it will take."""
WORTH_S = 5.0
"""Less than so long is not worth telling."""


class Bar(NamedTuple):
    """A line in three: the words before and after, and between them the bar, its full part apart so that it can be coloured."""

    before: str
    full: str
    empty: str
    after: str

    def __str__(self) -> str:
        return self.before + self.full + self.empty + self.after


def drawn(what: str, done: int, total: int, *, room: int, behind: str = "", plain: bool = False) -> Bar:
    """A bar of what is done of a total above 0, in a line no wider than `room`; where there is no room for a bar it is left out."""
    share = min(1.0, max(0.0, done / total))
    counted = f", {done:,} of {total:,}" if total <= FEW else ""
    after = f" {int(100 * share):>3} %{counted}" + (f"  {behind}" if behind else "")
    width = min(WIDTH, room - len(what) - 2 - len(after))
    if width < NARROWEST:
        return Bar(f"{what} {after}"[: max(0, room)], "", "", "")
    full = int(width * share)
    solid, hollow = (PLAIN_FULL, PLAIN_EMPTY) if plain else (FULL, EMPTY)
    return Bar(f"{what}  ", solid * full, hollow * (width - full), after)


def left(done: int, total: int, took_s: float) -> str:
    """How much longer it takes if it goes on so, in words; empty where that can't be known yet, or is not worth telling."""
    if done <= 0 or done >= total or took_s < LEARNING_S:
        return ""
    seconds = took_s * (total - done) / done
    if seconds < WORTH_S:
        return ""
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"about {seconds / size:.0f} {unit} left"
    return f"about {seconds:.0f} s left"


def can_draw(encoding: str | None) -> bool:
    """Whether the letters of a bar can be written in this encoding."""
    try:
        (FULL + EMPTY).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
