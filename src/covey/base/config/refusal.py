"""Faults told to people and programs: each with its line, and with the word that was probably meant. Imported only when there are any."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from typing import Any

from covey.base.config.faults import Fault, Faults
from covey.base.config.places import Place, Survey
from covey.base.config.spelling import Key, dotted
from covey.base.errors import Misconfigured

_SHOWN_WORDS = 40
_SHOWN_FAULTS = 50
_MANY = 200
_BIG_SEARCHES = 20


def refusal(faults: Faults) -> Misconfigured:
    """The error that has every fault as {line, column, path, message}, and the first 50 in its message.

    Line and column are None for what is not of the file. The faults of the file are in its order.
    """
    places = Survey(faults.text.replace("\r\n", "\n")).places
    messages = _messages(faults.found)
    told = [_told(fault, message, places) for fault, message in zip(faults.found, messages, strict=True)]
    told.sort(key=lambda fault: (fault["line"] or 0, fault["column"] or 0))
    count = "1 fault" if len(told) == 1 else f"{len(told):,} faults"
    lines = [f"{faults.name}: {count}; nothing of it was taken.", *map(_line, told[:_SHOWN_FAULTS])]
    if len(told) > _SHOWN_FAULTS:
        lines.append(f"  … and {len(told) - _SHOWN_FAULTS:,} more")
    return Misconfigured("\n".join(lines), told)


def _messages(found: list[Fault]) -> list[str]:
    """What each fault says. Searches of long lists are few, since each takes milliseconds."""
    messages = []
    searches = _BIG_SEARCHES
    for fault in found:
        if fault.words is None:
            messages.append(fault.message)
            continue
        searches -= len(fault.words) > _MANY
        near = _nearest(fault.word, fault.words) if searches >= 0 else None
        guess = f'did you mean "{near}"? Allowed' if near else "allowed"
        messages.append(f"{fault.message}; {guess}: {_listed(fault.words)}")
    return messages


def _nearest(word: str, words: Collection[str]) -> str | None:
    return next(iter(difflib.get_close_matches(word[:100], words, n=1)), None)


def _listed(words: Collection[str]) -> str:
    """The words, as many as one can read."""
    first = list(words)[:_SHOWN_WORDS]
    more = f" … and {len(words) - len(first):,} more" if len(words) > len(first) else ""
    return (", ".join(first) or "none") + more


def _told(fault: Fault, message: str, places: dict[Key, Place]) -> dict[str, Any]:
    if isinstance(fault.at, str):
        return {"line": None, "column": None, "path": fault.at, "message": message}
    at = fault.at
    while at and at not in places:
        at = at[:-1]
    line, column = places.get(at) or (None, None)
    return {"line": line, "column": column, "path": dotted(fault.at), "message": message}


def _line(fault: dict[str, Any]) -> str:
    place = f"line {fault['line']}: " if fault["line"] else ""
    return f"  {place}{fault['path']}: {fault['message']}"
