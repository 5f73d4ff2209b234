"""What an agent at work holds: one thing, taken under a lease in a run of its own, and the times it goes by. No I/O."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from covey.base.settings import PAID_KINDS, AgentSettings, Settings
from covey.brains.model import TurnKind
from covey.messages.model import Message
from covey.tasks.model import Task

Lane = Literal["mail", "task"]


class Limits(NamedTuple):
    """The times and bounds that taking and settling go by."""

    lease_s: float
    digest_s: float
    wait_s: float
    hard_cap_s: float
    max_context: int
    paid: bool = False
    """Whether its brain costs money or acts outside (P3)."""
    near: bool = False
    """Whether its brain is in the agent's own process, so that it starts with the claim (K4a)."""

    @classmethod
    def of(cls, settings: Settings, agent: AgentSettings) -> Limits:
        """An agent's, by the fleet's settings."""
        kind = agent.brain.kind
        times = (settings.lease_s, settings.digest_s, settings.wait_s, settings.hard_cap_s)
        return cls(*times, agent.max_context, kind in PAID_KINDS, kind not in ("command", "external"))


class Work(msgspec.Struct, frozen=True):
    """One thing taken: what it is, under which token, in which run."""

    agent: str
    lane: Lane
    kind: TurnKind
    token: str
    run_id: str
    attempt: int
    item: str
    """The id of the task or message; of a digest its first message's."""
    main: Message | None
    """What made the turn, in the mail lane; None for a digest."""
    task: Task | None
    riders: list[Message]
    """Quiet mail that rides along, under the same token."""
    session: int = 0
    """The number of the brain's session that the turn is to work in (C5a); 0: whichever it is in."""

    @property
    def visited(self) -> tuple[str, ...]:
        """Whom the conversation or the work has passed through so far (L10)."""
        if self.task is not None:
            return tuple(self.task.visited)
        return tuple(self.main.visited) if self.main is not None else ()

    @property
    def traceparent(self) -> str | None:
        """The span of a trace that it was made in, if it belongs to one."""
        if self.task is not None:
            return self.task.traceparent
        return self.main.traceparent if self.main is not None else None
