"""What is wrong with an agent, from recorded facts alone: pure, total, and monotone in time (H1, H2). Nothing here reads or acts.

Monotone: as long as nothing new is recorded, what was wrong stays wrong; a later heartbeat, a later sign of work or a longer estimate
never makes an agent worse. No stall but a silent heart is ever a reason to restart anybody.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Stall = Literal["heartbeat_stale", "task_timeout", "excessive_idle"]


class Limits(NamedTuple):
    """How long is too long, in seconds; `overrun` is in estimates."""

    silence_s: float = 1800.0
    idle_s: float = 1800.0
    overrun: float = 2.0


class AtWork(NamedTuple):
    """A task that a brain is at: since when, and how long it was to take (estimatedCompletion - startTime)."""

    task_id: str
    since: float
    expected_s: float


class Signs(NamedTuple):
    """All that a diagnosis goes by; times are store time."""

    now: float
    heartbeat_at: float | None = None
    """The last heartbeat of its own process; None if none is to be expected (external, told to end, never started)."""
    tasks: tuple[AtWork, ...] = ()
    idle_since: float | None = None
    """Since when it has had nothing to do, its queue empty; None while it has."""
    idle_told: bool = False
    """Whether this idleness has been a stall already: it is none again until the agent has worked (H1a)."""


class Ailment(NamedTuple):
    """One stall: since when it has been one, what it is about, and the cause as a sentence."""

    kind: Stall
    since: float
    cause: str
    subject: str | None = None


def diagnose(signs: Signs, limits: Limits | None = None) -> tuple[Ailment, ...]:
    """Everything that is wrong with an agent, the gravest first; nothing if it is well. Pure (H1)."""
    limits = limits or Limits()
    found = [_silent(signs, limits), *(_overran(signs.now, task, limits) for task in signs.tasks), _idle(signs, limits)]
    return tuple(each for each in found if each is not None)


def overdue_at(task: AtWork, limits: Limits | None = None) -> float:
    """When a task's time is up: beyond it is a stall. Pure."""
    return task.since + (limits or Limits()).overrun * max(task.expected_s, 0.0)


def _silent(signs: Signs, limits: Limits) -> Ailment | None:
    beat = signs.heartbeat_at
    if beat is None or not signs.now > beat + limits.silence_s:
        return None
    cause = f"its last heartbeat was {span(signs.now - beat)} ago; more than {span(limits.silence_s)} is too long."
    return Ailment("heartbeat_stale", beat + limits.silence_s, cause)


def _overran(now: float, task: AtWork, limits: Limits) -> Ailment | None:
    until = overdue_at(task, limits)
    if not now > until:
        return None
    cause = (
        f"the task {task.task_id} has been running for {span(now - task.since)}; it was to take {span(max(task.expected_s, 0.0))},"
        f" and {limits.overrun:g} times that is a stall."
    )
    return Ailment("task_timeout", until, cause, task.task_id)


def _idle(signs: Signs, limits: Limits) -> Ailment | None:
    since = signs.idle_since
    if since is None or signs.idle_told or not signs.now > since + limits.idle_s:
        return None
    cause = f"it has had nothing to do for {span(signs.now - since)}; more than {span(limits.idle_s)} is a stall."
    return Ailment("excessive_idle", since + limits.idle_s, cause)


def span(seconds: float) -> str:
    """A length of time in words, as `31 min` or `4.2 s`. Pure."""
    if seconds < 60:
        return f"{seconds:.3g} s"
    if seconds < 7200:
        return f"{seconds / 60:.3g} min"
    return f"{seconds / 3600:.3g} h"
