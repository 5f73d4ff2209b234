"""Events as lines of a story: when, what, about which thing, and the few words that go with it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from covey.console import pieces
from covey.console.shown import plain
from covey.store.events import Event

WORDS = 160
_PLACES = {"task": pieces.task, "thread": pieces.thread}
_BAD = (".failed", ".dead", ".given_up", ".hung", ".expired", ".refused", ".lost")


class Line(NamedTuple):
    """One event as a person reads it."""

    at: float
    kind: str
    bad: bool
    agent: str | None
    subject: Markup | str
    words: str


def lines_of(found: Sequence[Event]) -> list[Line]:
    """The events as lines."""
    return [Line(each.at, each.kind, each.kind.endswith(_BAD), each.agent, _subject(each.subject), words_of(each.data)) for each in found]


def _subject(ident: str | None) -> Markup | str:
    if not ident:
        return ""
    return _PLACES.get(ident.partition("_")[0], lambda text: plain(text, 60))(ident)


def words_of(data: dict[str, Any]) -> str:
    """What an event says besides, in a line: `by operator, reason lunch`."""
    said = [f"{name} {_short(value)}" for name, value in data.items() if value not in (None, "", [], {}, False)]
    return ", ".join(said)


def _short(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(_short(each) for each in value[:8])
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return plain(value, WORDS)
