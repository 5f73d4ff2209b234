"""What an incident is: its kinds, what a person can do about each, and its story in words. No I/O."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

Kind = Literal[
    "task_timeout",
    "excessive_idle",
    "heartbeat_stale",
    "process_died",
    "hung",
    "crash_loop",
    "breaker_open",
    "context_overflow",
    "quarantined",
    "resource_pressure",
    "needs_restart",
    "cycle_late",
    "buddy_down",
    "no_brain",
    "nobody_able",
]
KINDS: frozenset[str] = frozenset(get_args(Kind))

FOR_A_PERSON: dict[str, str] = {
    "crash_loop": "`covey logs {agent}` shows what it printed; `covey resume {agent}` has it started again.",
    "quarantined": "`covey why {subject}` tells what happened to it; `covey task retry {subject}` lets it be tried again,"
    " `covey incident close` leaves it failed.",
    "no_brain": "Correct its brain in covey.toml (`covey config check`), then `covey config apply` and `covey resume {agent}`.",
    "nobody_able": "`covey ps` shows who is down, paused or in error; `covey why TASK` says why each one can't take it.",
    "needs_restart": "Its node did nothing about it: look whether the node runs (`covey ps`), then `covey restart {agent}`.",
    "resource_pressure": "Free some, or move the fleet; it goes back to normal by itself.",
    "cycle_late": "Look whether the leader's node is well: `covey logs node`.",
}
"""The kinds that a person must act on, with what to do next (H7, H7a, H7b, H10)."""


class Step(NamedTuple):
    """One thing that was done about an incident, at a store time."""

    at: float
    action: str
    sentence: str


class Incident(NamedTuple):
    """What befell an agent, why, what was done, and how it ended. `agent` is empty if it concerns the whole fleet."""

    seq: int
    incident_id: str
    agent: str
    kind: str
    subject: str | None
    cause: str
    data: dict[str, Any]
    opened_at: float
    called_at: float | None
    """When a person was called; None if nobody was."""
    ended_at: float | None
    outcome: str | None
    steps: tuple[Step, ...] = ()

    @property
    def cured_in_s(self) -> float | None:
        """From cause to cure, in seconds; None while it is open."""
        return None if self.ended_at is None else self.ended_at - self.opened_at


def advice(kind: str, agent: str, subject: str | None) -> str:
    """What a person can do next about an incident of this kind. Pure."""
    words = FOR_A_PERSON.get(kind, "`covey incident list --open` shows what is open.")
    return words.format(agent=agent or "it", subject=subject or "it")


def title_of(kind: str, agent: str) -> str:
    """A few words for an incident: `coder: crash loop`. Pure."""
    return f"{agent or 'the fleet'}: {kind.replace('_', ' ')}"
