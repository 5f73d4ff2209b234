"""What a report of the rules brain works with, and what it comes to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from covey.agents.model import Caller
from covey.base.settings import AgentSettings
from covey.brains.model import Hands

DATA_BYTES = 60_000
"""An outcome's figures stay below the bound of M10."""
TEXT_CHARS = 20_000


class Desk(NamedTuple):
    """Whose brain it is, for which turn, and how it reads."""

    agent: str
    role: str
    settings: AgentSettings
    data_dir: Path
    hands: Hands
    now: float
    text: str
    """What was asked, word for word."""
    names: tuple[str, ...]
    """The fleet's agents, this one first."""
    asker: Caller | None
    """Who asked it in a message; None where it is a task's."""

    @property
    def is_task(self) -> bool:
        """Whether it is a task's turn."""
        return self.asker is None

    async def read(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """What a verb reads from the fleet's records."""
        return await self.hands.read(verb, *args, **kwargs)


class Tell(NamedTuple):
    """Whom the findings are sent to as well, under which subject."""

    to: str
    subject: str


class Findings(NamedTuple):
    """What a report found: in words, and the same as values. Every figure in the words comes from the records or the machine."""

    text: str
    data: dict[str, Any]
    decisions: tuple[str, ...] = ()
    tell: tuple[Tell, ...] = ()


Report = Callable[[Desk], Awaitable[Findings]]


def lines(headline: str, *parts: str | None) -> str:
    """A headline and its lines; empty ones are left out."""
    return "\n".join([headline, *(part for part in parts if part)])[:TEXT_CHARS]


def bullets(items: list[str], most: int = 15) -> str:
    """A line for each item; of many the first few, and how many more."""
    shown = [f"- {item}" for item in items[:most]]
    if len(items) > most:
        shown.append(f"- and {len(items) - most:,} more")
    return "\n".join(shown)


def fitted(data: dict[str, Any]) -> dict[str, Any]:
    """The figures, with long lists cut until they fit; the words say all that matters. Pure."""
    for most in (200, 50, 20, 5):
        cut = _cut(data, most)
        if len(msgspec.json.encode(cut)) <= DATA_BYTES:
            found: dict[str, Any] = cut
            return found
    return {"leftOut": "the figures were too many to be carried along"}


def _cut(value: Any, most: int) -> Any:
    if isinstance(value, dict):
        return {str(key): _cut(item, most) for key, item in list(value.items())[: max(most, 30)]}
    if isinstance(value, list | tuple):
        return [_cut(item, most) for item in value[:most]]
    return value
