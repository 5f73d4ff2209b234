"""Changes to single places of a TOML text; all else, comments and order too, stays as it is. Knows no keys of ours.

The same change is made to plain data beside it, and in the end both must say the same: a text that is written in a way not
foreseen here is refused, never broken.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from covey.base.config.places import Header, Pair, Survey
from covey.base.config.spelling import Key, dotted, spelled, table
from covey.base.errors import Failed, NotFound

Keys = Sequence[str]
"""A path into the document: names of tables, and the last one's key."""


class Document:
    """A TOML text under change: `data` is what it says."""

    def __init__(self, text: str) -> None:
        self._returns = "\r\n" in text
        self._text = text.replace("\r\n", "\n")
        self._emptied: list[Keys] = []
        """Tables that something was taken out of: once empty, the text need not name them."""
        self.data: dict[str, Any] = tomllib.loads(self._text)

    def put(self, path: Keys, value: object) -> None:
        """Set what is at the path; tables on the way are made. A table as value becomes `[section.name]`, deeper down an inline one."""
        self.put_each([(path, value)])

    def put_each(self, values: Iterable[tuple[Keys, object]]) -> None:
        """Set many at once, which costs one walk through the text. None may be new tables on the way to another."""
        values = [(path, _plain(value)) for path, value in values]
        for path, value in values:
            parent = self.data
            for name in path[:-1]:
                parent = parent.setdefault(name, {})
            parent[path[-1]] = value
        self._text = _put(self._text, values)

    def take(self, path: Keys) -> None:
        """Remove what is at the path.

        Raises:
            NotFound: There is nothing.
        """
        parent = _at(self.data, path[:-1])
        if not isinstance(parent, dict) or path[-1] not in parent:
            raise NotFound(f"There is no {dotted(path)} in the file.", field=dotted(path))
        del parent[path[-1]]
        self._text = _take(self._text, path)
        self._emptied += [path[:depth] for depth in range(len(path) - 1, 0, -1)]

    def text(self) -> str:
        """The text as changed.

        Raises:
            Failed: It does not say what it should; nothing is lost, edit it by hand.
        """
        try:
            said = tomllib.loads(self._text)
        except tomllib.TOMLDecodeError:
            said = {}
        for path in self._emptied:
            if _at(self.data, path) == {} and _at(said, path) is None:
                del _at(self.data, path[:-1])[path[-1]]
        if said != self.data:
            raise Failed("The file is written in a way that can't be changed from here; edit it by hand, then run `covey config check`.")
        return self._text.replace("\n", "\r\n") if self._returns else self._text


class _Cut(NamedTuple):
    """What is put into the text in place of what is between start and end."""

    start: int
    end: int
    text: str


def _plain(value: object) -> Any:
    """The value as TOML would give it back."""
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, (list, tuple)) else value


def _at(data: dict[str, Any], path: Keys) -> Any:
    """What is at the path, or None."""
    found: Any = data
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _put(text: str, values: Sequence[tuple[Keys, object]]) -> str:
    survey = Survey(text)
    for path, _ in values:
        if not _value_of(survey, path) and _parts(survey, tuple(path)):
            text = _take(text, path)
            survey = Survey(text)
    cuts = [_change(survey, path, value) for path, value in reversed(values)]
    for cut in sorted(cuts, key=lambda cut: cut.start, reverse=True):
        text = text[: cut.start] + cut.text + text[cut.end :]
    return text


def _take(text: str, path: Keys) -> str:
    survey = Survey(text)
    if holder := _value_of(survey, path[:-1]):
        cut = _in_inline(text, holder, path, None)
        return text[: cut.start] + cut.text + text[cut.end :]
    for part in reversed(_parts(survey, tuple(path))):
        text = _without_lines(text, part.start, part.end)
    return text


def _value_of(survey: Survey, path: Keys) -> Pair | None:
    """The line that gives the value at the path, or gives a table that it is inside of."""
    pairs = (survey.pair_at.get(tuple(path[:depth])) for depth in range(1, len(path) + 1))
    return next((pair for pair in pairs if pair), None)


def _parts(survey: Survey, path: Key) -> list[Header | Pair]:
    """The headers and lines that say what is at the path and below, in the text's order."""
    parts: list[Header | Pair] = [header for header in survey.headers if header.path[: len(path)] == path]
    parts += [pair for pair in survey.pairs if pair.path[: len(path)] == path and not pair.inline]
    return sorted(parts, key=lambda part: part.start)


def _change(survey: Survey, path: Keys, value: object) -> _Cut:
    """Where the text changes so that the value stands at the path."""
    pair = _value_of(survey, path)
    if pair and len(pair.path) == len(path):
        return _Cut(pair.value, pair.end, spelled(value))
    if pair:
        return _in_inline(survey.text, pair, path, value)
    if isinstance(value, Mapping) and len(path) <= 2:
        return _new_table(survey, path, value)
    return _new_key(survey, path, value)


def _in_inline(text: str, holder: Pair, path: Keys, value: object | None) -> _Cut:
    """An inline table written anew, with the value in it, or without it if it is None."""
    whole = tomllib.loads(f"whole = {text[holder.value : holder.end]}")["whole"]
    inner = whole
    for name in path[len(holder.path) : -1]:
        inner = inner.setdefault(name, {})
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return _Cut(holder.value, holder.end, spelled(whole))


def _new_key(survey: Survey, path: Keys, value: object) -> _Cut:
    """A new line: in place of one that shows the default, or below the last one of the nearest table, or in a new table."""
    for depth in range(len(path) - 1, min(2, len(path) - 1) - 1, -1):
        if block := _block(survey, tuple(path[:depth])):
            last, owner = block
            line = f"{dotted(path[len(owner) :])} = {spelled(value)}"
            shown = _shown_default(survey, owner, line)
            return _Cut(shown.start(), shown.end(), line) if shown else _below(survey.text, last, line + "\n")
    return _new_table(survey, path[:-1], {path[-1]: value})


def _block(survey: Survey, path: Key) -> tuple[int, Key] | None:
    """Where the last line of a table ends, and the header's path that it stands under; None if no line is of that table itself."""
    if header := survey.header_at.get(path):
        return _end_of(survey, header), path
    dotted_lines = [pair for pair in survey.pairs if not pair.inline and pair.path[: len(path)] == path]
    return (dotted_lines[-1].end, dotted_lines[-1].table) if dotted_lines else None


def _shown_default(survey: Survey, owner: Key, line: str) -> re.Match[str] | None:
    """A line `#key = …` below the header of the table, before the next header."""
    header = survey.header_at.get(owner)
    end = _next_header(survey, header)
    key = re.escape(line.partition(" = ")[0])
    return re.compile(rf"^#[ ]?{key}[ ]*=[^\n]*$", re.MULTILINE).search(survey.text, header.end if header else 0, end)


def _new_table(survey: Survey, path: Keys, values: Mapping[str, Any]) -> _Cut:
    """A new table, below the last one of its section or at the end."""
    lines = "\n" + table(path, values)
    last = next((header for header in reversed(survey.headers) if header.path[:1] == tuple(path[:1])), None)
    if last:
        return _below(survey.text, _end_of(survey, last), lines)
    end = len(survey.text)
    return _Cut(end, end, lines[1:] if not end else lines if survey.text.endswith("\n") else "\n" + lines)


def _end_of(survey: Survey, header: Header) -> int:
    """Where the last line below a header ends."""
    lines = survey.lines_below.get(header.start)
    return lines[-1].end if lines else header.end


def _next_header(survey: Survey, header: Header | None) -> int:
    """Where the next header begins, or the text ends. None is the place before all headers."""
    place = survey.headers.index(header) + 1 if header else 0
    return survey.headers[place].start if place < len(survey.headers) else len(survey.text)


def _below(text: str, at: int, lines: str) -> _Cut:
    """Lines put in below the line in which `at` is."""
    end = text.find("\n", at)
    return _Cut(len(text), len(text), "\n" + lines) if end < 0 else _Cut(end + 1, end + 1, lines)


def _without_lines(text: str, start: int, end: int) -> str:
    """The text without the lines from `start` to `end`, and without the second of two empty lines that would meet."""
    before = text[: text.rfind("\n", 0, start) + 1]
    newline = text.find("\n", end)
    after = "" if newline < 0 else text[newline + 1 :]
    if after.startswith("\n") and (not before or before.endswith("\n\n")):
        after = after[1:]
    return before + after
