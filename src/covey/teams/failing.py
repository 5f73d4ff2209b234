"""What to do when an agent fails, in one process (Q5): try again later, or go to another. The breaker's arithmetic is the fleet's own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from covey.agents.breaker import CLOSED, OPEN_S, Breaker, after_failure, phase
from covey.base.errors import Invalid
from covey.messages.model import backoff_s
from covey.teams.mail import AgentCommunication

UNKNOWN_BACKUP = "default_backup_agent"
"""Named as the alternative where nobody told who there is, and `strict` is off."""


class AgentFailureHandler:
    """Retries with growing delays, breakers, and alternatives. Safe to use from several threads.

    `backups` are tried in order when an agent's breaker opens. `now` is a clock that never goes back, in seconds.
    `failure_counts` holds the failures in a row of each agent, `circuit_breakers` when each open breaker lets one through, by `now`.
    """

    def __init__(
        self,
        communication: AgentCommunication,
        max_retries: int = 3,
        *,
        backups: Sequence[str] = (),
        strict: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        if not _is_count(max_retries):
            raise Invalid(f"max_retries is {max_retries!r}; give a whole number from 1 on.", field="max_retries")
        if isinstance(backups, str):
            raise Invalid("backups is a text; give a list of agents.", field="backups")
        self.communication = communication
        self.max_retries = max_retries
        self.backups = list(backups)
        self.strict = strict
        self.failure_counts: dict[str, int] = {}
        self.circuit_breakers: dict[str, float] = {}
        self.causes: dict[str, str] = {}
        """Each failing agent's latest error, word for word."""
        self._breakers: dict[str, Breaker] = {}
        self._tried: dict[str, float] = {}
        self._now = now
        self._lock = threading.Lock()

    def handle_failure(self, agent_id: str, task_id: str, error: str, *, permanent: bool = False) -> dict[str, Any]:
        """What to do: `action` retry with `retry_count` and `delay` in seconds, or reroute with the `alternative` (None: nobody is there).

        `permanent`: trying again can't help, so another is named at once, and the breaker stays as it is.
        """
        with self._lock:
            self.causes[agent_id] = error
            if permanent:
                return {"action": "reroute", "reason": error, "alternative": self._find_alternative_agent(agent_id)}
            count = self.failure_counts[agent_id] = self.failure_counts.get(agent_id, 0) + 1
            before = self._breakers.get(agent_id, CLOSED)
            after = after_failure(before, task_id, error, self._now(), not_started=count >= self.max_retries)
            self._breakers[agent_id] = after
            if after.until is None:
                return {"action": "retry", "reason": error, "retry_count": count, "delay": int(backoff_s(count))}
            self.circuit_breakers[agent_id] = after.until
            self._tried.pop(agent_id, None)
            alternative = self._find_alternative_agent(agent_id)
        return {"action": "reroute", "reason": "circuit_breaker_activated", "alternative": alternative}

    def is_available(self, agent_id: str) -> bool:
        """Whether work may go to an agent. Once its breaker's time is over one caller is told yes, until that one's end is known."""
        with self._lock:
            now = self._now()
            state = phase(self._breakers.get(agent_id, CLOSED), now)
            if state != "half-open":
                return state == "closed"
            if now < self._tried.get(agent_id, 0.0):
                return False
            self._tried[agent_id] = now + OPEN_S
            return True

    def record_success(self, agent_id: str) -> None:
        """A success ends the streak and closes the breaker at once."""
        with self._lock:
            self.failure_counts[agent_id] = 0
            for kept in (self._breakers, self.circuit_breakers, self._tried, self.causes):
                kept.pop(agent_id, None)

    def _find_alternative_agent(self, failed_agent: str) -> str | None:
        now = self._now()
        for name in self.backups:
            if name != failed_agent and phase(self._breakers.get(name, CLOSED), now) == "closed":
                return name
        return None if self.strict or self.backups else UNKNOWN_BACKUP


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
