"""How many tokens a text has, without a vocabulary and without a network: an estimate that is seldom too low. Pure.

The text is cut as the o200k vocabulary cuts it before it looks anything up; each piece then costs what pieces of its kind and length
cost there on the whole (fitted on prose in many languages, code, JSON, logs and base64; `docs/limits.md` says how well). A tokenizer
that counts exactly can be put in its place (`covey[tokens]`); it may be asked only outside of transactions that others wait for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

Counter = Callable[[str], int]

_WORD = r"[^\r\nA-Za-z0-9\x80-\U0010ffff]?[A-Z]*[a-z]+(?:'(?:s|t|re|ve|m|ll|d))?|[^\r\nA-Za-z0-9\x80-\U0010ffff]?[A-Z]+"
_OTHER = r"[0-9]{1,3}|[^\r\nA-Za-z0-9\x80-\U0010ffff]?[^\x00-\x7f]+| ?[!-/:-@\[-`{-~\x00-\x08\x0e-\x1f\x7f]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_PIECE = re.compile(f"{_WORD}|{_OTHER}")

_STEPS: dict[str, dict[int, float]] = {
    "word": {8: 1.0, 9: 0.8, 10: 0.9, 13: 1.3, 14: 2.0},
    "glued": {1: 0.34, 2: 0.21, 8: 0.4, 9: 1.2, 13: 2.0},
    "Glued": {1: 0.53, 5: 0.8, 12: 1.7},
    "UPPER": {1: 0.2, 3: 0.4, 4: 0.5, 7: 1.0, 10: 1.0},
    "MIxed": {2: 2.4, 6: 0.6, 10: 1.0},
    "marks": {4: 0.83},
}
"""What a piece of a kind costs beyond 1 token: at each length above the number so much more."""
_LONG = 16
_MORE = {"marks": (5, 0.68)}
"""From which length each further letter costs something, and how much; else _LONG and 0.2."""
_SCRIPTS = (
    (0x250, 1.33), (0x370, 1.6), (0x530, 0.6), (0x780, 0.6), (0x900, 2.0), (0xE00, 0.95), (0x1000, 1.2), (0x10A0, 1.0), (0x1100, 1.0),
    (0x2000, 2.0), (0x2070, 1.0), (0x3000, 1.5), (0x3040, 1.0), (0x3100, 0.85), (0x4E00, 1.2), (0xA000, 1.05), (0xAC00, 2.0), (0xD7B0, 0.8),
    (0xFF00, 2.0), (0x10000, 1.2), (0x1F000, 4.0), (0x110000, 2.0),
)  # fmt: skip
"""Below which code point a character that is not ASCII costs how much."""


def tokens_of(text: str) -> int:
    """About how many tokens a text has; at least 1."""
    return int(sum(map(_cost, _PIECE.findall(text)))) + 1


@lru_cache(maxsize=1 << 15)
def _cost(piece: str) -> float:
    first = piece[0]
    if piece[-1] > "\x7f":
        lead = first <= "\x7f"
        return sum(map(_of_character, piece[lead:])) + (0.66 if lead and first != " " else 0)
    if piece.isspace():
        return 1 + (0.06 if "\n" in piece else 0.02) * max(0, len(piece) - _LONG)
    if first.isdigit():
        return 1
    leads = not first.isalpha()
    word = piece[1:] if leads else piece
    if not word or not word[0].isalpha():
        return _of_marks(piece.strip())
    return _of_word(word, leads) + (0.66 if leads and first != " " else 0)


def _of_word(word: str, leads: bool) -> float:
    if word.islower() or (leads and word[1:].islower()):
        kind = "word" if leads else "glued"
    elif word.isupper():
        kind = "UPPER"
    else:
        kind = "Glued" if word[1:].islower() else "MIxed"
    return _by_length(kind, len(word))


def _of_marks(marks: str) -> float:
    alike = len(marks) > 3 and marks == marks[0] * len(marks)
    return 1 + len(marks) / 60 if alike else _by_length("marks", len(marks))


def _by_length(kind: str, length: int) -> float:
    start, each = _MORE.get(kind, (_LONG, 0.2))
    return 1 + sum(more for above, more in _STEPS[kind].items() if length > above) + each * max(0, length - start)


@lru_cache(maxsize=1 << 13)
def _of_character(char: str) -> float:
    return next(cost for below, cost in _SCRIPTS if ord(char) < below)
