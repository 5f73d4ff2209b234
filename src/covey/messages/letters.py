"""A message on its way through the checks: what is sent, by whom, and what made its sender send it. No rules, no I/O."""

from __future__ import annotations

from typing import NamedTuple

from covey.base.tracing import NewSpan
from covey.messages.checking import Checked
from covey.messages.model import Draft
from covey.store import Row


class Prompt(NamedTuple):
    """What made somebody send: the message or task being handled, whose chain goes on (L10)."""

    visited: tuple[str, ...] = ()
    related_tasks: tuple[str, ...] = ()
    answering: frozenset[str] = frozenset()
    """Who sent what is being handled: to write to them is to answer, no circle."""
    run: str | None = None
    """The run whose outcome sends it: all it sends to one receiver is one event for the debounce (L4)."""


class Letter(NamedTuple):
    """A message that passed all checks but those of its receivers."""

    ident: str
    draft: Draft
    checked: Checked
    sender: str
    asked: Row | None
    visited: list[str]
    answers_to: str | None = None
    prompts: bool = False
    answering: frozenset[str] = frozenset()
    run: str | None = None
    not_before: float | None = None
    """When it may be handed over; None: at once."""
    span: NewSpan | None = None
    """The span of its trace that it is."""
