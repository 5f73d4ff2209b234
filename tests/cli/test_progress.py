"""The line that tells how far a long command is: for people at a terminal, and for nobody else."""

from __future__ import annotations

import io
import time

import pytest

from covey.cli import output
from covey.cli.output import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Stands for stderr from here on; a fixture would come before pytest puts its own there."""
    found = Terminal()
    monkeypatch.setattr("sys.stderr", found)
    return found


def test_a_line_is_written_over_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_a_terminal(monkeypatch)
    progress = Progress()
    progress.say("reading")
    progress.count("messages", 1200)
    progress.end()
    assert terminal.getvalue() == "\r\x1b[Kreading\r\x1b[Kmessages: 1,200\r\x1b[K"
    progress.end()
    assert terminal.getvalue().endswith("1,200\r\x1b[K"), "a second end does nothing"


def test_what_takes_long_has_its_seconds_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_a_terminal(monkeypatch)
    monkeypatch.setattr(output, "QUIET_S", 0.0)
    progress = Progress()
    progress.say("reading")
    until = time.monotonic() + 20
    while "reading: 1 s" not in terminal.getvalue():
        assert time.monotonic() < until
        progress._over.wait(0.05)
    progress.end()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_programs_and_files_get_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_a_terminal(monkeypatch)
    progress = Progress(as_json=True)
    progress.say("reading")
    progress.end()
    assert terminal.getvalue() == ""
    file = io.StringIO()
    monkeypatch.setattr("sys.stderr", file)
    progress = Progress()
    progress.say("reading")
    progress.end()
    assert file.getvalue() == ""
