"""What is wrong with a configuration, gathered as it is found (A2). How it is told, with lines and near words, is `refusal`'s."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from covey.base.config.spelling import Key, spelled

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
    word: str = ""
    words: Collection[str] | None = None
    """For a word that is none of the allowed ones: it, and these."""


class Faults:
    """The faults found so far, and the text that they are in."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.found: list[Fault] = []

    def add(self, at: Key | str, message: str) -> None:
        """One more fault. The message says what is, and what is allowed."""
        self.found.append(Fault(at, message))

    def unknown(self, at: Key | str, what: str, word: str, words: Collection[str]) -> None:
        """A word that is none of the allowed ones. `what` they are called, empty for a value."""
        said = f"there is no {what} {shown(word)}" if what else f"is {shown(word)}"
        self.found.append(Fault(at, said, word, words))


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
    return next((name for kind, name in _KINDS.items() if isinstance(value, kind)), "a date or time")
