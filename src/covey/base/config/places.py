"""Where things stand in a TOML text, which tomllib does not tell. Only for text that tomllib has accepted; never raises."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from typing import NamedTuple

from covey.base.config.spelling import Key

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_NAME = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_STRING = re.compile(
    r'''"""(?:[^"\\]|\\.|"{1,2}(?!"))*+"{3,5}'''
    r"""|\'\'\'(?:[^']|'{1,2}(?!'))*+'{3,5}"""
    r'''|"(?:[^"\\\n]|\\.)*"'''
    r"""|'[^'\n]*'""",
    re.DOTALL,
)
_PLAIN = re.compile(r"[^,\]}#\n]*[^,\]}#\s]")


class Place(NamedTuple):
    """A line and a column, both counted from 1."""

    line: int
    column: int


class Header(NamedTuple):
    """`[table]`: its path, and where it begins and ends in the text."""

    path: Key
    start: int
    end: int


class Pair(NamedTuple):
    """`key = value`: its path, the table whose header it stands under, and where pair and value begin and end in the text."""

    path: Key
    table: Key
    start: int
    value: int
    end: int
    inline: bool
    """Whether it stands inside of an inline table."""


class _Lost(Exception):
    """The text is not as expected: what was found so far must do."""


class Survey:
    """One walk through a text: the first place of each table, key and element; all headers and pairs in their order, and by path.

    `lines_below` has, by the start of a header, the pairs below it that are lines of their own.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.places: dict[Key, Place] = {}
        self.headers: list[Header] = []
        self.header_at: dict[Key, Header] = {}
        self.pairs: list[Pair] = []
        self.pair_at: dict[Key, Pair] = {}
        self.lines_below: dict[int, list[Pair]] = {}
        self._at = 0
        self._lines = [0, *(end.end() for end in re.finditer("\n", text))]
        self._elements: dict[Key, int] = {}
        try:
            self._document()
        except (_Lost, RecursionError):
            return

    def _document(self) -> None:
        table: Key = ()
        while self._blank():
            if self._sees("["):
                table = self._header()
            else:
                self._pair(table, table, inline=False)

    def _header(self) -> Key:
        """Past `[table]` or `[[array of tables]]`; the path of what follows."""
        start = self._at
        mark = 2 if self.text.startswith("[[", start) else 1
        self._at += mark
        path: Key = ()
        for name in self._dotted():
            path = self._into_last((*path, name))
        self._at += mark
        if mark == 2:
            path = self._next_element(path)
        for depth in range(1, len(path) + 1):
            self._note(path[:depth], start)
        self.headers.append(Header(path, start, self._at))
        self.header_at[path] = self.headers[-1]
        return path

    def _into_last(self, path: Key) -> Key:
        """The path itself, or into the last table of an array of tables."""
        return (*path, self._elements[path] - 1) if path in self._elements else path

    def _next_element(self, path: Key) -> Key:
        array = path[:-1] if isinstance(path[-1], int) else path
        self._elements[array] = self._elements.get(array, 0) + 1
        return (*array, self._elements[array] - 1)

    def _pair(self, parent: Key, table: Key, *, inline: bool) -> None:
        start = self._at
        path = (*parent, *self._dotted())
        for end in range(len(parent) + 1, len(path) + 1):
            self._note(path[:end], start)
        if not self._sees("="):
            raise _Lost
        self._at += 1
        self._blank()
        value = self._at
        self._value(path, table)
        pair = Pair(path, table, start, value, self._at, inline)
        self.pairs.append(pair)
        self.pair_at.setdefault(path, pair)
        if self.headers and not inline:
            self.lines_below.setdefault(self.headers[-1].start, []).append(pair)

    def _dotted(self) -> list[str]:
        names = [self._name()]
        while self._blank() and self._sees("."):
            self._at += 1
            names.append(self._name())
        return names

    def _name(self) -> str:
        self._blank()
        text = self._match(_NAME)
        return next(iter(tomllib.loads(f"{text} = 0"))) if text[0] in "\"'" else text

    def _value(self, path: Key, table: Key) -> None:
        if self._sees("["):
            self._array(path, table)
        elif self._sees("{"):
            self._inline(path, table)
        else:
            self._match(_STRING if self._sees('"') or self._sees("'") else _PLAIN)

    def _array(self, path: Key, table: Key) -> None:
        self._at += 1
        element = 0
        while self._blank() and not self._sees("]"):
            self._note((*path, element), self._at)
            self._value((*path, element), table)
            element += 1
            self._comma()
        self._at += 1

    def _inline(self, path: Key, table: Key) -> None:
        self._at += 1
        while self._blank() and not self._sees("}"):
            self._pair(path, table, inline=True)
            self._comma()
        self._at += 1

    def _comma(self) -> None:
        self._blank()
        if self._sees(","):
            self._at += 1

    def _blank(self) -> bool:
        """Past spaces, comments and line ends; whether anything follows."""
        found = _BLANK.match(self.text, self._at)
        self._at = found.end() if found else self._at
        return self._at < len(self.text)

    def _sees(self, mark: str) -> bool:
        return self.text.startswith(mark, self._at)

    def _match(self, form: re.Pattern[str]) -> str:
        found = form.match(self.text, self._at)
        if found is None:
            raise _Lost
        self._at = found.end()
        return found[0]

    def _note(self, path: Key, at: int) -> None:
        line = bisect_right(self._lines, at)
        self.places.setdefault(path, Place(line, at - self._lines[line - 1] + 1))
