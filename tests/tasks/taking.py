"""Agents as those who may be given work, made up."""

from __future__ import annotations

from covey.tasks.takers import Taker


def taker(name: str, brain: str = "python", place: int = 0, *, tasks: int = 0, lives: bool = True, shaky: bool = False) -> Taker:
    """An agent that takes work, unless told otherwise."""
    return Taker(name, place, brain, frozenset({"general"}), None, lives, shaky, tasks, 0, 0.0)
