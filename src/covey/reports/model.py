"""What reports give back, apart from what makes them: programs elsewhere read it too. Data, nothing else."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Kind = Literal["task", "message", "agent", "incident", "team", "vote", "handoff"]


class Why(msgspec.Struct, rename="camel"):
    """Where something stands: one paragraph of plain English, and the facts it was made of."""

    id: str
    kind: Kind
    sentence: str
    facts: dict[str, Any]


class Glance(msgspec.Struct, rename="camel", kw_only=True):
    """What waits. `fresh`: how much of it came after the mark that was given; `mark` is the one to give the next time."""

    agent_id: str
    unread: int
    tasks: int
    fresh: int
    mark: str
    text: str
    """What to tell a model; empty if nothing is fresh."""

    @property
    def is_open(self) -> bool:
        """Whether there is nothing to tell yet."""
        return self.fresh == 0
