"""How each process of the fleet lives: it logs to its own output, ends on SIGTERM, and takes no longer to end than it may."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import signal
import sys
import threading
from contextlib import suppress
from typing import Any

from covey.runner.watchdog import EX_HUNG

log = logging.getLogger("covey.process")

BOUND_S = 30.0
"""How long beside the grace a process may take to end in good order."""


class Lines(logging.Formatter):
    """One entry is one line, and a trace below it is indented: others' words in it forge no entry and reach no terminal as commands."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """The entry, with what is not to be printed written out."""
        return written_out(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 - logging's name
        """The trace, line by line."""
        return "\n".join(f"  {written_out(line)}" for line in super().formatException(ei).splitlines())


def written_out(text: str) -> str:
    """The text with line ends, escapes and signs that turn its direction as they are written in a program. Pure."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each == "\t" else each.encode("unicode_escape").decode("ascii") for each in text)


def log_to_stderr() -> None:
    """Lines of this process's own log, with time and level."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


def take_all_files() -> None:
    """Let this process have as many files open as it may: one with hundreds of agents needs three for each."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard != resource.RLIM_INFINITY else 65536, hard))


def gone_soon(code: int, after_s: float = 10.0) -> int:
    """The exit code, which this process ends with after so long even if a thread that a brain has left hangs at its end."""
    bound = threading.Timer(after_s, os._exit, (code,))
    bound.daemon = True
    bound.start()
    return code


class Leaving:
    """Whether, why and with which code this process ends. Once it is asked to, it has ended `bound_s` later, whatever hangs."""

    def __init__(self, bound_s: float) -> None:
        self.asked = asyncio.Event()
        self.why = ""
        self.code = 0
        self._bound = threading.Timer(bound_s, self._end_hard)
        self._bound.daemon = True

    def hear_signals(self) -> None:
        """Leave on SIGTERM and SIGINT."""
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self.leave)

    def leave(self, why: str = "", code: int = 0) -> None:
        """End, for this reason; the first one counts."""
        if self.asked.is_set():
            return
        if why:
            log.warning("this process ends: %s", why)
        self.why, self.code = why, code
        self.asked.set()
        self._bound.start()

    def done(self) -> None:
        """It has come to its end in good order."""
        self._bound.cancel()

    def _end_hard(self) -> None:
        sys.stderr.write(f"this process did not end in good order ({self.why or 'told to end'}); it ends now\n")
        sys.stderr.flush()
        os._exit(EX_HUNG)
