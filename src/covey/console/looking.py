"""Rows picked out of a list that has no index for what is asked: so many are looked at, and the cursor stands where the looking ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from covey.console.tables import Slice

LOOKED_AT = 2_000
"""So many rows are looked at for one page at most."""

C = TypeVar("C")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
C_co = TypeVar("C_co", covariant=True)


class Part(Protocol[R_co, C_co]):
    """A part of a list as the verbs give it."""

    @property
    def items(self) -> Sequence[R_co]:
        """The rows."""

    @property
    def cursor(self) -> C_co | None:
        """Where the next ones begin; None at the end."""


def picked(read: Callable[[C | None], Part[R, C]], fits: Callable[[R], bool], start: C | None, limit: int) -> Slice[R]:
    """The rows that fit, from a cursor on. `read` gives `limit` rows at once."""
    found: list[R] = []
    for _ in range(max(1, LOOKED_AT // limit)):
        part = read(start)
        found += [row for row in part.items if fits(row)]
        start = part.cursor
        if start is None or len(found) >= limit:
            break
    return Slice(found, None if start is None else str(start))


def has_words(words: str, *texts: str) -> bool:
    """Whether each of the words stands in one of the texts, whatever its case. Pure."""
    text = "\n".join(texts).casefold()
    return all(word in text for word in words.casefold().split())
