"""How far a long piece of work is, told to whoever waits for it. Who tells knows nothing of who listens."""

from __future__ import annotations

from collections.abc import Callable

Tell = Callable[[str, int, int], object]
"""Told after each part of the work: what it is about, how much is done, and of how much in all (0: nobody knows)."""


def silent(what: str, done: int, total: int) -> None:
    """Tell nobody."""
