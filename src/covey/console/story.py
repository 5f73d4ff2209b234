"""Events as lines of a story: when, what, about which thing, and the few words that go with it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from covey.console import pieces
from covey.console.sentences import NOTHING, sentence_of, short
from covey.console.shown import plain
from covey.store.events import Event

_PLACES = {
    "handoff": pieces.handoff,
    "inc": pieces.incident,
    "task": pieces.task,
    "team": pieces.team,
    "thread": pieces.thread,
    "vote": pieces.vote,
}
_BAD = (".failed", ".dead", ".given_up", ".hung", ".expired", ".refused", ".lost")


class Line(NamedTuple):
    """One event as a person reads it."""

    at: float
    kind: str
    bad: bool
    agent: Markup | str
    subject: Markup | str
    words: str


def lines_of(found: Sequence[Event], about: str = "") -> list[Line]:
    """The events as lines; what the whole story is about is not said in each."""
    return [
        Line(
            each.at,
            each.kind,
            each.kind.endswith(_BAD),
            pieces.agent(each.agent) if each.agent != about else "",
            subject_of(each.subject) if each.subject != about else "",
            sentence_of(each),
        )
        for each in found
    ]


def subject_of(ident: str | None) -> Markup | str:
    """What an event or incident is about; an id leads to its page."""
    if not ident:
        return ""
    return _PLACES.get(ident.partition("_")[0], lambda text: plain(text, 60))(ident)


def words_of(data: dict[str, Any]) -> str:
    """Plain data in a line: `reason lunch, until 2026-11-30 02:44:03 UTC`."""
    return ", ".join(f"{name} {short(value)}" for name, value in data.items() if value not in NOTHING)
