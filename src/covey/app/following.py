"""Tell a Python program, event by event, what happens to what it waits for."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isawaitable
from typing import Any

from covey.store.events import Event

Progress = Callable[[dict[str, Any]], object]
"""Told an event as JSON shows it: kind, at, agent, subject and more. What it answers is awaited, if it can be."""


async def tell(progress: Progress, event: Event) -> None:
    """Tell this event."""
    answer = progress(event.shown())
    if isawaitable(answer):
        await answer
