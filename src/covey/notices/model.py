"""What the operator is told elsewhere, and when it is tried again. Pure, no I/O; no address of a channel is kept or said."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from covey.base.wire import fit
from covey.store.events import Bookmark

ONE_BY_ONE = 3
"""Up to so many alerts are told each by itself; more make one digest."""
AT_ONCE = 200
DIGEST_LINES = 20
TITLE_BYTES = 200
BODY_BYTES = 4_000
LINE_BYTES = 200
TRIES = 12
"""So often an alert is tried on a channel; then it is left to the inbox."""
LONGEST_S = 600.0


class Notice(NamedTuple):
    """One alert of the operator's inbox."""

    message_id: str
    sender: str
    priority: str
    subject: str
    body: str
    at: float


class Words(NamedTuple):
    """What is sent: a title, and a text."""

    title: str
    body: str


class Batch(NamedTuple):
    """What a channel is to tell next, and how far it has got with it."""

    notices: tuple[Notice, ...]
    bookmark: Bookmark
    tries: int = 0
    full: bool = False
    """Whether there may be more right now."""


def channel_of(place: int, url: str) -> str:
    """What a channel is called, as `1:mailto`: its place in the settings and its kind, nothing of its address. Pure."""
    return f"{place + 1}:{url.partition('://')[0][:30]}"


def worded(notices: Sequence[Notice]) -> list[Words]:
    """What is sent for these: each by itself, or one digest if they are many. Pure."""
    if len(notices) <= ONE_BY_ONE:
        return [_words(each) for each in notices]
    lines = [f"{_clock(each.at)} {each.sender}: {_line(each.subject or each.body)}" for each in notices[-DIGEST_LINES:]]
    left = len(notices) - len(lines)
    lines += [f"and {left} earlier ones"] if left else []
    lines.append("`covey inbox operator` shows all.")
    return [Words(f"Covey: {len(notices)} alerts", "\n".join(lines))]


def _words(notice: Notice) -> Words:
    title = f"Covey: {_line(notice.subject or 'an alert')}"
    body = f"{fit(notice.body, BODY_BYTES)}\n\nfrom {notice.sender}, {_clock(notice.at)} · covey read {notice.message_id}"
    return Words(fit(title, TITLE_BYTES), body)


def _line(text: str) -> str:
    return " ".join(fit(text, LINE_BYTES).split())


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def pause_s(tries: int) -> float:
    """How long the next try waits after so many in vain: 5, 10, 20 … 600 s. Pure."""
    return min(5.0 * 2.0 ** min(tries - 1, 20), LONGEST_S)
