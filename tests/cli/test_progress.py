"""The line or bar that tells how far a long command is: for people at a terminal, and for nobody else."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import click
import pytest

from covey.cli import bars, output
from covey.cli.output import Progress
from tests.cli.conftest import Covey


class Terminal(io.StringIO):
    encoding = "utf-8"

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


def test_a_bar_says_what_is_done_and_how_much_that_is_of_all() -> None:
    assert str(bars.drawn("copying", 300, 600, room=79)) == "copying  " + "█" * 15 + "░" * 15 + "  50 %"
    assert str(bars.drawn("copying", 3, 8, room=79, behind="4 s")) == "copying  " + "█" * 11 + "░" * 19 + "  37 %, 3 of 8  4 s"
    assert str(bars.drawn("copying", 0, 600, room=79)) == "copying  " + "░" * 30 + "   0 %"
    assert str(bars.drawn("copying", 599, 600, room=79)).endswith("░  99 %"), "all is done at the end, not before"
    assert str(bars.drawn("copying", 700, 600, room=79)) == "copying  " + "█" * 30 + " 100 %"


def test_a_bar_is_never_wider_than_the_terminal() -> None:
    for room in range(80):
        assert len(str(bars.drawn("copying the store", 40, 99, room=room, behind="about 12 min left"))) <= room
    assert str(bars.drawn("copying the store", 300, 600, room=26)) == "copying the store   50 %", "no room for a bar: the share alone"


def test_a_terminal_that_has_no_such_letters_gets_plain_ones() -> None:
    assert bars.can_draw("utf-8")
    assert not any(map(bars.can_draw, ("ascii", "latin-1", None, "no-such-encoding")))
    assert str(bars.drawn("copying", 300, 600, room=26, plain=True)) == "copying  #####......  50 %"


def test_the_time_left_is_told_when_it_is_known_and_worth_telling() -> None:
    assert bars.left(10, 100, 1.0) == "", "too early to know"
    assert bars.left(0, 100, 60.0) == "", "nothing to go by"
    assert bars.left(90, 100, 9.0) == "", "nearly done"
    assert bars.left(100, 100, 60.0) == ""
    assert bars.left(10, 100, 4.0) == "about 36 s left"
    assert bars.left(10, 100, 60.0) == "about 9 min left"
    assert bars.left(1, 100, 180.0) == "about 5 h left"


def test_the_terminal_is_written_to_ten_times_a_second_at_most_but_always_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_a_terminal(monkeypatch)
    monkeypatch.setattr(output, "DRAW_S", 3600.0)
    progress = Progress()
    for done in range(1, 1001):
        progress.part("copying", done, 1000)
    progress.end()
    lines = click.unstyle(terminal.getvalue()).split("\r")[1:]
    assert [line.partition("copying")[2][-6:] for line in lines] == ["   0 %", " 100 %", ""]


@pytest.mark.parametrize("no_colour", ["", "1"])
def test_a_bar_is_coloured_where_colours_are_wanted(monkeypatch: pytest.MonkeyPatch, no_colour: str) -> None:
    terminal = at_a_terminal(monkeypatch)
    monkeypatch.setenv("NO_COLOR", no_colour)
    progress = Progress()
    progress.part("copying", 1, 2)
    progress.end()
    assert ("\x1b[32m█" in terminal.getvalue()) is not bool(no_colour)
    assert "█" in terminal.getvalue()


def test_long_commands_tell_how_much_there_is(covey: Covey, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int, int]] = []
    monkeypatch.setattr(Progress, "part", lambda _self, what, done, total: told.append((what, done, total)))

    def parts_of(*words: str) -> dict[str, tuple[int, int]]:
        told.clear()
        assert covey(*words).code == 0
        assert all(0 <= done <= total or total == 0 for _, done, total in told)
        return {what: (done, total) for what, done, total in told}

    def whole(found: dict[str, tuple[int, int]]) -> set[str]:
        return {what for what, (done, total) in found.items() if done == total > 0}

    assert covey("send", "coder", "hello").code == 0
    assert whole(parts_of("db", "check")) == {"following the store's references"}
    assert whole(parts_of("db", "vacuum")) == {"giving room back"}
    assert whole(parts_of("db", "backup", "one.db")) == {"copying the store"}
    assert whole(parts_of("backup", "all.tar.gz")) == {"copying the store", "packing"}
    assert whole(parts_of("restore", "all.tar.gz")) >= {"following the store's references", "copying the store"}
    assert "unpacking" in {what for what, _, _ in told}
    assert whole(parts_of("export", "out")) >= {"messages", "events", "files"}
    assert whole(parts_of("import", "out")) >= {"messages"}


def test_at_a_real_terminal_a_backup_draws_its_bar_and_takes_it_away(covey: Covey, folder: Path) -> None:
    assert covey("send", "coder", "hello").code == 0
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environ = {**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "80"}
    command = [sys.executable, "-m", "covey", "db", "backup", "one.db"]
    ran = subprocess.run(command, check=False, stderr=theirs, stdout=subprocess.PIPE, env=environ, timeout=60)
    os.close(theirs)
    drawn = os.read(ours, 65536).decode()
    os.close(ours)
    assert ran.returncode == 0
    assert "copying the store  " + "█" * 30 + " 100 %" in drawn
    assert drawn.endswith("\r\x1b[K")
    assert b"is written" in ran.stdout
