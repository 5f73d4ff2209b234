"""What a command prints: JSON for programs, tables and sentences for people; errors by the one table of codes."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Self

import click
import msgspec

from covey.base.errors import FACES, CoveyError
from covey.cli import bars

_STYLES = {
    "idle": "bright_black", "active": "green", "busy": "blue", "stalled": "yellow", "error": "red", "stopped": "red", "paused": "yellow",
    "done": "green", "running": "blue", "failed": "red", "blocked": "yellow", "delivered": "green", "dead": "red", "held": "yellow",
    "ready": "green", "down": "red", "live": "green", "lost": "red", "ok": "green", "warn": "yellow", "fail": "red",
}  # fmt: skip


QUIET_S = 2.0
"""A line of progress that says nothing new for so long has the seconds counted."""
DRAW_S = 0.1
"""A bar is drawn anew no more often."""


def colourful() -> bool:
    """Whether colours are wanted: a terminal, and no NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def coloured(word: str) -> str:
    """A state's word in its colour."""
    style = _STYLES.get(word)
    return click.style(word, fg=style) if style and colourful() else word


def print_json(value: Any) -> None:
    """The value as indented JSON."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def print_json_line(value: Any) -> None:
    """The value as one line of JSON, for what comes one after another."""
    click.echo(msgspec.json.encode(value).decode())


def ago(at: float | None, now: float) -> str:
    """How long ago, in one short word."""
    if at is None:
        return "never"
    seconds = max(0.0, now - at)
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds:.0f}s"


def clock(at: float | None) -> str:
    """A time as UTC, to the second."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%SZ") if at is not None else "-"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str) -> None:
    """Rows under their heads; the last column takes what is left of the line. `empty` says what to do when there is nothing."""
    if not rows:
        click.echo(empty)
        return
    widths = [max(len(click.unstyle(line[place])) for line in (head, *rows)) for place in range(len(head) - 1)]
    room = max(20, shutil.get_terminal_size((120, 24)).columns - sum(widths) - 2 * len(widths)) if sys.stdout.isatty() else 10_000
    for line in (head, *rows):
        cells = [cell + " " * (width - len(click.unstyle(cell))) for cell, width in zip(line, widths, strict=False)]
        last = " ".join(line[-1].split())
        cells.append(last if len(click.unstyle(last)) <= room else last[: room - 1] + "…")
        click.echo("  ".join(cells).rstrip())


def begin_screen() -> None:
    """What is printed next stands at the top of an empty screen; without a terminal, after an empty line."""
    click.echo("\x1b[H\x1b[2J" if sys.stdout.isatty() else "", nl=not sys.stdout.isatty())


def safe(text: str) -> str:
    """Text of others without what a terminal would obey."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "�" for letter in text)


class Progress:
    """A line on the terminal that is written over while something takes long; nothing where no person looks.

    What takes longer than two seconds without a word more has the seconds counted behind it, by a thread of its own. `with` ends it.
    """

    def __init__(self, *, as_json: bool = False) -> None:
        self._on = sys.stderr.isatty() and not as_json
        self._plain = not bars.can_draw(sys.stderr.encoding)
        self._colours = not os.environ.get("NO_COLOR")
        self._what, self._done, self._total = "", 0, 0
        self._began, self._first = 0.0, 0
        self._since = 0.0
        self._drawn = 0.0
        self._over = threading.Event()
        self._clock: threading.Thread | None = None
        self._line = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def say(self, text: str) -> None:
        """Show this in place of what was there."""
        self.part(text, 0, 0)

    def count(self, what: str, number: int) -> None:
        """Show how many so far."""
        self.say(f"{what}: {number:,}")

    def part(self, what: str, done: int, total: int) -> None:
        """Show a bar of how much is done of a total, and the time left if that is long; words alone if the total is 0."""
        if not self._on:
            return
        with self._line:
            now = time.monotonic()
            if what != self._what:
                self._began, self._first, self._drawn = now, done, 0.0
            self._what, self._done, self._total, self._since = what, done, total, now
            if not total or done >= total or now - self._drawn >= DRAW_S:
                self._draw(now)
        if self._clock is None:
            self._clock = threading.Thread(target=self._count_seconds, name="covey-progress", daemon=True)
            self._clock.start()

    def _count_seconds(self) -> None:
        while not self._over.wait(1.0):
            with self._line:
                now = time.monotonic()
                if not self._over.is_set() and (self._total or now - self._since >= QUIET_S):
                    self._draw(now)

    def _draw(self, now: float) -> None:
        self._drawn = now
        quiet_s = now - self._since
        waited = f"{quiet_s:.0f} s" if quiet_s >= QUIET_S else ""
        room = shutil.get_terminal_size().columns - 1
        if not self._total:
            self._write(f"{self._what}: {waited}"[:room] if waited else self._what[:room])
            return
        behind = waited or bars.left(self._done - self._first, self._total - self._first, now - self._began)
        bar = bars.drawn(self._what, self._done, self._total, room=room, behind=behind, plain=self._plain)
        full = click.style(bar.full, fg="green") if self._colours and bar.full else bar.full
        self._write(bar.before + full + bar.empty + bar.after)

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

    def end(self) -> None:
        """Take the line away."""
        self._over.set()
        with self._line:
            if self._what:
                self._write("")
                self._what = ""


class Refused(click.ClickException):
    """A problem as the command's end: its sentence on stderr, its exit code by its code."""

    def __init__(self, problem: dict[str, Any]) -> None:
        super().__init__(str(problem.get("detail", "it failed")))
        self.problem = problem
        face = FACES.get(str(problem.get("code")))
        self.exit_code = (face.exit or 1) if face is not None else 1  # type: ignore[misc]  # click's is a class variable by name only

    @classmethod
    def of(cls, error: CoveyError) -> Refused:
        """The problem of one of our errors."""
        return cls(error.problem())

    def show(self, file: Any = None) -> None:
        """Print its sentence."""
        click.echo(f"covey: {safe(self.message)}", file=file, err=True)


class Ended(click.exceptions.Exit):
    """The command has printed what there is; it ends with the exit code of a problem's code."""

    def __init__(self, code: str) -> None:
        super().__init__(FACES[code].exit)
