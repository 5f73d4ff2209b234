"""What an agent is, who may call, and the status that is always derived from facts (A3). No I/O."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, NamedTuple

import msgspec

OPERATOR = "operator"
SYSTEM = "system"
RESERVED = frozenset({OPERATOR, SYSTEM})
OWNER = "owner:"
"""What an owner's token is named by, before the owner's name (L15); no agent's name has a colon."""

URGENT = "urgent"
GLOBAL = "global"
"""What the names of the two shared queues begin with; the capability follows after a colon (K2)."""

STALLS: frozenset[str] = frozenset({"task_timeout", "excessive_idle", "heartbeat_stale", "hung"})
"""The kinds of incident that are stalls: while one is open its agent is `stalled` (A3, H1)."""
SILENT: frozenset[str] = frozenset({"heartbeat_stale"})
"""Those of them that say that its heart is silent: a fresh heartbeat tells otherwise at once (H7a)."""

Kind = Literal["operator", "agent", "system", "owner"]
Status = Literal["active", "idle", "busy", "error", "stalled"]


class Caller(NamedTuple):
    """Who calls a verb, as its token says."""

    kind: Kind
    """An owner sees and changes its agents' links, and nothing else (L15)."""
    name: str

    @property
    def commands(self) -> bool:
        """Whether it may do what is the operator's alone."""
        return self.kind in ("operator", "system")

    @property
    def owner(self) -> str | None:
        """The owner whose agents' links it may see and change; None if it is no owner."""
        return self.name.removeprefix(OWNER) if self.kind == "owner" else None


THE_OPERATOR = Caller("operator", OPERATOR)
THE_SYSTEM = Caller("system", SYSTEM)


def as_agent(name: str) -> Caller:
    """A caller that is this agent."""
    return Caller("agent", name)


@lru_cache(maxsize=256)
def capabilities_of(text: str) -> tuple[str, ...]:
    """An agent's capabilities, from the JSON that is stored: decoded once, since they are read with each agent."""
    return tuple(msgspec.json.decode(text))


class Agent(NamedTuple):
    """One agent of the fleet with its flags, as stored."""

    id: str
    place: int
    role: str
    host: str
    port: int
    buddy: str
    owner: str
    organisation: str
    brain: str
    capabilities: tuple[str, ...]
    settings: dict[str, Any]
    created_at: float
    removed_at: float | None
    paused_at: float | None
    stopped_at: float | None
    flag_reason: str | None
    failed_at: float | None
    failed_reason: str | None

    @classmethod
    def from_row(cls, row: Any) -> Agent:
        """The agent of a row of `agents`."""
        return cls._make((*row[:9], capabilities_of(row.capabilities), msgspec.json.decode(row.settings), *row[11:]))

    @property
    def takes_work(self) -> bool:
        """Whether neither stop nor pause keeps it from work."""
        return self.paused_at is None and self.stopped_at is None and self.removed_at is None


class Vitals(NamedTuple):
    """What is recorded of an agent's life; times are store time."""

    agent: str
    node: str | None
    pid: int | None
    start_ticks: int | None
    boot_id: str | None
    started_at: float | None
    heartbeat_at: float | None
    seen_at: float | None
    last_active_at: float | None
    last_digest_at: float
    last_buddy_check: float | None
    tasks_completed: int
    tasks_failed: int
    task_seconds: float
    messages_handled: int
    stall_count: int
    restarts: int
    failures_in_a_row: int

    @property
    def average_task_s(self) -> float:
        """The mean length of its finished tasks."""
        return self.task_seconds / self.tasks_completed if self.tasks_completed else 0.0


class Facts(NamedTuple):
    """All that a status is derived from (A3)."""

    now: float
    heartbeat_at: float | None
    last_active_at: float | None
    error: str | None = None
    stalled: bool = False
    busy: bool = False
    ready: bool = False
    external: bool = False


STALE_S = 60.0
"""Who has not beaten for so long is silent, unless told otherwise (A3)."""


def status_of(facts: Facts, stale_s: float = STALE_S, active_s: float = 60.0) -> Status:
    """The first that holds of error, stalled, busy, active, idle (A3). Pure."""
    if facts.error is not None:
        return "error"
    silent = facts.heartbeat_at is None or facts.now - facts.heartbeat_at > stale_s
    if facts.stalled or (silent and not facts.external):
        return "stalled"
    if facts.busy:
        return "busy"
    if facts.ready or (facts.last_active_at is not None and facts.now - facts.last_active_at <= active_s):
        return "active"
    return "idle"
