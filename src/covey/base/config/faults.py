"""All that is wrong with a configuration, each with its place, gathered so that it is refused once and whole (A2)."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from typing import Any, NamedTuple

from covey.base.config.places import Key, Place, Survey
from covey.base.config.spelling import dotted, spelled
from covey.base.errors import Misconfigured

_SHOWN_WORDS = 40
_SHOWN_FAULTS = 50
_FEW = 200
_BIG_SEARCHES = 20
_KINDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    list: "a list",
    tuple: "a list",
    dict: "a table",
}


class Fault(NamedTuple):
    """One fault. `at` is a path into covey.toml, or the name of a variable or flag."""

    at: Key | str
    message: str


class Faults:
    """The faults found so far, and the text that shows their lines."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.found: list[Fault] = []
        self._big_searches = _BIG_SEARCHES

    def add(self, at: Key | str, message: str) -> None:
        """One more fault. The message says what is, and what is allowed."""
        self.found.append(Fault(at, message))

    def unknown(self, at: Key | str, what: str, word: str, words: Collection[str]) -> None:
        """A word that is none of the allowed ones, with the one that comes nearest. `what` they are called, empty for a value."""
        near = self._nearest(word, words)
        guess = f'did you mean "{near}"? Allowed' if near else "allowed"
        found = f"there is no {what}" if what else "is"
        self.add(at, f"{found} {shown(word)}; {guess}: {listed(words) or 'none'}")

    def _nearest(self, word: str, words: Collection[str]) -> str | None:
        """The word that comes near, or None. Searches of long lists are few: each takes milliseconds."""
        if len(words) > _FEW:
            self._big_searches -= 1
            if self._big_searches < 0:
                return None
        return next(iter(difflib.get_close_matches(word[:100], words, n=1)), None)

    def refuse(self) -> None:
        """Nothing, if there is no fault.

        Raises:
            Misconfigured: with every fault as {line, column, path, message}; line and column are None for what is
                not of the file.
        """
        if not self.found:
            return
        places = Survey(self.text.replace("\r\n", "\n")).places
        faults = sorted((_told(fault, places) for fault in self.found), key=lambda fault: (fault["line"] or 0, fault["column"] or 0))
        count = "1 fault" if len(faults) == 1 else f"{len(faults):,} faults"
        lines = [_line(fault) for fault in faults[:_SHOWN_FAULTS]]
        if len(faults) > _SHOWN_FAULTS:
            lines.append(f"  … and {len(faults) - _SHOWN_FAULTS:,} more")
        raise Misconfigured("\n".join([f"{self.name}: {count}; nothing of it was taken.", *lines]), faults)


def _told(fault: Fault, places: dict[Key, Place]) -> dict[str, Any]:
    if isinstance(fault.at, str):
        return {"line": None, "column": None, "path": fault.at, "message": fault.message}
    at = fault.at
    while at and at not in places:
        at = at[:-1]
    place = places.get(at)
    line, column = place or (None, None)
    return {"line": line, "column": column, "path": dotted(fault.at), "message": fault.message}


def _line(fault: dict[str, Any]) -> str:
    place = f"line {fault['line']}: " if fault["line"] else ""
    path = f"{fault['path']}: " if fault["path"] else ""
    return f"  {place}{path}{fault['message']}"


def shown(value: object) -> str:
    """A value as a person wrote it, cut short; of what is long or deep only the kind."""
    if isinstance(value, str):
        return spelled(value if len(value) <= 60 else value[:57] + "…")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) or (isinstance(value, int) and abs(value) < 10**30):
        return str(value)
    return kind_of(value)


def kind_of(value: object) -> str:
    """What kind of value it is, in TOML's words."""
    for kind, name in _KINDS.items():
        if isinstance(value, kind):
            return name
    return "a date or time"


def listed(words: Collection[str]) -> str:
    """The words, as many as one can read."""
    first = list(words)[:_SHOWN_WORDS]
    more = f" … and {len(words) - len(first):,} more" if len(words) > len(first) else ""
    return ", ".join(first) + more
