"""An event as a short sentence: `sent to devops: delivered`, `done in 58 ms`. A field that nobody described is told by its name. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from covey.base.clock import LAST_DATE
from covey.console.shown import plain, span
from covey.store.events import Event

WORDS = 160
"""So much is said of one field."""
MOMENTS = 1e9
"""A number with a fraction from here on is a moment, in Unix seconds."""
NOTHING: tuple[object, ...] = (None, "", [], {}, False)
UNSAID = frozenset({"checkId", "doneBy", "imported", "run", "trace"})
"""What means nothing to who reads a story; Inspect's files have it."""
USUAL = {"attempt": 1, "priority": "medium", "state": "queued"}
"""What is so unless something else is said."""
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Sentence(NamedTuple):
    """Its parts: what follows at once (`by operator`), facts, and somebody's words."""

    follows: list[str]
    facts: list[str]
    words: list[str]

    def told(self, beginning: str) -> str:
        """The parts in order; nothing where there are none."""
        if not any(self):
            return ""
        said = not self.follows and self.facts and self.facts[0].startswith(f"{beginning} ")
        head = "" if said else " ".join([beginning, *self.follows])
        return " – ".join([", ".join([*filter(None, [head]), *self.facts]), *self.words])


def sentence_of(event: Event) -> str:
    """What happened, without what its kind, agent and subject say already; empty where that is all."""
    found = Sentence([], [], [])
    for name, value in event.data.items():
        if name in UNSAID or value in NOTHING or USUAL.get(name) == value:
            continue
        if name in _FOLLOWS:
            found.follows.append(_FOLLOWS[name](value))
        elif name in _WORDS:
            found.words.append(_WORDS[name](value))
        else:
            found.facts.append(_FACTS[name](value) if name in _FACTS else f"{in_words(name)} {short(value)}")
    return found.told(in_words(event.kind.rpartition(".")[2]))


def in_words(name: str) -> str:
    """A name of ours as words: `again_in_s` is `again in s`, `retryAt` is `retry at`."""
    return _CAMEL.sub(" ", plain(name, 60)).replace("_", " ").lower()


def short(value: Any) -> str:
    """A value in few words."""
    if isinstance(value, list | tuple):
        return " ".join(short(each) for each in value[:8])
    if isinstance(value, Mapping):
        return ", ".join(f"{plain(name, 60)}: {short(each)}" for name, each in list(value.items())[:8])
    if isinstance(value, float) and MOMENTS <= value <= LAST_DATE:
        return f"{datetime.fromtimestamp(value, UTC):%Y-%m-%d %H:%M:%S} UTC"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return plain(value, WORDS)


def _after(word: str) -> Callable[[Any], str]:
    return lambda value: f"{word} {short(value)}"


def _long(word: str) -> Callable[[Any], str]:
    return lambda value: f"{word} {span(value) if isinstance(value, int | float) else short(value)}"


def _quoted(value: Any) -> str:
    return f"“{short(value)}”"


_FOLLOWS: dict[str, Callable[[Any], str]] = {
    "by": _after("by"),
    "to": _after("to"),
    "sender": _after("from"),
    "asker": _after("from"),
    "took_s": _long("in"),
    "open_s": _long("after"),
    "queue": _after("in the queue"),
    "parent": _after("as a part of"),
    "deliverAt": _after("until"),
    "until": _after("until"),
}
_FACTS: dict[str, Callable[[Any], str]] = {
    "again_in_s": _long("tried again in"),
    "retryAt": _after("to be tried again at"),
    "resetAt": _after("the next window begins at"),
    "state": short,
    "status": short,
    "outcome": short,
    "priority": lambda value: f"{short(value)} priority",
    "usd": lambda value: f"${short(value)}",
    "tokens": lambda value: f"{value:,} tokens" if isinstance(value, int) else short(value),
    "contextShare": lambda value: f"context {value * 100:.0f} %" if isinstance(value, int | float) else short(value),
    "path": lambda value: f"came by {short(value)}",
}
_WORDS: dict[str, Callable[[Any], str]] = {
    "head": _quoted,
    "text": _quoted,
    "reason": short,
    "why": short,
    "error": short,
    "cause": short,
    "sentence": short,
}
