"""The questions that dialogs ask before something is done: fields to fill in, and the dialog itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from covey.console.routes import dialog
from covey.doors.answer import Answer
from covey.doors.call import Call

Kind = Literal["text", "number", "search", "password"]


class Field(NamedTuple):
    """One thing that a person may write, or choose, before it is done."""

    name: str
    label: str
    value: str = ""
    kind: Kind = "text"
    help: str = ""
    needed: bool = False
    lines: int = 1
    """More than one: room for a text."""
    options: Sequence[str] = ()
    """Where there are some, one of them is chosen."""
    bounds: Mapping[str, str | int] = {}
    """Attributes such as min, max, maxlength."""


def confirm(
    call: Call[Any, Any],
    *,
    title: str,
    lines: Sequence[str],
    action: str,
    go: str,
    hidden: Mapping[str, str | int] | None = None,
    fields: Sequence[Field] = (),
    grave: bool = False,
) -> Answer:
    """The question: what exactly is done if `go` is pressed. `action` is where its form goes; `grave` makes it look so."""
    return dialog(call, "confirm.html", title=title, lines=lines, action=action, hidden=hidden or {}, fields=fields, go=go, grave=grave)


def tell(call: Call[Any, Any], title: str, *lines: str) -> Answer:
    """A dialog with nothing to decide."""
    return dialog(call, "told.html", title=title, lines=lines)
