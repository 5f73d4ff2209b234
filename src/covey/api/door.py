"""What an agent's own port stands on beside the fleet: its agent, and the process that it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from covey.agents.model import Caller
from covey.doors.door import FleetDoor

__all__ = ["Door", "FleetDoor", "Health", "Local"]

Health = Literal["healthy", "degraded", "paused"]


class Local(Protocol):
    """What a port asks of the agent's own process, from memory alone; the runner is one."""

    def health(self) -> Health:
        """How it is."""
        ...

    def why_not_ready(self) -> str | None:
        """Why it takes no work, and what ends that; None if it does."""
        ...

    async def emergency_stop(self, by: Caller, reason: str, grace_s: float | None = None) -> dict[str, Any]:
        """Nothing new is taken, the brains end within the grace, their leases go back (A7)."""
        ...


@dataclass(kw_only=True)
class Door(FleetDoor):
    """What an agent's port stands on."""

    agent: str
    local: Local
