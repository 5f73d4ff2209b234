"""What to do about a buddy that does not answer, or whose heart has not beaten for an hour (B3). A pure decision; others act on it.

A process that beats is not restarted because its port can't be reached from here: the way between the two may be cut, and its node,
which pings it where it lives, is the one to know (H7a).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from covey.buddies.asking import Ping
from covey.buddies.model import FOLLOW_S, SILENT_S, Silence

Action = Literal["well", "ping", "restart", "escalate", "wait"]
RESTART_S = 60.0
"""So long after a restart was asked the agent is back, or it is escalated (H4)."""
MISSES = 3
"""Who answers pings but so many checks in a row not is escalated."""


class Situation(NamedTuple):
    """All that the decision looks at. `steps` are those of the open incident, with when each was first done."""

    now: float
    silence: Silence | None
    """Why the check counts as not answered; None if it was."""
    heartbeat_at: float | None
    stale_s: float = 60.0
    given_up: bool = False
    """Whether its node has given up to restart it (H7)."""
    ping: Ping | None = None
    """What came of this round's ping; None if it was not pinged yet."""
    cut_off: bool = False
    """Whether who asks reached nobody else either."""
    missed_in_a_row: int = 1
    steps: Mapping[str, float] = {}

    @property
    def beats(self) -> bool:
        """Whether its process lives, as its heartbeats say."""
        return self.heartbeat_at is not None and self.now - self.heartbeat_at <= self.stale_s

    @property
    def silent_s(self) -> float:
        """For how long its heart has not beaten."""
        return self.now - self.heartbeat_at if self.heartbeat_at is not None else 0.0


class Decision(NamedTuple):
    """What to do, and why in a sentence."""

    action: Action
    why: str


def in_trouble(situation: Situation) -> bool:
    """Whether somebody must step in: no answer that counts, or a heartbeat older than an hour. Pure."""
    return situation.silence is not None or situation.silent_s > SILENT_S


def decide(situation: Situation) -> Decision:
    """The next step: a ping first, then a restart, then escalation, each once an incident; or that it is well. Pure and total."""
    if not in_trouble(situation):
        return Decision("well", "it answered")
    if situation.heartbeat_at is None:
        return Decision("well", "it was never started, so there is nothing to bring back")
    if situation.ping is None:
        return Decision("ping", situation.silence.sentence if situation.silence else f"it did not beat for {situation.silent_s:.0f} s")
    if situation.ping == "degraded":
        return _once(situation, "escalate", "it answered the health ping as degraded: its process is cut off from the store")
    if situation.given_up:
        return _once(situation, "escalate", "its node has given up to restart it")
    if situation.beats:
        return _of_one_that_beats(situation)
    if situation.ping != "none" and situation.now - situation.steps.get("ping", situation.now) < FOLLOW_S:
        return Decision("wait", "it answered the health ping; its heart is given a minute, as after a sleep of the machine")
    if "restart" not in situation.steps:
        answered = "answered the health ping" if situation.ping != "none" else "did not answer the health ping"
        return Decision("restart", f"it {answered}, and its last heartbeat was {situation.silent_s:.0f} s ago")
    if situation.now - situation.steps["restart"] < RESTART_S:
        return Decision("wait", "a restart was asked of its node")
    return _once(situation, "escalate", f"it is not back within {RESTART_S:g} s after a restart was asked of its node")


def _of_one_that_beats(situation: Situation) -> Decision:
    if situation.ping != "none":
        if situation.missed_in_a_row < MISSES:
            return Decision("well", "it answered the health ping, and beats")
        return _once(situation, "escalate", f"it lives, but {situation.missed_in_a_row} checks in a row were not answered")
    if situation.cut_off:
        return Decision("well", "it beats, and nobody else was reached either: it is its buddy that is cut off")
    first = situation.steps.get("ping", situation.now)
    if situation.now - first < FOLLOW_S:
        return Decision("wait", "it did not answer the health ping, but beats; it is asked again")
    return _once(situation, "escalate", "it beats, so it is not restarted, but its port can't be reached")


def _once(situation: Situation, action: Action, why: str) -> Decision:
    return Decision("wait" if action in situation.steps else action, why)


def told(checked: str, lead: str, deputy: str, lead_is_up: bool, operator: str) -> list[str]:
    """Who hears of an escalation: the lead; if the lead is the one, or down itself, the deputy and the operator (B3). Pure."""
    if lead != checked and lead_is_up:
        return [lead]
    return sorted({each for each in (deputy, operator) if each != checked})
