"""Both ends of a process's pipes, without a thread: fed, drained, bounded. Nothing here knows what is said in them."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable
from typing import IO

CHUNK = 65536
LINE_BYTES = 4096
WHOLE_BYTES = 256 * 1024
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f]")


def text_of(raw: bytes) -> str:
    """The bytes as text that any store can hold: what is no UTF-8, and NUL, becomes U+FFFD. Pure."""
    return raw.decode(errors="replace").replace("\0", "\ufffd")


def plain(text: str) -> str:
    """A line without colours and control characters. Pure."""
    return _CONTROL.sub("", text).strip()


class Kept:
    """The first and the last half of all that came, within a bound in bytes; what was between is counted and left out."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, chunk: bytes) -> None:
        """Take what came."""
        self.total += len(chunk)
        room = self._half - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:] if room < len(chunk) else b""
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    @property
    def left_out(self) -> int:
        """How many bytes are not kept."""
        return max(0, self.total - 2 * self._half)

    def text(self) -> str:
        """What is kept; where something is left out it says so."""
        if not self.left_out:
            return text_of(bytes(self._head + self._tail))
        end = bytes(self._tail[-self._half :])
        start = next((place for place in range(min(4, len(end))) if end[place] & 0xC0 != 0x80), 0)
        head = text_of(bytes(self._head)).rstrip("\ufffd")
        return f"{head}\n… ({self.left_out:,} bytes left out) …\n{text_of(end[start:])}"


class Lines:
    """The latest whole line of a stream; `told` is called for each that says something."""

    def __init__(self, told: Callable[[str], None]) -> None:
        self._told = told
        self._rest = b""

    def add(self, chunk: bytes) -> None:
        """Take what came. Of many lines at once the last one counts; one that is far too long is cut."""
        *whole, rest = re.split(rb"[\r\n]+", self._rest + chunk)
        self._rest = rest[-LINE_BYTES:]
        for line in reversed(whole[-20:]):
            if text := plain(text_of(line[:LINE_BYTES])):
                self._told(text)
                return


class Whole:
    """Every whole line of a stream; `told` is called for each. One that is longer than the bound is passed over."""

    def __init__(self, told: Callable[[bytes], None]) -> None:
        self._told = told
        self._rest = bytearray()
        self._too_long = False

    def add(self, chunk: bytes) -> None:
        """Take what came."""
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            self._take(line)
            if not self._too_long:
                self._told(bytes(self._rest))
            self._rest, self._too_long = bytearray(), False
        self._take(rest)

    def _take(self, part: bytes) -> None:
        self._too_long = self._too_long or len(self._rest) + len(part) > WHOLE_BYTES
        self._rest += b"" if self._too_long else part


class Outflow:
    """Reads a process's output as it comes; `ended` is set once everybody who held the other end is gone."""

    def __init__(self, pipe: IO[bytes], *sinks: Callable[[bytes], None]) -> None:
        self._pipe = pipe
        self._sinks = sinks
        self._loop = asyncio.get_running_loop()
        self.ended = asyncio.Event()
        os.set_blocking(pipe.fileno(), False)
        self._loop.add_reader(pipe.fileno(), self._ready)

    def _ready(self) -> bool:
        """Whether there was something."""
        try:
            chunk = os.read(self._pipe.fileno(), CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            self.ended.set()
            self._loop.remove_reader(self._pipe.fileno())
            return False
        for sink in self._sinks:
            sink(chunk)
        return True

    def close(self) -> None:
        """Take what is there already, at most what a pipe holds by default and some, and let go."""
        for _ in range(32):
            if self.ended.is_set() or not self._ready():
                break
        self._loop.remove_reader(self._pipe.fileno())
        self._pipe.close()


class Inflow:
    """Writes a process's input as it takes it; a process that does not want it is no error."""

    def __init__(self, pipe: IO[bytes], given: bytes) -> None:
        self._pipe = pipe
        self._rest = memoryview(given)
        self._loop = asyncio.get_running_loop()
        os.set_blocking(pipe.fileno(), False)
        self._loop.add_writer(pipe.fileno(), self._ready)

    def _ready(self) -> None:
        try:
            self._rest = self._rest[os.write(self._pipe.fileno(), self._rest[:CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:  # it has closed its input, or is gone
            self._rest = self._rest[:0]
        if not self._rest:
            self.close()

    def close(self) -> None:
        """Let go; the process reads the end of its input."""
        if not self._pipe.closed:
            self._loop.remove_writer(self._pipe.fileno())
            self._pipe.close()
