"""The ids, URLs and paths in a text, word for word: what no summary may lose (C2). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

_URL = r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s<>\"'`{}|\\^\u3000-\u303f\uff00-\uffef]+"
_UUID = r"(?<![\w-])[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}(?![\w-])"
_PATH = (
    r"(?<![\w/])(?:[A-Za-z]:\\[^\s<>\"'|?*]+|"
    r"(?:~|\.{1,2})?/[\w@%+=~-][\w.@%+=~/-]*|[\w.@%+=~-]+/[\w.@%+=~/-]*(?:/|\.[A-Za-z]\w{0,7})[\w.@%+=~/-]*)"
)
_FILE = r"(?<![\w/.@-])[\w-]+(?:\.[\w-]+)*\.(?:[a-z]{1,4}\d?|json5?|jsonl|toml|yaml|lock|html|scss|ipynb|JSON|MD|PDF|CSV)(?![\w/])"
_PREFIXED = r"(?<![\w/])(?:msg|task|thread|entry|run|inc|incident|link|dm|plan|vote|hand|handoff|ckpt)[_:][A-Za-z0-9][A-Za-z0-9._:-]*"
_CODED = r"(?<![\w/.])[A-Za-z0-9]+(?:[_:#-]+[A-Za-z0-9]+)+"
_NUMBER = r"(?<!\w)#\d+|(?<![\w.,])\d{6,}(?![\w.,]\d)|(?<![\w.])(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}(?!\w)"
_ANY = re.compile(
    f"(?P<url>{_URL})|(?P<uuid>{_UUID})|(?P<id>{_PREFIXED})|(?P<path>{_PATH})|(?P<file>{_FILE})|(?P<code>{_CODED})|(?P<number>{_NUMBER})"
)
_LIKELY = re.compile(r"[\d/\\_#]|\w\.\w|\w:\w")
"""None of them stands in a part of a text, between two blanks, that has nothing of this."""
_AFTER = ".,;:!?)]}'\"*>、。，；：！？」』）】》"


def references(text: str) -> list[str]:
    """Each of them once, in order."""
    found: dict[str, None] = {}
    for part in dict.fromkeys(text.split()):
        if _LIKELY.search(part):
            _find(part, found)
    return list(found)


def _find(part: str, found: dict[str, None]) -> None:
    for each in _ANY.finditer(part):
        word = each[0].rstrip(_AFTER)
        if each.lastgroup == "code" and not any(char.isdigit() for char in word):
            continue
        if len(word) > 1:
            found[word] = None


def missing(wanted: Iterable[str], text: str) -> list[str]:
    """Which of these do not stand in a text word for word, each by itself: `task_1` does not stand in `task_12`."""
    words = text.split()
    there = {*words, *(word.rstrip(_AFTER) for word in words)}
    left = [word for word in wanted if word not in there]
    if not left:
        return []
    there = set(references(text))
    return [word for word in left if word not in there]
